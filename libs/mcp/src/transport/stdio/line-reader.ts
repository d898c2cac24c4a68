/** What comes out of the bytes: a line, or the news that one was too long. */
export type Line = { readonly bytes: Buffer } | { readonly tooLong: Buffer };

/** Bytes kept of a line that is too long, to find its id in. */
const KEPT = 4096;
const NEWLINE = 0x0a;
const RETURN = 0x0d;

/**
 * Cuts a byte stream into lines. Bytes are counted, so a line without end takes no memory: it is reported
 * once, when it passes the limit, and the rest of it is thrown away up to its newline.
 * Source: stdio, all revisions.
 */
export class LineReader {
  private parts: Buffer[] = [];
  private size = 0;
  private isSkipping = false;

  /** @param limit bytes of a line, without its newline */
  constructor(private readonly limit: number) {}

  *push(chunk: Buffer): Generator<Line> {
    let start = 0;
    while (start < chunk.length) {
      const newline = chunk.indexOf(NEWLINE, start);
      const end = newline < 0 ? chunk.length : newline;
      if (!this.isSkipping) {
        const tooLong = this.keep(chunk.subarray(start, end));
        if (tooLong) yield tooLong;
      }
      if (newline < 0) return;
      if (this.isSkipping) this.isSkipping = false;
      else yield* this.take();
      start = newline + 1;
    }
  }

  /** The last line, when the stream ends without a newline. */
  *end(): Generator<Line> {
    if (!this.isSkipping && this.size > 0) yield* this.take();
  }

  private keep(part: Buffer): Line | undefined {
    this.parts.push(part);
    this.size += part.length;
    if (this.size <= this.limit) return undefined;
    const head = Buffer.from(Buffer.concat(this.parts).subarray(0, KEPT));
    this.reset();
    this.isSkipping = true;
    return { tooLong: head };
  }

  private *take(): Generator<Line> {
    const line = this.parts.length === 1 ? this.parts[0]! : Buffer.concat(this.parts, this.size);
    this.reset();
    const bytes = line.at(-1) === RETURN ? line.subarray(0, -1) : line;
    if (!isBlank(bytes)) yield { bytes };
  }

  private reset(): void {
    this.parts = [];
    this.size = 0;
  }
}

function isBlank(bytes: Buffer): boolean {
  return bytes.every((byte) => byte === 0x20 || byte === 0x09 || byte === RETURN);
}
