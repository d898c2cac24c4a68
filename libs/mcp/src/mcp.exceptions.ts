/**
 * A mistake in the wiring, found at start: the application does not boot. The message says which class,
 * method or option, what is wrong and what to write instead.
 * @publicApi
 */
export abstract class McpBootException extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = new.target.name;
  }
}
