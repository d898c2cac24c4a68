/** The path of a request as Express's router takes it: also out of an absolute address, and without a fragment. */
export function requestPath(url: string): string {
  if (!url.startsWith('/')) return URL.canParse(url) ? new URL(url).pathname : url;
  const end = url.search(/[?#]/);
  return end < 0 ? url : url.slice(0, end);
}
