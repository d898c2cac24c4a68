import { LineReader, type Line } from './line-reader.js';

function read(reader: LineReader, ...chunks: (string | Buffer)[]): string[] {
  const lines: Line[] = chunks.flatMap((chunk) => [...reader.push(Buffer.from(chunk as string))]);
  return lines.map(show);
}
const show = (line: Line) =>
  'bytes' in line ? line.bytes.toString() : `too long: ${line.tooLong.toString()}`;
const end = (reader: LineReader) => [...reader.end()].map(show);

describe('LineReader', () => {
  it('S-040: cuts at newlines, wherever the chunks were cut', () => {
    expect(read(new LineReader(100), 'a\nb\n')).toEqual(['a', 'b']);
    expect(read(new LineReader(100), 'a', '\n', 'b', '\nc', '\n')).toEqual(['a', 'b', 'c']);
    expect(read(new LineReader(100), '{"a":', '1}', '\n')).toEqual(['{"a":1}']);
  });

  it('G4: puts characters together that came byte by byte', () => {
    const text = 'é € 😀 日本\r\n{"x":"ñ"}\n';
    const reader = new LineReader(100);
    const lines = [...Buffer.from(text)].flatMap((byte) => read(reader, Buffer.of(byte)));
    expect(lines).toEqual(['é € 😀 日本', '{"x":"ñ"}']);
  });

  it('takes a thousand messages in one chunk', () => {
    const lines = Array.from({ length: 1000 }, (_, index) => `{"id":${index}}`);
    expect(read(new LineReader(100), `${lines.join('\n')}\n`)).toEqual(lines);
  });

  it('G5: takes the return of a CRLF away, also when it came in a chunk of its own', () => {
    expect(read(new LineReader(100), 'a\r\nb\r', '\n', 'c', '\r\n')).toEqual(['a', 'b', 'c']);
    expect(read(new LineReader(100), 'a\rb\n')).toEqual(['a\rb']);
  });

  it('G5: skips blank lines', () => {
    expect(read(new LineReader(100), '\n\r\n \t \n\n', '\n', 'a\n', '\r', '\n')).toEqual(['a']);
  });

  it('gives the last line of a stream that ends without a newline', () => {
    const reader = new LineReader(100);
    expect(read(reader, 'a\nb')).toEqual(['a']);
    expect(end(reader)).toEqual(['b']);
    expect(end(reader)).toEqual([]);
  });

  it('gives nothing at the end of a stream that ends with a newline or blanks', () => {
    const reader = new LineReader(100);
    read(reader, 'a\n');
    expect(end(reader)).toEqual([]);
    read(reader, '  \r');
    expect(end(reader)).toEqual([]);
  });

  it('takes a line of just the limit and reports one that is a byte longer', () => {
    expect(read(new LineReader(5), '12345\n')).toEqual(['12345']);
    expect(read(new LineReader(5), '123456\n')).toEqual(['too long: 123456']);
    expect(read(new LineReader(5), '123', '45', '\n')).toEqual(['12345']);
    expect(read(new LineReader(5), '123', '45', '6')).toEqual(['too long: 123456']);
    expect(read(new LineReader(5), 'ééé\n')).toEqual(['too long: ééé']);
  });

  it('reports a line without end once, as soon as it is too long, and goes on after its newline', () => {
    const reader = new LineReader(5);
    expect(read(reader, '123456')).toEqual(['too long: 123456']);
    expect(read(reader, '789', 'x'.repeat(100))).toEqual([]);
    expect(read(reader, 'rest\nnext\n1234567\nlast\n')).toEqual(['next', 'too long: 1234567', 'last']);
    expect(end(reader)).toEqual([]);
  });

  it('gives nothing at the end of a stream that ends within a line too long', () => {
    const reader = new LineReader(5);
    read(reader, '1234567');
    expect(end(reader)).toEqual([]);
  });

  it('keeps of a line too long only its head, in memory of its own', () => {
    const chunk = Buffer.alloc(200_000, 'x');
    const [line] = [...new LineReader(100_000).push(chunk)];
    const head = (line as { tooLong: Buffer }).tooLong;
    expect(head.length).toBe(4096);
    expect(head.buffer).not.toBe(chunk.buffer);
  });

  it('holds nothing while it skips, however much comes', () => {
    const reader = new LineReader(1024);
    const chunk = Buffer.alloc(64 * 1024, 'x');
    const lines = Array.from({ length: 1000 }, () => [...reader.push(chunk)]).flat();
    expect(lines).toHaveLength(1);
    expect((reader as unknown as { parts: Buffer[] }).parts).toEqual([]);
    expect(read(reader, '\nok\n')).toEqual(['ok']);
  });
});
