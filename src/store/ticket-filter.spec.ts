import { type Ticket, TicketPriority, TicketStatus } from './ticket.js';
import { matchesFilter, type TicketFilter } from './ticket-filter.js';

const ticket: Ticket = {
  id: 'T-1001',
  subject: 'Cannot reset my password',
  description: 'The link in the mail has expired.',
  status: TicketStatus.Open,
  priority: TicketPriority.High,
  customerId: 'C-101',
  assignee: 'Maya',
  resolution: null,
  createdAt: '2026-05-04T08:00:00.000Z',
  updatedAt: '2026-05-04T09:30:00.000Z',
  comments: [],
};

describe('matchesFilter', () => {
  it.each<[string, TicketFilter]>([
    ['nothing', {}],
    ['an empty text', { text: '' }],
    ['a null, as optional members may be', { text: null, status: null } as unknown as TicketFilter],
    ['a word of the subject, in any case', { text: 'PASSWORD' }],
    ['a word of the description', { text: 'expired' }],
    ['words of both, in any order', { text: ' expired  reset ' }],
    ['its id', { text: 't-1001' }],
    ['its status', { status: TicketStatus.Open }],
    ['its priority', { priority: TicketPriority.High }],
    ['its customer', { customerId: 'C-101' }],
    ['its assignee, in any case', { assignee: 'maya' }],
    ['several at once', { text: 'link', status: TicketStatus.Open, assignee: 'Maya' }],
  ])('finds a ticket by %s', (_what, filter) => {
    expect(matchesFilter(ticket, filter)).toBe(true);
  });

  it.each<[string, TicketFilter]>([
    ['one word is missing', { text: 'password invoice' }],
    ['the status is another', { status: TicketStatus.Closed }],
    ['the priority is another', { priority: TicketPriority.Low }],
    ['the customer is another', { customerId: 'C-10' }],
    ['the assignee is another', { assignee: 'Jonas' }],
    ['only some of it fits', { text: 'password', status: TicketStatus.Pending }],
  ])('leaves it out where %s', (_what, filter) => {
    expect(matchesFilter(ticket, filter)).toBe(false);
  });

  it('finds unassigned tickets only without an assignee in the filter', () => {
    expect(matchesFilter({ ...ticket, assignee: null }, {})).toBe(true);
    expect(matchesFilter({ ...ticket, assignee: null }, { assignee: 'Maya' })).toBe(false);
  });
});
