import { BatchAnswers } from './batch-answers.js';
import { readId } from './json-rpc.js';

const answer = (id: number, size: number) => `{"id":${id},"result":"${'x'.repeat(size)}"}`;

describe('the answers to a batch', () => {
  it('S-006: come together in the order in which they came', () => {
    const answers = new BatchAnswers(1_000);
    expect(answers.isEmpty).toBe(true);
    answers.add(readId('2'), answer(2, 1));
    answers.add(readId('1'), answer(1, 1));
    expect(answers.isEmpty).toBe(false);
    expect(JSON.parse(answers.toArray())).toEqual([
      { id: 2, result: 'x' },
      { id: 1, result: 'x' },
    ]);
  });

  it('are an error with its own id each where there is no room for them, and one always has room', () => {
    const answers = new BatchAnswers(100);
    answers.add(readId('1'), answer(1, 5_000));
    answers.add(readId('"b"'), answer(2, 1));
    const [first, second] = JSON.parse(answers.toArray()) as { id: unknown; error?: { code: number } }[];
    expect([first!.id, first!.error]).toEqual([1, undefined]);
    expect([second!.id, second!.error?.code]).toEqual(['b', -32603]);
  });

  it('make room again once they are sent', () => {
    const answers = new BatchAnswers(100);
    answers.add(readId('1'), answer(1, 60));
    expect(answers.shift()?.id?.text).toBe('1');
    answers.add(readId('2'), answer(2, 60));
    expect(answers.shift()?.message).toBe(answer(2, 60));
    expect(answers.shift()).toBeUndefined();
  });
});
