/** Bytes that may wait of what may be lost: a burst of one moment, for a client that does read. */
export const BURST_ROOM = 64 * 1024;
