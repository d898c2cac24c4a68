import 'reflect-metadata';
import { IsInt, IsOptional, IsString, Max } from 'class-validator';
import { AnswerFault } from '../protocol/asking/question.js';
import { FormQuestions } from './form-questions.js';

class SeatDto {
  @IsString() seat: string;
  @IsOptional() @IsInt() @Max(9) row: number = 1;
}

const forms = new FormQuestions();

describe('the question of a form', () => {
  it('is the form in the words of the revision', async () => {
    expect(await forms.question('Which?', SeatDto, '2026-07-28')).toMatchObject({
      kind: 'elicitation',
      method: 'elicitation/create',
      params: {
        mode: 'form',
        message: 'Which?',
        requestedSchema: {
          type: 'object',
          properties: { seat: { type: 'string' }, row: { type: 'integer', maximum: 9, default: 1 } },
          required: ['seat'],
        },
      },
      needs: { elicitation: { form: {} } },
    });
    expect((await forms.question('Which?', SeatDto, '2025-06-18')).params).not.toHaveProperty('mode');
  });

  it.each([undefined, null, 'SeatDto', 5, true, [SeatDto]])('is refused for %p', async (form) => {
    const asked = forms.question('Which?', form, '2026-07-28');
    await expect(asked).rejects.toThrow(TypeError);
    await expect(asked).rejects.toThrow('the form must be a class, a Standard Schema or a JSON Schema');
  });

  it('S-137: is refused for a revision that has none', async () => {
    await expect(forms.question('Which?', SeatDto, '2025-03-26')).rejects.toMatchObject({
      fault: 'unsupported',
    });
  });

  it('is refused each time for a form that is none', async () => {
    const nested = { type: 'object', properties: { a: { type: 'object', properties: {} } } };
    for (let time = 0; time < 2; time++)
      await expect(forms.question('Which?', nested, '2026-07-28')).rejects.toThrow('a');
  });

  it('S-144: takes an answer that fits, and of a decline no content', async () => {
    const question = await forms.question('Which?', SeatDto, '2026-07-28');
    const answer = (await question.read({ action: 'accept', content: { seat: 'A' } })) as {
      content: unknown;
    };
    expect(answer).toEqual({ action: 'accept', content: { seat: 'A', row: 1 } });
    expect(answer.content).toBeInstanceOf(SeatDto);
    for (const action of ['decline', 'cancel'])
      expect(await question.read({ action, content: { seat: 5, junk: true } })).toEqual({ action });
  });

  it.each<[unknown, string]>([
    [undefined, 'accepts without "content"'],
    [[], 'accepts without "content"'],
    [{}, 'does not fit its form: '],
    [{ seat: 5 }, 'does not fit its form: '],
    [{ seat: 'A', row: 10 }, 'does not fit its form: '],
    [{ seat: 'A', more: 1 }, 'does not fit its form: '],
  ])('refuses the content %j', async (content, why) => {
    const question = await forms.question('Which?', SeatDto, '2026-07-28');
    const refused = Promise.resolve(question.read({ action: 'accept', content }));
    await expect(refused).rejects.toThrow(AnswerFault);
    await expect(refused).rejects.toThrow(why);
  });
});
