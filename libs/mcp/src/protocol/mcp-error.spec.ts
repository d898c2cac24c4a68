import { rpcError } from './dispatcher.js';
import { ErrorCode } from './error-codes.js';
import { McpError } from './mcp-error.js';

describe('McpError', () => {
  it('carries code, message and data to the wire', () => {
    expect(rpcError(new McpError(4001, 'closed', { until: '18:00' }))).toEqual({
      code: 4001,
      message: 'closed',
      data: { until: '18:00' },
    });
    expect(rpcError(new McpError(4001, 'closed', null))).toEqual({
      code: 4001,
      message: 'closed',
      data: null,
    });
    expect(rpcError(new McpError(4001, 'closed'))).not.toHaveProperty('data');
  });

  it('is recognised by its shape, also from another copy of the library', () => {
    expect(McpError.is(new McpError(1, ''))).toBe(true);
    expect(McpError.is(Object.assign(new Error('x'), { name: 'McpError', code: 5 }))).toBe(true);
  });

  it.each([
    undefined,
    null,
    'McpError',
    new Error('x'),
    { name: 'McpError', code: 5, message: 'x' },
    Object.assign(new Error('x'), { name: 'McpError', code: 'ECONNREFUSED' }),
    Object.assign(new Error('x'), { name: 'McpError', code: 1.5 }),
    Object.assign(new Error('x'), { name: 'McpError', code: 1e21 }),
    Object.assign(new Error('x'), { name: 'McpError', code: Number.POSITIVE_INFINITY }),
    Object.assign(new Error('x'), { code: -1 }),
  ])('is not what merely looks like one: %p', (value) => {
    expect(McpError.is(value)).toBe(false);
  });
});

describe('error codes', () => {
  it('S-016, S-017, S-018: are those of JSON-RPC and of 2026-07-28, and none of our own', () => {
    expect(ErrorCode).toEqual({
      ParseError: -32700,
      InvalidRequest: -32600,
      MethodNotFound: -32601,
      InvalidParams: -32602,
      InternalError: -32603,
      ResourceNotFound: -32002,
      HeaderMismatch: -32020,
      MissingClientCapability: -32021,
      UnsupportedVersion: -32022,
    });
  });
});
