import { setImmediate } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { TicketsRepository } from '../store/tickets.repository.js';
import type { ExportTicketsDto } from './dto/export-tickets.dto.js';
import { summaryOf, type TicketSummary } from './ticket-summary.js';

const BATCH = 50;
const COLUMNS = [
  'id',
  'subject',
  'status',
  'priority',
  'customerId',
  'assignee',
  'createdAt',
  'updatedAt',
] as const satisfies readonly (keyof TicketSummary)[];

/** Called after each batch; what it throws ends the export. */
export type OnBatch = (done: number, total: number) => Promise<void>;

@Injectable()
export class TicketExportService {
  constructor(private readonly tickets: TicketsRepository) {}

  async export({ status, format }: ExportTicketsDto, onBatch: OnBatch) {
    const tickets = await this.tickets.find({ status });
    const rows: TicketSummary[] = [];
    while (rows.length < tickets.length) {
      rows.push(...tickets.slice(rows.length, rows.length + BATCH).map(summaryOf));
      await onBatch(rows.length, tickets.length);
      // Lets other requests in between two batches.
      await setImmediate();
    }
    return format === 'json' ? { total: rows.length, tickets: rows } : csvOf(rows);
  }
}

function csvOf(rows: readonly TicketSummary[]): string {
  const lines = [COLUMNS, ...rows.map((row) => COLUMNS.map((column) => cell(row[column] ?? '')))];
  return lines.map((line) => `${line.join(',')}\r\n`).join('');
}

function cell(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
