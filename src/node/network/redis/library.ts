// The library of functions that Redis runs for Weir. Its name contains a digest of its text, so that nodes of two versions can share one
// Redis during an upgrade.
import { sha256Hex } from '../../../core/schema/canonical.js';
import { countingFunctions } from './counting-functions.js';
import { gateFunctions } from './gate-functions.js';
import { recordFunctions } from './record-functions.js';

const text = `${gateFunctions}${countingFunctions}${recordFunctions}`;

const NAME = `weir_${sha256Hex(text).slice(0, 12)}`;

export const librarySource = `#!lua name=${NAME}\n${text.replaceAll("'$", `'${NAME}_`)}`;

export function functionNamed(name: FunctionName): string {
  return `${NAME}_${name}`;
}

export type FunctionName =
  | 'count'
  | 'late'
  | 'move'
  | 'due'
  | 'machine'
  | 'contract'
  | 'change'
  | 'follow'
  | 'note'
  | 'endcontract'
  | 'endmachine'
  | 'sweep'
  | 'remove'
  | 'look'
  | 'commit'
  | 'tolink'
  | 'entries'
  | 'link'
  | 'turn';
