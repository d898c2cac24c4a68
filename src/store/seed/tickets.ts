import type { Customer } from '../customer.js';
import { type Ticket, type TicketComment, TicketStatus } from '../ticket.js';
import { ACCOUNT_TOPICS } from './account.topics.js';
import { BILLING_TOPICS } from './billing.topics.js';
import { Random } from './random.js';
import { TECHNICAL_TOPICS } from './technical.topics.js';
import { fillTopic, type Topic } from './topic.js';

const COUNT = 300;
const TEAM = ['Maya', 'Jonas', 'Priya', 'Tomas', 'Lena'];
const TOPICS = [...BILLING_TOPICS, ...ACCOUNT_TOPICS, ...TECHNICAL_TOPICS];
const FIRST_DAY = Date.UTC(2026, 0, 5, 7);
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const DAYS = 177;

/** Numbered in the order they came in, spread over half a year; the older, the likelier closed. */
export function seedTickets(customers: readonly Customer[]): Ticket[] {
  const random = new Random(1001);
  return Array.from({ length: COUNT }, (_, index) => {
    const day = Math.floor((index * DAYS) / COUNT);
    const created = FIRST_DAY + day * DAY + random.between(0, 600) * MINUTE;
    const closed = random.chance(0.95 - (0.8 * index) / COUNT);
    return seedTicket(`T-${1001 + index}`, created, closed, random.pick(customers), random);
  });
}

function seedTicket(
  id: string,
  created: number,
  closed: boolean,
  customer: Customer,
  random: Random,
): Ticket {
  const topic = fillTopic(random.pick(TOPICS), new Date(created), random);
  const assignee = closed || random.chance(0.8) ? random.pick(TEAM) : null;
  const comments = assignee ? seedComments(id, topic, created, [assignee, customer.name], random) : [];
  const answered = comments.at(-1)?.author === assignee;
  const lastChange = comments.at(-1)?.createdAt ?? new Date(created).toISOString();
  return {
    id,
    subject: topic.subject,
    description: topic.description,
    status: closed ? TicketStatus.Closed : answered ? TicketStatus.Pending : TicketStatus.Open,
    priority: random.pick(topic.priorities),
    customerId: customer.id,
    assignee,
    resolution: closed ? topic.resolution : null,
    createdAt: new Date(created).toISOString(),
    updatedAt: lastChange,
    comments,
  };
}

function seedComments(
  ticketId: string,
  topic: Topic,
  created: number,
  [agent, customer]: [string, string],
  random: Random,
): TicketComment[] {
  const talk = [
    { author: agent, body: topic.note, internal: true, likely: 0.4 },
    { author: agent, body: topic.reply, internal: false, likely: 0.85 },
    { author: customer, body: random.pick(THANKS), internal: false, likely: 0.5 },
  ].filter(({ likely }) => random.chance(likely));
  let at = created;
  return talk.map(({ author, body, internal }, index) => {
    at += random.between(15, 300) * MINUTE;
    return { id: `${ticketId}-${index + 1}`, author, body, internal, createdAt: new Date(at).toISOString() };
  });
}

const THANKS = [
  'Thank you, I will try that and let you know.',
  'That helped, thanks a lot!',
  'Unfortunately I still see the same problem.',
  'Thanks for the quick answer.',
];
