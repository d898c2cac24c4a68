import * as arrays from './arrays.dto.js';
import * as common from './common.dto.js';
import * as custom from './custom.dto.js';
import * as dates from './dates.dto.js';
import * as described from './described.dto.js';
import * as discriminators from './discriminators.dto.js';
import * as empty from './empty.dto.js';
import type { CorpusEntry } from './entry.js';
import * as enums from './enums.dto.js';
import * as exposed from './exposed.dto.js';
import * as files from './files.dto.js';
import * as inheritance from './inheritance.dto.js';
import * as mapped from './mapped.dto.js';
import * as nested from './nested.dto.js';
import * as numbers from './numbers.dto.js';
import * as optional from './optional.dto.js';
import * as plugin from './plugin.dto.js';
import * as swagger from './swagger.dto.js';
import * as text from './text.dto.js';

/** The files of the corpus with their DTOs. */
export const CORPUS: Readonly<Record<string, readonly CorpusEntry[]>> = {
  arrays: arrays.entries,
  common: common.entries,
  custom: custom.entries,
  dates: dates.entries,
  described: described.entries,
  discriminators: discriminators.entries,
  empty: empty.entries,
  enums: enums.entries,
  exposed: exposed.entries,
  files: files.entries,
  inheritance: inheritance.entries,
  mapped: mapped.entries,
  nested: nested.entries,
  numbers: numbers.entries,
  optional: optional.entries,
  plugin: plugin.entries,
  swagger: swagger.entries,
  text: text.entries,
};

export const ENTRIES: readonly CorpusEntry[] = Object.values(CORPUS).flat();
