import { TokensService } from './tokens.service.js';

describe('TokensService', () => {
  it('knows the demo callers by default', () => {
    const tokens = new TokensService({});
    expect(tokens.userOf('demo-viewer')?.role).toBe('viewer');
    expect(tokens.userOf('demo-agent')).toEqual({ id: 'maya', name: 'Maya', role: 'agent' });
    expect(tokens.userOf('demo-admin')?.role).toBe('admin');
    expect(tokens.userOf('someone-else')).toBeUndefined();
  });

  it('takes the callers from HELPDESK_TOKENS instead', () => {
    const tokens = new TokensService({ HELPDESK_TOKENS: 's3cret:agent:Ana Maria, other:viewer:Bob' });
    expect(tokens.userOf('s3cret')).toEqual({ id: 'ana-maria', name: 'Ana Maria', role: 'agent' });
    expect(tokens.userOf('other')?.role).toBe('viewer');
    expect(tokens.userOf('demo-agent')).toBeUndefined();
  });

  it.each([undefined, '', '  '])('refuses to start in production with HELPDESK_TOKENS=%j', (list) => {
    expect(() => new TokensService({ NODE_ENV: 'production', HELPDESK_TOKENS: list })).toThrow(
      /Set HELPDESK_TOKENS/,
    );
  });

  it('starts in production with tokens of its own', () => {
    const tokens = new TokensService({ NODE_ENV: 'production', HELPDESK_TOKENS: 's3cret:admin:Ana' });
    expect(tokens.userOf('s3cret')?.role).toBe('admin');
    expect(tokens.userOf('demo-admin')).toBeUndefined();
  });

  it.each(['s3cret', 's3cret:agent', ':agent:Ana', 's3cret:owner:Ana', 's3cret:agent:', 's3cret:agent:Ana,'])(
    'refuses %j without showing it',
    (list) => {
      const start = () => new TokensService({ HELPDESK_TOKENS: list });
      expect(start).toThrow(/entry \d is not token:role:name/);
      expect(start).not.toThrow(/s3cret/);
    },
  );

  it('refuses a token given twice', () => {
    expect(() => new TokensService({ HELPDESK_TOKENS: 'a:agent:Ana,a:admin:Bob' })).toThrow(
      /entry 2 repeats a token/,
    );
  });
});
