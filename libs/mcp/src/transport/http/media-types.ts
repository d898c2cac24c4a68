import type { IncomingMessage } from 'node:http';
import { refuse, type HttpRefusal } from './http-refusal.js';

/** What is decided on a body before it is read: its media type, its coding and its declared size. */
export function checkBodyHeaders(message: IncomingMessage, maxBytes: number): HttpRefusal | undefined {
  const { headers } = message;
  if (!isJson(headers['content-type'])) {
    return refuse(415, 'Unsupported media type: send application/json in UTF-8', {
      closes: !hasShortBody(message, maxBytes),
    });
  }
  const coding = headers['content-encoding'];
  if (coding !== undefined && coding.toLowerCase() !== 'identity') {
    return refuse(415, 'Unsupported content encoding: send the body as it is', {
      closes: !hasShortBody(message, maxBytes),
    });
  }
  if (Number(headers['content-length'] ?? 0) > maxBytes) return tooLarge(maxBytes);
  return undefined;
}

export function tooLarge(maxBytes: number): HttpRefusal {
  return refuse(413, `The body is larger than ${maxBytes} bytes`, { closes: true });
}

/** Whether what is left of the body is known and little, so that Node may throw it away and keep the connection. */
export function hasShortBody(message: IncomingMessage, maxBytes: number): boolean {
  if (message.headers['transfer-encoding'] !== undefined) return message.complete;
  return Number(message.headers['content-length'] ?? 0) <= maxBytes;
}

function isJson(contentType: string | undefined): boolean {
  if (contentType === 'application/json') return true;
  if (contentType === undefined) return false;
  const [type, ...parameters] = contentType.split(';');
  if (type!.trim().toLowerCase() !== 'application/json') return false;
  return parameters.every((parameter) => {
    const [name, value = ''] = parameter.split('=', 2).map((part) => part.trim().toLowerCase());
    return name !== 'charset' || /^"?utf-?8"?$/.test(value);
  });
}

/** Which of the two answer forms a client takes. */
export interface Acceptance {
  readonly json: boolean;
  readonly stream: boolean;
}

const BOTH: Acceptance = { json: true, stream: true };
const USUAL = 'application/json, text/event-stream';

/**
 * Reads `Accept`. A missing header takes both; wildcards count; `q=0` refuses. The specification has
 * clients list both, but one that takes only JSON can be served as well.
 */
export function acceptanceOf(accept: string | undefined): Acceptance {
  if (accept === undefined || accept === USUAL) return BOTH;
  const ranges = accept.split(',').map(parseRange);
  return { json: takes(ranges, 'application', 'json'), stream: takes(ranges, 'text', 'event-stream') };
}

interface MediaRange {
  readonly type: string;
  readonly quality: number;
}

function parseRange(range: string): MediaRange {
  const [type, ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
  const quality = parameters.find((parameter) => parameter.startsWith('q='));
  return { type: type!, quality: quality === undefined ? 1 : Number(quality.slice(2)) };
}

/** The most specific range that fits decides. */
function takes(ranges: readonly MediaRange[], type: string, subtype: string): boolean {
  for (const wanted of [`${type}/${subtype}`, `${type}/*`, '*/*']) {
    const range = ranges.find((candidate) => candidate.type === wanted);
    if (range) return range.quality > 0;
  }
  return false;
}
