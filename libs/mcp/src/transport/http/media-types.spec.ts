import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { acceptanceOf, checkBodyHeaders, hasShortBody } from './media-types.js';

const MAX = 100;
const message = (headers: IncomingHttpHeaders, complete = false) =>
  ({ headers, complete }) as IncomingMessage;
const check = (headers: IncomingHttpHeaders) => checkBodyHeaders(message(headers), MAX);

describe('the media type of a body', () => {
  it.each([
    'application/json',
    'Application/JSON; charset=utf-8',
    'application/json;',
    'application/json; charset=UTF8',
    'application/json;charset="utf-8"',
    ' application/json ; charset = utf-8 ; x=y',
    'application/json; profile=a',
  ])('D3: is served: %s', (type) => {
    expect(check({ 'content-type': type })).toBeUndefined();
  });

  it.each([
    undefined,
    '',
    'text/plain; a=application/json',
    'text/plain',
    'application/jsonx',
    'application/json-patch+json',
    'application/vnd.api+json',
    'multipart/form-data; boundary=application/json',
    'application/json; charset=utf-16',
    'application/json; charset=latin1',
    'application/json; charset=',
    'application/json; charset=utf-8; charset=utf-16',
    'application/json, text/plain',
    'json',
  ])('D3: is refused: %p', (type) => {
    expect(check(type === undefined ? {} : { 'content-type': type })).toMatchObject({
      status: 415,
      error: { code: -32600, message: 'Unsupported media type: send application/json in UTF-8' },
    });
  });

  it.each(['gzip', 'br', 'deflate', 'identity, gzip', 'x'])('is refused with the coding %s', (coding) => {
    expect(check({ 'content-type': 'application/json', 'content-encoding': coding })).toMatchObject({
      status: 415,
      error: { code: -32600, message: 'Unsupported content encoding: send the body as it is' },
    });
  });

  it('is served with the coding that is none', () => {
    expect(check({ 'content-type': 'application/json', 'content-encoding': 'Identity' })).toBeUndefined();
  });
});

describe('the declared size of a body', () => {
  const sized = (length: string) => check({ 'content-type': 'application/json', 'content-length': length });

  it('may be the limit and not one byte more', () => {
    expect(sized('100')).toBeUndefined();
    expect(sized('101')).toMatchObject({
      status: 413,
      closes: true,
      error: { code: -32600, message: 'The body is larger than 100 bytes' },
    });
  });

  it('decides whether the connection can be kept after a refusal', () => {
    expect(hasShortBody(message({ 'content-length': '100' }), MAX)).toBe(true);
    expect(hasShortBody(message({ 'content-length': '101' }), MAX)).toBe(false);
    expect(hasShortBody(message({}), MAX)).toBe(true);
    expect(hasShortBody(message({ 'transfer-encoding': 'chunked' }), MAX)).toBe(false);
    expect(hasShortBody(message({ 'transfer-encoding': 'chunked' }, true), MAX)).toBe(true);
    expect(check({ 'content-type': 'text/plain', 'content-length': '101' })?.closes).toBe(true);
    expect(check({ 'content-type': 'text/plain', 'content-length': '100' })?.closes).toBe(false);
  });
});

describe('Accept', () => {
  it.each([
    [undefined, true, true],
    ['application/json, text/event-stream', true, true],
    ['text/event-stream, application/json', true, true],
    ['*/*', true, true],
    ['application/json', true, false],
    ['text/event-stream', false, true],
    ['application/*', true, false],
    ['text/*', false, true],
    ['APPLICATION/JSON', true, false],
    ['application/json;q=0.5, text/event-stream;q=0.9', true, true],
    ['application/json; charset=utf-8; q=1', true, false],
    ['application/json;q=0, */*', false, true],
    ['text/event-stream;q=0.0, */*;q=0.1', true, false],
    ['*/*;q=0', false, false],
    ['application/*;q=0, application/json', true, false],
    ['text/html', false, false],
    ['text/html, application/xhtml+xml', false, false],
    ['application/jsonx', false, false],
    ['json', false, false],
    ['application/json;q=x', false, false],
  ])('D4, D5: %p takes JSON %p, a stream %p', (accept, json, stream) => {
    expect(acceptanceOf(accept)).toEqual({ json, stream });
  });
});
