import type { ToolRegistration } from '../../discovery/registration.js';
import type { McpContext } from '../../protocol/call-context.js';
import type { OutputContract } from '../../schema/output.contract.js';
import { ExceptionMapper } from '../exception.mapper.js';
import { answered } from './outcomes.js';
import { ToolOutcomes } from './tool.outcomes.js';

const BOUNDS = { call: { signal: new AbortController().signal }, resultSize: 1_000 };
const CONTEXT = { name: 'search' } as McpContext;
const text = (value: string) => ({ content: [{ type: 'text', text: value }] });

/** Lets pass what it knows. */
const OUTPUT: OutputContract = {
  schema: { type: 'object' },
  legacySchema: { type: 'object' },
  prepare: () => undefined,
  check: (json) => ({ json: { id: (json as { id: unknown }).id } }),
};

function outcomeOf(status: number, body: unknown, output?: OutputContract) {
  const registration = { descriptor: { name: 'search' }, output } as ToolRegistration;
  const outcomes = new ToolOutcomes(new ExceptionMapper(), registration);
  return answered(outcomes, { status, body }, undefined, BOUNDS, CONTEXT);
}

describe('what a tool answers on the response itself', () => {
  it('is the result below 400', async () => {
    expect(await outcomeOf(200, { a: 1 })).toMatchObject({ structured: '{"a":1}' });
    expect(await outcomeOf(302, undefined)).toEqual({ content: [] });
    expect(await outcomeOf(399, 'x')).toEqual(text('x'));
  });

  it('is a refusal with its body as text from 400 to 499', async () => {
    expect(await outcomeOf(400, 'no')).toEqual({ ...text('no'), isError: true });
    expect(await outcomeOf(499, { message: 'no' })).toEqual({ ...text('{"message":"no"}'), isError: true });
  });

  it('is a fixed text with a reference from 500', async () => {
    expect(await outcomeOf(500, 'secret')).toEqual({
      content: [
        { type: 'text', text: expect.stringMatching(/^The tool failed \(reference [0-9a-f-]{36}\)$/) },
      ],
      isError: true,
    });
  });

  it('is held to the output contract below 400, and not as a refusal', async () => {
    expect(await outcomeOf(200, { id: 1, hash: 2 }, OUTPUT)).toMatchObject({ structured: '{"id":1}' });
    expect(await outcomeOf(404, { id: 1 }, OUTPUT)).toEqual({ ...text('{"id":1}'), isError: true });
  });
});
