import { TicketStatus } from '../store/ticket.js';
import { TicketsRepository } from '../store/tickets.repository.js';
import { TicketExportService } from './ticket-export.service.js';

describe('TicketExportService', () => {
  const tickets = new TicketsRepository();
  const exports = new TicketExportService(tickets);
  const ignore = async () => {};

  it('reports each batch', async () => {
    const seen: [number, number][] = [];
    await exports.export({ format: 'csv' }, async (done, total) => void seen.push([done, total]));
    expect(seen).toEqual([50, 100, 150, 200, 250, 300].map((done) => [done, 300]));
  });

  it('writes one CSV line per ticket under the header', async () => {
    const csv = (await exports.export({}, ignore)) as string;
    const lines = csv.trimEnd().split('\r\n');
    expect(lines[0]).toBe('id,subject,status,priority,customerId,assignee,createdAt,updatedAt');
    expect(lines).toHaveLength(301);
    expect(lines[1]).toMatch(/^T-\d+,.+,(open|pending|closed),/);
  });

  it('quotes what would break a CSV line', async () => {
    await tickets.update('T-1001', () => ({ subject: 'Row 7, "new"', assignee: null }));
    const csv = await exports.export({ format: 'csv' }, ignore);
    expect(csv).toMatch(/^T-1001,"Row 7, ""new""",\w+,\w+,C-\d+,,2026-/m);
  });

  it('exports one status as JSON', async () => {
    const exported = await exports.export({ format: 'json', status: TicketStatus.Pending }, ignore);
    const pending = await tickets.find({ status: TicketStatus.Pending });
    expect(exported).toMatchObject({ total: pending.length, tickets: pending.map(({ id }) => ({ id })) });
  });

  it('ends where the caller stops it', async () => {
    let batches = 0;
    const stop = async () => {
      batches += 1;
      throw new Error('stopped');
    };
    await expect(exports.export({}, stop)).rejects.toThrow('stopped');
    expect(batches).toBe(1);
  });
});
