import { TicketPriority } from '../ticket.js';
import type { Random } from './random.js';

/** One kind of problem; `{…}` stands for a detail that differs from ticket to ticket. */
export interface Topic {
  subject: string;
  description: string;
  reply: string;
  note: string;
  resolution: string;
  priorities: readonly TicketPriority[];
}

const { Low, Normal, High, Urgent } = TicketPriority;
export const MINOR = [Low, Low, Normal] as const;
export const USUAL = [Low, Normal, Normal, High] as const;
export const SEVERE = [Normal, High, High, Urgent] as const;

const DETAILS: Record<string, readonly string[]> = {
  browser: ['Chrome', 'Firefox', 'Safari', 'Edge'],
  device: ['iPhone 15', 'Pixel 9', 'iPad', 'Galaxy S24'],
  page: ['dashboard', 'order list', 'reports page', 'calendar', 'team settings'],
  service: ['Slack', 'Salesforce', 'Google Calendar', 'Zapier', 'Xero'],
  colleague: ['our accountant', 'a new colleague', 'our warehouse lead', 'an intern', 'my manager'],
};

/** Fills in the details, the same ones in every text of the ticket. */
export function fillTopic(topic: Topic, created: Date, random: Random): Topic {
  const details: Record<string, string> = {
    number: String(random.between(2100, 9800)),
    month: created.toLocaleString('en', { month: 'long', timeZone: 'UTC' }),
  };
  for (const [name, choices] of Object.entries(DETAILS)) {
    details[name] = random.pick(choices);
  }
  const fill = (text: string) => text.replace(/\{(\w+)\}/g, (_match, name: string) => details[name] ?? name);
  return {
    subject: fill(topic.subject),
    description: fill(topic.description),
    reply: fill(topic.reply),
    note: fill(topic.note),
    resolution: fill(topic.resolution),
    priorities: topic.priorities,
  };
}
