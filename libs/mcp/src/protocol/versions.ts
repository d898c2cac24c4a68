/** A revision of the MCP specification that this library serves. */
export type McpRevision = '2024-11-05' | '2025-03-26' | '2025-06-18' | '2025-11-25' | '2026-07-28';

/** Which rules a message follows: per-request metadata (modern) or a handshake (legacy). */
export type McpEra = 'modern' | 'legacy';

/** Every revision, newest first. */
export const REVISIONS: readonly McpRevision[] = [
  '2026-07-28',
  '2025-11-25',
  '2025-06-18',
  '2025-03-26',
  '2024-11-05',
];

const FIRST_MODERN = '2026-07-28';

/**
 * The era of a version string, known or not: date order is what separates the eras.
 * Source: Versioning, 2026-07-28.
 */
export function eraOf(version: string): McpEra {
  return version >= FIRST_MODERN ? 'modern' : 'legacy';
}

/** The revisions one server serves, told apart by era once, at start. */
export class ServedRevisions {
  readonly modern: readonly McpRevision[];
  readonly legacy: readonly McpRevision[];

  constructor(revisions: readonly McpRevision[]) {
    const served = REVISIONS.filter((revision) => revisions.includes(revision));
    this.modern = served.filter((revision) => eraOf(revision) === 'modern');
    this.legacy = served.filter((revision) => eraOf(revision) === 'legacy');
  }

  /** The modern revision of that name, if served. */
  findModern(version: string): McpRevision | undefined {
    return this.modern.find((revision) => revision === version);
  }

  /** The legacy revision of that name, if served. */
  findLegacy(version: string): McpRevision | undefined {
    return this.legacy.find((revision) => revision === version);
  }

  /**
   * The answer to `initialize`: the asked revision where it is served, else the newest legacy one.
   * Source: Lifecycle, Version Negotiation, 2025-11-25.
   */
  negotiate(requested: string): McpRevision | undefined {
    return this.findLegacy(requested) ?? this.legacy[0];
  }
}
