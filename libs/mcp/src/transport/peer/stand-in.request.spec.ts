import { McpStdioRequest } from './stand-in.request.js';

describe('McpStdioRequest', () => {
  it('has what guards written for routes read', () => {
    const body = { jsonrpc: '2.0' };
    const request = new McpStdioRequest(
      { headers: { Authorization: 'Bearer x' }, user: { sub: 'ann' } },
      body,
    );
    expect(request).toMatchObject({
      method: 'POST',
      url: '/',
      originalUrl: '/',
      ip: 'stdio',
      params: {},
      query: {},
      headers: { authorization: 'Bearer x' },
      user: { sub: 'ann' },
    });
    expect(request.body).toBe(body);
    expect(request.get('AUTHORIZATION')).toBe('Bearer x');
    expect(request.header('authorization')).toBe('Bearer x');
    expect(request.get('x-none')).toBeUndefined();
  });

  it('A8: is never undefined, also when the application says nothing of it', () => {
    expect(new McpStdioRequest({}, {})).toMatchObject({ headers: {}, user: undefined });
  });
});
