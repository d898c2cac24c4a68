import { MINOR, SEVERE, type Topic, USUAL } from './topic.js';

export const ACCOUNT_TOPICS: Topic[] = [
  {
    subject: 'Cannot reset my password',
    description: 'The link in the reset mail opens in {browser} but says that it has expired.',
    reply: 'Links hold for one hour and only the newest one works. I have just sent you a fresh one.',
    note: 'Three resets asked for within a minute: the first mail was opened.',
    resolution: 'Logged in with a new reset link.',
    priorities: USUAL,
  },
  {
    subject: 'Locked out after a phone change',
    description: 'I moved to a new {device} and the codes for two-factor login no longer work.',
    reply:
      'Once I have checked your identity I can switch two-factor login off. Please answer the security mail.',
    note: 'Identity checked by call-back to the number on file.',
    resolution: 'Two-factor login set up again on the new {device}.',
    priorities: SEVERE,
  },
  {
    subject: 'Add {colleague} to our team',
    description: 'How do I invite {colleague} with read access to the {page} only?',
    reply: 'Invite them as a guest and pick the {page} in the second step.',
    note: 'Guest seats are free on their plan.',
    resolution: 'Guest invited and able to log in.',
    priorities: MINOR,
  },
  {
    subject: 'Account owner has left the company',
    description: 'The owner of our account left in {month}. How can we move the ownership to {colleague}?',
    reply: 'We need a signed letter from the company. The form is attached.',
    note: 'Do not change anything before the letter is checked.',
    resolution: 'Ownership transferred after the letter was checked.',
    priorities: USUAL,
  },
  {
    subject: 'Login loop in {browser}',
    description: 'After logging in with {browser} I land on the login page again. A private window works.',
    reply: 'That sounds like an old cookie. Please delete the cookies of our site and try again.',
    note: 'Started with the release of last Tuesday, other reports point to {browser} as well.',
    resolution: 'Old session cookie removed, login works.',
    priorities: SEVERE,
  },
  {
    subject: 'Delete the personal data of a former employee',
    description: 'Please delete what you hold about a former employee who left us in {month}.',
    reply: 'The request is noted. Deletion takes up to 30 days; you get a confirmation when it is done.',
    note: 'Request {number} filed with the privacy team.',
    resolution: 'Data deleted, confirmation {number} sent.',
    priorities: USUAL,
  },
];
