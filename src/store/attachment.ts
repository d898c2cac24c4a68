/** A file that a customer sent with a ticket. */
export interface Attachment {
  readonly ticketId: string;
  readonly name: string;
  readonly mimeType: string;
  readonly bytes: Buffer;
}
