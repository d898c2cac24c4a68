import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto';
import { isObject, type JsonObject } from '../json-rpc.js';

/** What a state is of: nobody else can present it, nor for anything else. */
export interface StateBinding {
  readonly caller: string | undefined;
  readonly method: string;
  readonly name: string;
  readonly args: unknown;
}

const VERSION = 1;
const KEY_ID_BYTES = 4;
const IV_BYTES = 12;
const TAG_BYTES = 16;
const HEAD_BYTES = 1 + KEY_ID_BYTES + IV_BYTES;

interface SealingKey {
  readonly id: Buffer;
  readonly key: Uint8Array;
}

/**
 * Seals what a call keeps between two rounds, which its client carries: nobody can read it, change it, or use it for
 * another caller, method, name or arguments, or after its time. AES-256-GCM; the bytes are version, key id, nonce,
 * ciphertext and tag, in base64url. Source: Multi Round-Trip Requests, Security, 2026-07-28.
 */
export class StateSealer {
  private readonly keys: readonly [SealingKey, ...SealingKey[]];

  /**
   * @param secrets newest first: the first seals, all open; random where there are none
   * @param time ms that a state can be opened for
   */
  constructor(
    secrets: readonly (string | Uint8Array)[],
    private readonly time: number,
    /** The server's own name: another one with the same secrets takes no state of this. */
    private readonly server = '',
  ) {
    const [first = randomBytes(32), ...others] = secrets;
    this.keys = [sealingKey(first), ...others.map(sealingKey)];
  }

  seal(content: JsonObject, binding: StateBinding): string {
    const [{ id, key }] = this.keys;
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(this.digestOf(binding));
    const text = JSON.stringify({ until: Date.now() + this.time, content });
    const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
    return Buffer.concat([Uint8Array.of(VERSION), id, iv, sealed, cipher.getAuthTag()]).toString('base64url');
  }

  /** What was sealed; nothing where it is no state of ours, or not of this, or too old. */
  open(state: string, binding: StateBinding): JsonObject | undefined {
    const bytes = Buffer.from(state, 'base64url');
    // Several texts decode to the same bytes: one of them is ours.
    if (bytes.length <= HEAD_BYTES + TAG_BYTES || bytes.toString('base64url') !== state) return undefined;
    const id = bytes.subarray(1, 1 + KEY_ID_BYTES);
    const found = this.keys.find((candidate) => candidate.id.equals(id));
    if (bytes[0] !== VERSION || !found) return undefined;
    const content = decrypted(bytes, found.key, this.digestOf(binding));
    if (!isObject(content) || typeof content['until'] !== 'number' || content['until'] < Date.now())
      return undefined;
    return isObject(content['content']) ? content['content'] : undefined;
  }

  private digestOf({ caller, method, name, args }: StateBinding): Buffer {
    return digest([this.server, caller ?? null, method, name, args ?? null]);
  }
}

function sealingKey(secret: string | Uint8Array): SealingKey {
  const key = new Uint8Array(hkdfSync('sha256', secret, '', 'nest-mcp requestState', 32));
  return { key, id: createHash('sha256').update(key).digest().subarray(0, KEY_ID_BYTES) };
}

function decrypted(bytes: Buffer, key: Uint8Array, aad: Buffer): unknown {
  const tagAt = bytes.length - TAG_BYTES;
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(1 + KEY_ID_BYTES, HEAD_BYTES))
    .setAAD(aad)
    .setAuthTag(bytes.subarray(tagAt));
  try {
    const text = Buffer.concat([decipher.update(bytes.subarray(HEAD_BYTES, tagAt)), decipher.final()]);
    return JSON.parse(text.toString('utf8'));
  } catch {
    return undefined;
  }
}

/** The digest of a JSON value, whatever the order of its members. */
export function digest(value: unknown): Buffer {
  return createHash('sha256').update(JSON.stringify(value, sorted)).digest();
}

function sorted(_name: string, value: unknown): unknown {
  if (!isObject(value)) return value;
  const names = Object.keys(value).sort();
  // A member named __proto__ has to stay one.
  const copy = Object.create(null) as JsonObject;
  for (const name of names) copy[name] = value[name];
  return copy;
}
