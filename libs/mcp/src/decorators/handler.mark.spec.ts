import { McpCompletion } from './completion.decorator.js';
import { McpPrompt } from './prompt.decorator.js';
import { McpResource } from './resource.decorator.js';
import { McpTool } from './tool.decorator.js';
import { ENTRY_PROVIDER_METADATA, HANDLER_METADATA } from './metadata-keys.js';

class Marked {
  @McpTool('search')
  tool(): void {}

  @McpTool()
  bare(): void {}

  @McpResource('docs://{id}')
  resource(): void {}

  @McpPrompt('triage')
  prompt(): void {}

  @McpPrompt({ title: 'Ask' })
  titled(): void {}

  @McpCompletion({ prompt: 'triage', argument: 'id' })
  completion(): void {}
}

describe('a mark', () => {
  it.each([
    ['tool', { kind: 'tool', options: { name: 'search' } }],
    ['bare', { kind: 'tool', options: {} }],
    ['resource', { kind: 'resource', options: { uri: 'docs://{id}' } }],
    ['prompt', { kind: 'prompt', options: { name: 'triage' } }],
    ['titled', { kind: 'prompt', options: { title: 'Ask' } }],
    ['completion', { kind: 'completion', options: { prompt: 'triage', argument: 'id' } }],
  ])('stands on the name of the method and on the method itself: %s', (name, mark) => {
    const method = Reflect.get(Marked.prototype, name) as object;
    expect(Reflect.getOwnMetadata(HANDLER_METADATA, Marked.prototype, name)).toEqual(mark);
    expect(Reflect.getOwnMetadata(HANDLER_METADATA, method)).toEqual(mark);
  });

  it('makes its class one that scoped global enhancers reach', () => {
    expect(Reflect.getOwnMetadata(ENTRY_PROVIDER_METADATA, Marked)).toBe(true);
  });

  it('is not that of a subclass, which may have another on a method of that name', () => {
    class Other extends Marked {
      @McpPrompt()
      override tool(): void {}
    }
    expect(Reflect.getOwnMetadata(HANDLER_METADATA, Other.prototype, 'tool')).toMatchObject({
      kind: 'prompt',
    });
    expect(Reflect.getOwnMetadata(HANDLER_METADATA, Marked.prototype, 'tool')).toMatchObject({
      kind: 'tool',
    });
  });

  it('does not stand beside another', () => {
    const declare = () => {
      class Twice {
        @McpTool()
        @McpTool()
        run(): void {}
      }
      return Twice;
    };
    expect(declare).toThrow(
      new TypeError(
        '@McpTool() on Twice.run: it is marked @McpTool() already. ' +
          'Give each a method of its own that calls the same service.',
      ),
    );
  });
});
