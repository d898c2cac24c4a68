import { eraOfMessage, unsupportedVersion } from './era.js';
import { META_CAPABILITIES, META_CLIENT, META_VERSION } from './request-meta.js';
import { eraOf, REVISIONS, ServedRevisions, type McpRevision } from './versions.js';

const LEGACY: McpRevision[] = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'];
const ALL = new ServedRevisions(REVISIONS);

describe('revisions', () => {
  it('are told apart by date', () => {
    expect(LEGACY.map(eraOf)).toEqual(['legacy', 'legacy', 'legacy', 'legacy']);
    expect(eraOf('2026-07-27')).toBe('legacy');
    expect(eraOf('2026-07-28')).toBe('modern');
    expect(eraOf('2031-01-01')).toBe('modern');
  });

  it('are kept newest first, whatever the order they were given in', () => {
    const served = new ServedRevisions(REVISIONS.toReversed());
    expect(served.modern).toEqual(['2026-07-28']);
    expect(served.legacy).toEqual(LEGACY);
  });

  it('are found only in their own era and only when served', () => {
    expect(ALL.findModern('2026-07-28')).toBe('2026-07-28');
    expect(ALL.findLegacy('2026-07-28')).toBeUndefined();
    expect(ALL.findModern('2025-11-25')).toBeUndefined();
    expect(ALL.findModern('2031-01-01')).toBeUndefined();
    expect(new ServedRevisions(['2025-03-26']).findLegacy('2025-11-25')).toBeUndefined();
  });

  it.each([
    ...LEGACY.map((revision) => [revision, revision]),
    ...['1999-01-01', '', '2026-07-28', '2031-01-01', 'banana'].map((asked) => [asked, '2025-11-25']),
  ])('D6, S-031, S-191: initialize with "%s" is answered with %s', (asked, answered) => {
    expect(ALL.negotiate(asked!)).toBe(answered);
  });

  it('are offered in negotiation only where they are served', () => {
    expect(new ServedRevisions(['2026-07-28', '2025-03-26']).negotiate('2025-11-25')).toBe('2025-03-26');
    expect(new ServedRevisions(['2026-07-28']).negotiate('2025-11-25')).toBeUndefined();
  });

  it('S-019, D8: an unsupported one is told what is served', () => {
    expect(unsupportedVersion('2031-01-01', ALL)).toEqual({
      code: -32022,
      message: 'Unsupported protocol version',
      data: { supported: ['2026-07-28'], requested: '2031-01-01' },
    });
  });
});

describe('the era of a message', () => {
  const version = { _meta: { [META_VERSION]: '2026-07-28' } };
  const capabilities = { _meta: { [META_CAPABILITIES]: {} } };
  const client = { _meta: { [META_CLIENT]: { name: 'a', version: '1' }, progressToken: 1 } };

  it.each([
    ['no params', undefined, undefined, 'legacy'],
    ['a version in _meta', version, undefined, 'modern'],
    ['a legacy version in _meta', { _meta: { [META_VERSION]: '2025-11-25' } }, undefined, 'modern'],
    ['capabilities in _meta', capabilities, undefined, 'modern'],
    ['_meta of another kind', client, undefined, 'legacy'],
    ['_meta that is no object', { _meta: [META_VERSION] }, undefined, 'legacy'],
    ['a modern header alone', {}, '2026-07-28', 'modern'],
    ['an unknown later header alone', undefined, '2031-01-01', 'modern'],
    ['a legacy header', {}, '2025-11-25', 'legacy'],
    ['a header that is no date', {}, 'banana', 'legacy'],
    ['a modern body with a legacy header', version, '2025-11-25', 'modern'],
  ] as const)('is decided by its body first: %s', (_, params, header, era) => {
    expect(eraOfMessage(params, header, ALL)).toBe(era);
  });

  it('is always legacy on a server without modern revisions', () => {
    const legacyOnly = new ServedRevisions(['2025-11-25']);
    expect(eraOfMessage(version, '2026-07-28', legacyOnly)).toBe('legacy');
  });
});
