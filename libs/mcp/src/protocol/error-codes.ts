/**
 * The JSON-RPC error codes that this library sends. Sources: JSON-RPC 2.0; MCP 2026-07-28, Base Protocol.
 * Codes for an application's own errors belong outside -32768 to -32000.
 */
export const ErrorCode = {
  /** The text is not JSON in UTF-8. HTTP 400. */
  ParseError: -32700,
  /** JSON, but not a message that may be sent here; also every refusal of the transport. HTTP 4xx. */
  InvalidRequest: -32600,
  /** No such method in this revision, or its capability is not offered. HTTP 404 (2026-07-28), else 200. */
  MethodNotFound: -32601,
  /** Unknown tool, bad cursor, missing or malformed `_meta`. HTTP 400 for `_meta`, else 200. */
  InvalidParams: -32602,
  /** An unexpected failure; its text never tells more than a correlation id. HTTP 200. */
  InternalError: -32603,
  /** There is no such resource; 2026-07-28 has -32602 for it. HTTP 200. */
  ResourceNotFound: -32002,
  /** A mirrored header is missing, malformed or differs from the body. HTTP 400, 2026-07-28 only. */
  HeaderMismatch: -32020,
  /** The call needs a client capability that the request did not declare. HTTP 400, 2026-07-28 only. */
  MissingClientCapability: -32021,
  /** The request names a revision that is not served. HTTP 400, 2026-07-28 only. */
  UnsupportedVersion: -32022,
} as const;
