import { REVISIONS, ServedRevisions } from '../versions.js';
import { readHandshake } from './handshake.js';

const ALL = new ServedRevisions(REVISIONS);
const hello = {
  protocolVersion: '2025-06-18',
  capabilities: { roots: {} },
  clientInfo: { name: 'a', version: '1' },
};
const refused = (message: string) => ({ code: -32602, message: `Invalid params: ${message}` });

describe('readHandshake', () => {
  it('S-031: settles revision and client', () => {
    expect(readHandshake(hello, ALL)).toEqual({
      revision: '2025-06-18',
      client: { name: 'a', version: '1', capabilities: { roots: {} } },
    });
  });

  it('takes a client that says nothing of itself', () => {
    expect(readHandshake({ protocolVersion: '2025-11-25' }, ALL)).toEqual({
      revision: '2025-11-25',
      client: { capabilities: {} },
    });
  });

  it.each(['1999-01-01', '', '2026-07-28', '__proto__'])(
    'D6, S-191: offers the newest legacy revision for "%s"',
    (protocolVersion) => {
      expect(readHandshake({ ...hello, protocolVersion }, ALL)).toMatchObject({ revision: '2025-11-25' });
    },
  );

  it.each([
    [undefined, '"protocolVersion" must be a string'],
    [{}, '"protocolVersion" must be a string'],
    [{ ...hello, protocolVersion: 5 }, '"protocolVersion" must be a string'],
    [{ ...hello, capabilities: [] }, '"capabilities" must be an object'],
    [{ ...hello, capabilities: 'x' }, '"capabilities" must be an object'],
    [{ ...hello, clientInfo: null }, '"clientInfo" must have a "name" and a "version"'],
    [{ ...hello, clientInfo: { name: 'a' } }, '"clientInfo" must have a "name" and a "version"'],
  ])('refuses %j and says why', (params, message) => {
    expect(readHandshake(params, ALL)).toEqual(refused(message));
  });

  it('S-019: tells a legacy client of a modern-only server what is served', () => {
    expect(readHandshake(hello, new ServedRevisions(['2026-07-28']))).toEqual({
      code: -32022,
      message: 'Unsupported protocol version',
      data: { supported: ['2026-07-28'], requested: '2025-06-18' },
    });
  });
});
