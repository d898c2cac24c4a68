import {
  isAnnotations,
  isBase64,
  isContentBlock,
  type AudioBlock,
  type ImageBlock,
  type ResourceBlock,
  type ResourceLinkBlock,
  type TextBlock,
} from './content.js';
import type { McpAnnotations } from './descriptors.js';
import { isObject, quote } from './json-rpc.js';

/** What any content block may have beside its content. */
export interface McpContentOptions {
  /** For whom it is meant, and how much it matters. */
  annotations?: McpAnnotations;
  /** `_meta` of the block; 2025-06-18 and later. */
  meta?: Record<string, unknown>;
}

/** What a link may tell of its resource. */
export interface McpLinkOptions
  extends
    McpContentOptions,
    Pick<ResourceLinkBlock, 'title' | 'description' | 'mimeType' | 'size' | 'icons'> {}

/**
 * Builders for the content blocks of tools and prompts. Each checks what it is given, so that a mistake shows
 * where it was made and not at the client. A block that a caller's revision does not know reaches it as text.
 *
 * @example
 * ```ts
 * @McpTool({ description: 'Draws the tickets of a week' })
 * async chart({ week }: ChartArgs) {
 *   const png = await this.charts.draw(week);
 *   return [content.text(`Week ${week}`), content.image(png, 'image/png')];
 * }
 * ```
 */
export const content = {
  /**
   * A text. Source: Tools, Text Content.
   *
   * @example content.text('3 tickets are open', { annotations: { audience: ['user'] } })
   * @throws TypeError
   */
  text(text: string, options?: McpContentOptions): TextBlock {
    return { type: 'text', text: textOf('content.text()', 'the text', text), ...more('text', options) };
  },

  /**
   * A picture: its bytes, or these as Base64. Source: Tools, Image Content.
   *
   * @example content.image(await readFile('chart.png'), 'image/png')
   * @throws TypeError
   */
  image(data: Uint8Array | string, mimeType: string, options?: McpContentOptions): ImageBlock {
    const base64 = base64Of('content.image()', data);
    return { type: 'image', data: base64, mimeType: media('image', mimeType), ...more('image', options) };
  },

  /**
   * A sound: its bytes, or these as Base64. Clients of 2024-11-05 get a text. Source: Tools, Audio Content.
   *
   * @example content.audio(recording, 'audio/wav')
   * @throws TypeError
   */
  audio(data: Uint8Array | string, mimeType: string, options?: McpContentOptions): AudioBlock {
    const base64 = base64Of('content.audio()', data);
    return { type: 'audio', data: base64, mimeType: media('audio', mimeType), ...more('audio', options) };
  },

  /**
   * A link to a resource, which need not be one that this server lists. Clients of 2025-03-26 and before get a
   * text. Source: Tools, Resource Links.
   *
   * @example content.link('ticket://7', 'Ticket 7', { mimeType: 'application/json' })
   * @throws TypeError
   */
  link(uri: string, name: string, options?: McpLinkOptions): ResourceLinkBlock {
    const { annotations, meta, ...told } = optionsOf('link', LINK_OPTIONS, options);
    const block: ResourceLinkBlock = {
      type: 'resource_link',
      uri: uriOf('content.link()', uri),
      name: textOf('content.link()', 'the name', name),
      ...told,
      ...more('link', { annotations, meta }),
    };
    if (!isContentBlock(block)) {
      throw new TypeError(
        'content.link(): title, description and mimeType are text, size is a count of bytes, ' +
          "icons are { src, mimeType?, sizes?: string[], theme?: 'light' | 'dark' }",
      );
    }
    const foreign = block.icons?.find(({ src }) => !/^(?:https|data):/.test(src));
    if (foreign) {
      throw new TypeError(
        `content.link(): the icon ${quote(foreign.src)} is not shown: clients load only https: and data: addresses`,
      );
    }
    return block;
  },

  /**
   * A resource with what is in it: a text, or bytes. Without a MIME type it is `text/plain` or
   * `application/octet-stream`. Source: Tools, Embedded Resources.
   *
   * @example content.resource('ticket://7', JSON.stringify(ticket), 'application/json')
   * @throws TypeError
   */
  resource(
    uri: string,
    body: string | Uint8Array,
    mimeType?: string,
    options?: McpContentOptions,
  ): ResourceBlock {
    const address = uriOf('content.resource()', uri);
    const type = mimeType === undefined ? undefined : media('resource', mimeType);
    const resource =
      typeof body === 'string'
        ? { uri: address, mimeType: type ?? 'text/plain', text: body }
        : {
            uri: address,
            mimeType: type ?? 'application/octet-stream',
            blob: encoded('content.resource()', 'the body', body),
          };
    return { type: 'resource', resource, ...more('resource', options) };
  },
};

const CONTENT_OPTIONS = ['annotations', 'meta'];
const LINK_OPTIONS = [...CONTENT_OPTIONS, 'title', 'description', 'mimeType', 'size', 'icons'];
/** The scheme of an address. Source: RFC 3986, section 3.1. */
const SCHEME = /^[A-Za-z][A-Za-z0-9+.-]*:/;
const MEDIA_TYPE = /^[^\s/]+\/[^\s/]/;

/** The members that the options of a block give it. */
function more(
  builder: string,
  options: McpContentOptions | undefined,
): Pick<TextBlock, 'annotations' | '_meta'> {
  const { annotations, meta } = optionsOf(builder, CONTENT_OPTIONS, options);
  if (annotations !== undefined && !isAnnotations(annotations)) {
    throw new TypeError(
      `content.${builder}(): annotations are { audience?: ('user' | 'assistant')[], priority?: 0 to 1, lastModified?: text }`,
    );
  }
  if (meta !== undefined && !isObject(meta)) throw new TypeError(`content.${builder}(): meta is an object`);
  return {
    ...(annotations === undefined ? {} : { annotations }),
    ...(meta === undefined ? {} : { _meta: meta }),
  };
}

function optionsOf<T extends object>(
  builder: string,
  known: readonly string[],
  options: T | undefined,
): Partial<T> {
  if (options === undefined) return {};
  if (!isObject(options)) throw new TypeError(`content.${builder}(): the options are an object`);
  const unknown = Object.keys(options).find((name) => !known.includes(name));
  if (unknown !== undefined) {
    throw new TypeError(
      `content.${builder}(): there is no option ${quote(unknown)}, only ${known.join(', ')}`,
    );
  }
  return options;
}

function textOf(where: string, what: string, value: unknown): string {
  if (typeof value === 'string') return value;
  throw new TypeError(`${where}: ${what} must be a string, but is ${kindOf(value)}`);
}

function uriOf(where: string, value: unknown): string {
  const uri = textOf(where, 'the uri', value);
  if (SCHEME.test(uri)) return uri;
  throw new TypeError(`${where}: the uri ${quote(uri)} has no scheme: write one such as "ticket://7"`);
}

function media(builder: string, value: unknown): string {
  const mimeType = textOf(`content.${builder}()`, 'the MIME type', value);
  const isOfKind = builder === 'resource' || mimeType.toLowerCase().startsWith(`${builder}/`);
  if (MEDIA_TYPE.test(mimeType) && isOfKind) return mimeType;
  throw new TypeError(
    `content.${builder}(): ${quote(mimeType)} is no MIME type${builder === 'resource' ? '' : ` of ${builder}`}: write one such as "${EXAMPLES[builder]}"`,
  );
}

const EXAMPLES: Readonly<Record<string, string>> = {
  image: 'image/png',
  audio: 'audio/wav',
  resource: 'application/json',
};

function base64Of(where: string, data: unknown): string {
  if (typeof data !== 'string') return encoded(where, 'the data', data);
  if (isBase64(data)) return data;
  const mend = data.startsWith('data:')
    ? 'is a data: address: give what follows its comma'
    : 'is not Base64 of the standard alphabet with padding: give the bytes themselves, or Buffer.from(bytes).toString("base64")';
  throw new TypeError(`${where}: the data ${mend}`);
}

/** Base64 of just the bytes that a view shows, whatever buffer it lies in and whichever realm it is of. */
function encoded(where: string, what: string, data: unknown): string {
  if (ArrayBuffer.isView(data))
    return Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString('base64');
  throw new TypeError(`${where}: ${what} must be a string or a Uint8Array, but is ${kindOf(data)}`);
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'an array' : typeof value;
}
