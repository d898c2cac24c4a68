import type { JsonSchema } from '../json-schema.js';

/** Last words of names that are given to secrets. */
const SECRET_ENDS = [
  'password',
  'passphrase',
  'passcode',
  'apikey',
  'accesstoken',
  'refreshtoken',
  'clientsecret',
  'secretkey',
  'privatekey',
  'creditcardnumber',
];
const SECRET_NAMES = ['secret', 'cardnumber', 'cvv', 'cvc'];

/**
 * Whether a text field says by its name, its `format` or `writeOnly` that it is for a secret, which a client must not see.
 * Source: Elicitation, Safety; passwords, API keys, access tokens and payment credentials, 2025-11-25 on.
 */
export function asksForSecret(name: string, { format, writeOnly }: JsonSchema): boolean {
  const plain = name.toLowerCase().replace(/[^a-z]/g, '');
  return (
    format === 'password' ||
    writeOnly === true ||
    SECRET_NAMES.includes(plain) ||
    SECRET_ENDS.some((end) => plain.endsWith(end))
  );
}
