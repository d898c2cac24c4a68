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

describe('a form written as JSON Schema', () => {
  const NOW = '2026-07-28';
  const written = (property: object) => ({ type: 'object', properties: { a: property } });
  const shown = async (form: object) =>
    (await forms.question('Which?', form, NOW)).params!['requestedSchema'] as { properties: object };

  it.each([
    ['email', 'a@b.example', ['nope', 'a@', '@b', 'a b@c']],
    ['uri', 'https://example.com/a?b', ['::', 'example.com', 'https://a b']],
    ['date', '2024-02-29', ['yesterday', '2026-02-30', '2026-2-3', '2026-01-01T00:00:00Z']],
    ['date-time', '2026-01-31T12:00:00.5+02:00', ['2026-01-31', '2026-01-31 12:00', '2026-02-30T12:00:00Z']],
  ])('holds the answer to the format %s', async (format, good, bad) => {
    const question = await forms.question('Which?', written({ type: 'string', format }), NOW);
    const read = async (a: unknown) => question.read({ action: 'accept', content: { a } });
    expect(await read(good)).toEqual({ action: 'accept', content: { a: good } });
    expect(await question.read({ action: 'accept', content: {} })).toEqual({ action: 'accept', content: {} });
    for (const text of bad) {
      await expect(read(text)).rejects.toThrow(AnswerFault);
      await expect(read(text)).rejects.toThrow(/^does not fit its form: a: must be an? /);
    }
    await expect(read(5)).rejects.toThrow('a: must be a string');
  });

  it('holds it to no other format, which no form shows', async () => {
    const question = await forms.question('Which?', written({ type: 'string', format: 'ipv4' }), NOW);
    expect(await question.read({ action: 'accept', content: { a: 'x' } })).toMatchObject({
      action: 'accept',
    });
  });

  it('is the form that it is now, also where its object was another before', async () => {
    const form = { type: 'object', properties: { a: { type: 'string', enum: ['one'] } } };
    await forms.question('Which?', form, NOW);
    form.properties.a.enum = ['two'];
    const question = await forms.question('Which?', form, NOW);
    expect(question.params).toMatchObject({
      requestedSchema: { properties: { a: { enum: ['two'] } } },
    });
    expect(await question.read({ action: 'accept', content: { a: 'two' } })).toMatchObject({
      content: { a: 'two' },
    });
  });

  it('keeps the order of its fields', async () => {
    const [a, b] = [{ type: 'string' }, { type: 'boolean' }];
    for (const properties of [
      { a, b },
      { b, a },
    ])
      expect(Object.keys((await shown({ type: 'object', properties })).properties)).toEqual(
        Object.keys(properties),
      );
  });

  it('L3: is refused for a revision that has no such field, as what it lacks', async () => {
    const several = written({ type: 'array', items: { enum: ['x'] } });
    await expect(forms.question('Which?', several, '2025-06-18')).rejects.toMatchObject({
      name: 'McpAskError',
      fault: 'unsupported',
      message: expect.stringContaining('a client of 2025-06-18 has no field for several choices') as string,
    });
  });

  it('with thousands of choices is read and answered at once', async () => {
    const choices = Array.from({ length: 5_000 }, (_, index) => ({
      const: `${index}`,
      title: `No. ${index}`,
    }));
    const question = await forms.question(
      'Which?',
      written({ type: 'array', items: { anyOf: choices } }),
      NOW,
    );
    const answer = (last: string) => ({
      action: 'accept',
      content: { a: [...Array<string>(90_000).fill('4999'), last] },
    });
    expect(await question.read(answer('0'))).toMatchObject({ action: 'accept' });
    await expect(question.read(answer('x'))).rejects.toThrow(
      'does not fit its form: a[90000]: must be one of',
    );
  });
});
