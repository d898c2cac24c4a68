import type { PageDto } from './page.dto.js';

export interface Page<T> {
  total: number;
  limit: number;
  offset: number;
  items: T[];
}

export function pageOf<T>(all: readonly T[], query: PageDto): Page<T> {
  const limit = query.limit ?? 20;
  const offset = query.offset ?? 0;
  return { total: all.length, limit, offset, items: all.slice(offset, offset + limit) };
}
