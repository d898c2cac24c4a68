import type { LoggerService } from '@nestjs/common';

/** A logger of the application that keeps its lines. */
export class CapturedLog implements LoggerService {
  readonly lines: { level: string; text: string }[] = [];

  readonly log = this.level('log');
  readonly error = this.level('error');
  readonly warn = this.level('warn');
  readonly debug = this.level('debug');
  readonly verbose = this.level('verbose');

  /** The texts of one level, in order. */
  of(level: string): string[] {
    return this.lines.filter((line) => line.level === level).map(({ text }) => text);
  }

  /** Lines of any level that hold a text. */
  with(text: string): string[] {
    return this.lines.map((line) => line.text).filter((line) => line.includes(text));
  }

  clear(): void {
    this.lines.length = 0;
  }

  private level(level: string): (message: unknown, ...more: unknown[]) => void {
    return (message, ...more) =>
      void this.lines.push({ level, text: [message, ...more].map(String).join(' ') });
  }
}
