import {
  ADMISSION_INDEX,
  ARGUMENTS_INDEX,
  CONTEXT_INDEX,
  McpExecutionContext,
} from './mcp-execution-context.js';

const contextOf = (type: string, args: unknown[]) => ({
  getType: () => type as never,
  getArgs: () => args as never,
});

describe('McpExecutionContext', () => {
  it('gives the arguments as they were sent, and the context of the call', () => {
    const [raw, call] = [{ a: 1 }, { requestId: 1, method: 'tools/call' }];
    const view = McpExecutionContext.create(
      contextOf('mcp', ['request', 'response', 'next', raw, call, 'admission']),
    );
    expect(view.kind).toBe('tool');
    expect(view.getArgs()).toBe(raw);
    expect(view.getContext()).toBe(call);
    expect([ARGUMENTS_INDEX, CONTEXT_INDEX, ADMISSION_INDEX]).toEqual([3, 4, 5]);
  });

  it.each([
    ['tools/call', 'tool'],
    ['resources/read', 'resource'],
    ['resources/subscribe', 'resource'],
    ['subscriptions/listen', 'resource'],
    ['prompts/get', 'prompt'],
    ['completion/complete', 'completion'],
  ])('tells by the method %s that a %s is called', (method, kind) => {
    const view = McpExecutionContext.create(contextOf('mcp', [{}, {}, {}, {}, { method }, {}]));
    expect(view.kind).toBe(kind);
  });

  it.each(['http', 'rpc', 'ws', ''])('refuses a context of type "%s" and says what to check', (type) => {
    expect(() => McpExecutionContext.create(contextOf(type, []))).toThrow(
      `McpExecutionContext.create() takes a context of type 'mcp', not '${type}': check context.getType() first`,
    );
  });
});
