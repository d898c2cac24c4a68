import {
  BadRequestException,
  ForbiddenException,
  HttpException,
  Logger,
  NotFoundException,
} from '@nestjs/common';
import { IsString, validateSync, ValidateNested } from 'class-validator';
import { McpError } from '../protocol/mcp-error.js';
import { ExceptionMapper, type CalledHandler } from './exception.mapper.js';
import { InvalidArgumentsException } from './invalid-arguments.exception.js';
import { notePipeFault } from './pipe-faults.js';
import { OutputMismatchException } from './output-mismatch.exception.js';
import { UnserialisableResultException } from './plain-value.js';

const lines: string[] = [];
const silent = () => undefined;
const REFERENCE = /reference ([0-9a-f-]{36})\)/;

beforeAll(() => {
  Logger.overrideLogger({ log: silent, warn: silent, error: (line: string) => void lines.push(line) });
});
beforeEach(() => {
  lines.length = 0;
});
afterAll(() => Logger.overrideLogger(false));

const mapper = new ExceptionMapper();
function textOf(thrown: unknown): string {
  const { content, isError, structured } = mapper.toToolResult(thrown, 'search');
  expect([isError, structured]).toEqual([true, undefined]);
  return (content[0] as { text: string }).text;
}

class Inner {
  @IsString()
  name: unknown = 1;
}

class LoginDto {
  @IsString()
  password: unknown = 5;

  @ValidateNested()
  inner = new Inner();
}

describe('a thrown value', () => {
  it('I8: is masked when nobody foresaw it, with all of it in the log under the same reference', () => {
    const driver = new Error('connect postgres://app:hunter2@db:5432', { cause: new Error('ECONNREFUSED') });
    const text = textOf(driver);
    expect(text).toMatch(/^The tool failed \(reference [0-9a-f-]{36}\)$/);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain(
      `search failed (reference ${REFERENCE.exec(text)![1]}): Error: connect postgres`,
    );
    expect(lines[0]).toContain('ECONNREFUSED');
  });

  it.each([
    ['its message', new NotFoundException('No ticket 7'), 'No ticket 7'],
    [
      'the message of its body',
      new ForbiddenException({ message: 'Only for admins', code: 3 }),
      'Only for admins',
    ],
    ['a text as its body', new HttpException('Too early', 425), 'Too early'],
    [
      'each line of a list',
      new BadRequestException(['a must be a string', 'b is missing']),
      '- a must be a string\n- b is missing',
    ],
    [
      'a body without a message, as JSON',
      new BadRequestException({ code: 'E7', at: new Date(0) }),
      '{"code":"E7","at":"1970-01-01T00:00:00.000Z"}',
    ],
    ['objects in a list, as JSON', new BadRequestException({ message: [{ field: 'a' }] }), '- {"field":"a"}'],
  ])('I8: that is an HttpException below 500 keeps %s', (_, thrown, text) => {
    expect(textOf(thrown)).toBe(text);
    expect(lines).toEqual([]);
  });

  it('I8: names no class and shows no value where the application passes class-validator errors on', () => {
    const text = textOf(new BadRequestException(validateSync(new LoginDto())));
    expect(text).toBe('- password must be a string\n- inner.name must be a string');
  });

  it('I8: is masked when it is an HttpException from 500', () => {
    expect(textOf(new HttpException('db down', 503))).toMatch(/^The tool failed \(reference /);
  });

  it('is the list of issues when the arguments are wrong', () => {
    expect(textOf(new InvalidArgumentsException(['id is missing']))).toBe(
      'Invalid arguments for search:\n- id is missing',
    );
  });

  it('I4: is a fixed text when the output breaks its schema; tool, fields and rules are in the log', () => {
    const text = textOf(new OutputMismatchException(['id must be a number', 'name is missing']));
    const [, reference] = REFERENCE.exec(text)!;
    expect(text).toBe(`The output does not match the tool's output schema (reference ${reference})`);
    expect(lines).toEqual([
      `search failed (reference ${reference}): The output does not match its schema:\n- id must be a number\n- name is missing`,
    ]);
  });

  it('I1: says that JSON cannot carry a value, and where, in the log', () => {
    const text = textOf(
      new UnserialisableResultException('a cycle at result["a"]', { cause: new Error('why') }),
    );
    expect(text).toMatch(/^The tool returned a value that JSON cannot carry \(reference /);
    expect(lines[0]).toContain('a cycle at result["a"]');
    expect(lines[0]).toContain('why');
  });

  it('goes on when it is an McpError', () => {
    expect(() => mapper.toToolResult(new McpError(4001, 'no'), 'search')).toThrow('no');
  });

  it.each([
    ['nothing', undefined],
    ['an object without prototype', Object.create(null)],
    [
      'one whose members throw',
      new Proxy(
        {},
        { get: () => JSON.parse('{') as unknown, getPrototypeOf: () => JSON.parse('{') as object },
      ),
    ],
  ])('is masked when it is %s', (_, thrown) => {
    expect(textOf(thrown)).toMatch(/^The tool failed \(reference /);
  });
});

const READ: CalledHandler = { method: 'resources/read', name: 'item://5', era: 'modern' };
const SUBSCRIBE: CalledHandler = { ...READ, method: 'resources/subscribe', era: 'legacy' };
const GET: CalledHandler = { method: 'prompts/get', name: 'triage', era: 'modern' };
const COMPLETE: CalledHandler = { method: 'completion/complete', name: 'item://{id}', era: 'legacy' };
const uri = 'item://5';

function errorOf(thrown: unknown, called: CalledHandler) {
  const { code, message, data } = mapper.toMcpError(thrown, called);
  return { code, message, ...(data === undefined ? {} : { data }) };
}

describe('a thrown value where no result could tell of it', () => {
  it('is as it is when it is an McpError', () => {
    const thrown = new McpError(4001, 'no', { a: 1 });
    expect(mapper.toMcpError(thrown, READ)).toBe(thrown);
  });

  it.each([READ, SUBSCRIBE, GET, COMPLETE])('has the status of an HttpException below 500: %j', (called) => {
    expect(errorOf(new ForbiddenException('Only for admins'), called)).toEqual({
      code: 403,
      message: 'Only for admins',
    });
    expect(errorOf(new BadRequestException(['a', 'b']), called)).toEqual({ code: 400, message: '- a\n- b' });
    expect(lines).toEqual([]);
  });

  it('S-106: is a resource that is not there when it is a 404 of one, by the era', () => {
    const thrown = new NotFoundException('No item 5');
    expect(errorOf(thrown, READ)).toEqual({ code: -32602, message: 'No item 5', data: { uri } });
    expect(errorOf(thrown, SUBSCRIBE)).toEqual({ code: -32002, message: 'No item 5', data: { uri } });
    for (const called of [GET, COMPLETE])
      expect(errorOf(thrown, called)).toEqual({ code: 404, message: 'No item 5' });
  });

  it('tells of the arguments when a pipe threw it, whatever its status', () => {
    const thrown = [new BadRequestException('no number'), new NotFoundException('no number')];
    thrown.forEach(notePipeFault);
    for (const one of thrown) {
      expect(errorOf(one, READ)).toEqual({ code: -32602, message: 'no number', data: { uri } });
      expect(errorOf(one, GET)).toEqual({ code: -32602, message: 'no number' });
    }
  });

  it('I8: from 500 is masked, also when a pipe threw it', () => {
    const thrown = new HttpException('db down', 503);
    notePipeFault(thrown);
    expect(errorOf(thrown, GET)).toEqual({
      code: -32603,
      message: expect.stringMatching(/^The prompt failed \(reference [0-9a-f-]{36}\)$/),
    });
  });

  it('names each wrong argument', () => {
    const thrown = new InvalidArgumentsException(['id: is missing', 'more: is not known']);
    const message = 'Invalid arguments for "item://5":\n- id: is missing\n- more: is not known';
    expect(errorOf(thrown, READ)).toEqual({ code: -32602, message, data: { uri } });
    expect(errorOf(thrown, GET)).toEqual({
      code: -32602,
      message: message.replace('item://5', 'triage'),
    });
  });

  it.each([
    [READ, 'resource'],
    [SUBSCRIBE, 'resource'],
    [GET, 'prompt'],
    [COMPLETE, 'completion'],
  ])('I8: is masked when nobody foresaw it, with all of it in the log: %j', (called, kind) => {
    const { code, message } = errorOf(new Error('canary of the driver'), called);
    expect(code).toBe(-32603);
    expect(message).toMatch(new RegExp(`^The ${kind} failed ${/\(reference [0-9a-f-]{36}\)$/.source}`));
    const [, reference] = REFERENCE.exec(message)!;
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain(`${kind} "${called.name}" failed (reference ${reference}): Error: canary`);
  });

  it.each([undefined, null, 'text', Object.create(null) as unknown])('is masked when it is %p', (thrown) => {
    expect(errorOf(thrown, GET)).toMatchObject({ code: -32603 });
  });
});

describe('an answer on the response itself', () => {
  it('is an error of its status, and of a resource at 404 one that is not there', () => {
    const refused = (status: number, called: CalledHandler) => {
      const { code, message, data } = mapper.refusedError(status, 'text', called);
      return [code, message, data];
    };
    expect(refused(403, READ)).toEqual([403, 'text', undefined]);
    expect(refused(404, READ)).toEqual([-32602, 'text', { uri }]);
    expect(refused(404, SUBSCRIBE)).toEqual([-32002, 'text', { uri }]);
    expect(refused(404, GET)).toEqual([404, 'text', undefined]);
    expect(refused(404, COMPLETE)).toEqual([404, 'text', undefined]);
  });
});
