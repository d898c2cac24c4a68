import { MINOR, SEVERE, type Topic, USUAL } from './topic.js';

export const BILLING_TOPICS: Topic[] = [
  {
    subject: 'Invoice {number} charged twice',
    description:
      'Our card statement for {month} shows invoice {number} two times. Please refund one of them.',
    reply: 'I can see both charges. The second one is being refunded and should arrive within five days.',
    note: 'The payment provider retried after a time-out; same pattern as last week.',
    resolution: 'Second charge of invoice {number} refunded.',
    priorities: SEVERE,
  },
  {
    subject: 'VAT number missing on invoice {number}',
    description: 'Invoice {number} does not show our VAT number, so {colleague} cannot book it.',
    reply:
      'Please add the number under Billing > Company details; I will issue the invoice again afterwards.',
    note: 'Company details were empty until yesterday.',
    resolution: 'Invoice {number} issued again with the VAT number.',
    priorities: USUAL,
  },
  {
    subject: 'Change from monthly to yearly billing',
    description: 'We would like to pay yearly from {month} on. What happens to the days already paid?',
    reply: 'Days already paid are credited to the yearly invoice. Shall I switch you over now?',
    note: 'Offer the usual two months free.',
    resolution: 'Switched to yearly billing from {month}.',
    priorities: MINOR,
  },
  {
    subject: 'Card declined although it is valid',
    description: 'The renewal for {month} was declined, but the card works everywhere else.',
    reply: 'Your bank asked for a confirmation that never reached you. Please try again with this new link.',
    note: '3-D Secure challenge expired after ten minutes.',
    resolution: 'Payment for {month} went through after a new confirmation.',
    priorities: SEVERE,
  },
  {
    subject: 'Quote for {number} more contacts',
    description: 'We are about to import {number} contacts. Which plan do we need, and what would it cost?',
    reply: 'The Business plan covers that. A quote is attached.',
    note: 'Passed on to sales for a volume discount.',
    resolution: 'Quote accepted, plan upgraded.',
    priorities: MINOR,
  },
  {
    subject: 'Send invoices to {colleague}',
    description: 'Could all invoices from {month} on go to {colleague} as well as to me?',
    reply: 'Yes: a second address can be added under Billing > Recipients.',
    note: 'Second question this month, the setting is hard to find.',
    resolution: 'Second invoice recipient added.',
    priorities: MINOR,
  },
];
