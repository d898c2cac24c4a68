import type { Article } from './article.js';

export const SEED_ARTICLES: readonly Article[] = [
  {
    slug: 'reset-a-password',
    title: 'Reset a password',
    body: `# Reset a password

Reset links hold for **one hour**, and only the newest one works. Where several were asked for, tell the customer to
open the latest mail. A link that opens in an app's own browser can lose its token: ask for the system browser.
`,
  },
  {
    slug: 'fix-a-csv-import',
    title: 'Fix a CSV import that stops',
    body: `# Fix a CSV import that stops

The row in the message is counted **with** the header. Usual causes, most frequent first:

1. a semicolon inside a name: put the name in quotes
2. decimal commas: export with points
3. a file that is not UTF-8: save it again as "CSV UTF-8"
`,
  },
  {
    slug: 'refund-a-double-charge',
    title: 'Refund a double charge',
    body: `# Refund a double charge

Check that both charges are **settled**: a reserved one falls away by itself within seven days. Refund the second
charge, never the first, so that the invoice stays paid. The customer sees it within five working days.
`,
  },
  {
    slug: 'connect-a-service-again',
    title: 'Connect a service again',
    body: `# Connect a service again

When entries stop arriving although the connection is shown as active, its access was withdrawn on the other side.
Disconnect the service and connect it again as an administrator; missing entries arrive by themselves within an hour.
`,
  },
];
