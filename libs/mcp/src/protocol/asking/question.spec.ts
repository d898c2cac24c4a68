import type { JsonObject } from '../json-rpc.js';
import { actionOf, AnswerFault, missingCapabilities } from './question.js';

const FORM = { elicitation: { form: {} } };
const URL_MODE = { elicitation: { url: {} } };

describe('missingCapabilities', () => {
  it.each<[JsonObject, JsonObject, JsonObject | undefined]>([
    [{}, FORM, FORM],
    [{ elicitation: {} }, FORM, undefined],
    [{ elicitation: { form: {} } }, FORM, undefined],
    [{ elicitation: { later: {} } }, FORM, undefined],
    [{ elicitation: { url: {} } }, FORM, FORM],
    [{ elicitation: {} }, URL_MODE, URL_MODE],
    [{ elicitation: { form: {} } }, URL_MODE, URL_MODE],
    [{ elicitation: { form: {}, url: {} } }, URL_MODE, undefined],
    [{ elicitation: { url: true } }, URL_MODE, URL_MODE],
    [{ elicitation: true }, FORM, FORM],
    [{ elicitation: null }, FORM, FORM],
    [{ elicitation: [] }, FORM, FORM],
    [{ sampling: {} }, { sampling: {} }, undefined],
    [{ elicitation: {} }, { sampling: {} }, { sampling: {} }],
    [{ sampling: {} }, { sampling: { tools: {} } }, { sampling: { tools: {} } }],
    [{ sampling: { context: {} } }, { sampling: { tools: {}, context: {} } }, { sampling: { tools: {} } }],
    [{}, { sampling: { tools: {} } }, { sampling: { tools: {} } }],
    [{ roots: { listChanged: true } }, { roots: {} }, undefined],
    [{ roots: 'yes' }, { roots: {} }, { roots: {} }],
  ])('S-133, S-137: of a client with %j for %j are %j', (declared, needs, missing) => {
    expect(missingCapabilities(declared, needs)).toEqual(missing);
  });
});

describe('actionOf', () => {
  it.each(['accept', 'decline', 'cancel'])('S-144: takes %s', (action) => {
    expect(actionOf({ action })).toBe(action);
  });

  it.each([undefined, null, '', 'Accept', 'ok', true, ['accept'], {}])('refuses %p', (action) => {
    expect(() => actionOf({ action })).toThrow(AnswerFault);
    expect(() => actionOf({ action })).toThrow('has no "action" of accept, decline or cancel');
  });
});
