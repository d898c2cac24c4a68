/**
 * Thrown by a handler, guard or filter to choose the JSON-RPC error itself.
 *
 * @example throw new McpError(4001, 'The ticket system is read-only today', { until: '18:00' });
 * @publicApi
 */
export class McpError extends Error {
  override readonly name = 'McpError';

  /**
   * @param code JSON-RPC error code; an application's own codes lie outside -32768 to -32000
   * @param message one short sentence, sent as it stands
   * @param data anything JSON can carry, sent as it stands
   */
  constructor(
    readonly code: number,
    message: string,
    readonly data?: unknown,
  ) {
    super(message);
  }

  /** Whether a thrown value is such an error, also one made by another copy of this library. */
  static is(value: unknown): value is McpError {
    return (
      value instanceof Error &&
      value.name === 'McpError' &&
      'code' in value &&
      Number.isSafeInteger(value.code)
    );
  }
}
