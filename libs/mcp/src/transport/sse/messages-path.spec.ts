import { messagesPathOf } from './messages-path.js';

const PATHS = { path: 'sse', messagesPath: 'messages' };

describe('the path of the messages', () => {
  it.each([
    ['/sse', '/messages'],
    ['/sse/', '/messages'],
    ['/SSE', '/messages'],
    ['/%73se', '/messages'],
    ['/sse?token=secret&next=/a/b', '/messages'],
    ['/sse#part', '/messages'],
    ['/api/sse', '/api/messages'],
    ['/outer/api/v1/sse/?x', '/outer/api/v1/messages'],
    ['http://localhost:3000/api/sse?x=1', '/api/messages'],
    ['HTTPS://localhost/sse', '/messages'],
    ['ftp://evil.example/api/sse?x', '/api/messages'],
    ['foo://evil.example//sse#x', '/messages'],
    ['//evil.example/sse', '/evil.example/messages'],
    ['///sse', '/messages'],
    ['', '/messages'],
    ['*', '/messages'],
  ])('for %j is %j', (url, path) => {
    expect(messagesPathOf(url, PATHS, '')).toBe(path);
  });

  it.each([
    ['/api/mcp/old/stream', 'mcp/old/stream', 'mcp/old/post', '/api/mcp/old/post'],
    ['/tenants/t-7/sse', 'tenants/:tenant/sse', 'tenants/:tenant/messages', '/tenants/t-7/messages'],
    ['/api/a/b', 'a/b', 'c', '/api/c'],
    ['/api/events', 'events', 'events/post', '/api/events/post'],
    ['/api/a/b', 'a/b', 'a', '/api/a'],
    ['/api', '', 'messages', '/api/messages'],
    ['/', '', 'messages', '/messages'],
    ['/api/sse', 'sse', '', '/api'],
  ])('for %j of the routes %j and %j is %j', (url, path, messagesPath, expected) => {
    expect(messagesPathOf(url, { path, messagesPath }, '')).toBe(expected);
  });

  it('begins with what a proxy takes away', () => {
    expect(messagesPathOf('/api/sse', PATHS, '/svc')).toBe('/svc/api/messages');
  });
});
