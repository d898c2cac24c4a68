/** One page of the knowledge base, in Markdown. */
export interface Article {
  readonly slug: string;
  readonly title: string;
  readonly body: string;
}
