import { changeMessage } from './change-messages.js';
import { readId } from './json-rpc.js';

describe('changeMessage', () => {
  it.each(['tools', 'resources', 'prompts'] as const)('tells a legacy client of the list of %s', (list) => {
    expect(changeMessage({ kind: 'list', list })).toBe(
      `{"jsonrpc":"2.0","method":"notifications/${list}/list_changed"}`,
    );
  });

  it('writes an address as JSON', () => {
    expect(JSON.parse(changeMessage({ kind: 'resource', uri: 'a://"\n' }))).toEqual({
      jsonrpc: '2.0',
      method: 'notifications/resources/updated',
      params: { uri: 'a://"\n' },
    });
  });

  it('S-120: names the subscription where there is one', () => {
    const text = changeMessage({ kind: 'list', list: 'tools' }, readId('12345678901234567890')!);
    expect(text).toContain(
      '"params":{"_meta":{"io.modelcontextprotocol/subscriptionId":12345678901234567890}}',
    );
  });
});
