// The library of functions that Redis runs for Weir. Its name has the digest of its text: nodes of two versions, side by side on one Redis
// during an upgrade, each call their own.
import { sha256Hex } from '../../schema/canonical.js';
import { countingFunctions } from './counting-functions.js';
import { gateFunctions } from './gate-functions.js';
import { recordFunctions } from './record-functions.js';
import { stockFunctions } from './stock-functions.js';

const text = `${gateFunctions}${countingFunctions}${recordFunctions}${stockFunctions}`;

const NAME = `weir_${sha256Hex(text).slice(0, 12)}`;

/** For FUNCTION LOAD REPLACE. */
export const librarySource = `#!lua name=${NAME}\n${text.replaceAll("'$", `'${NAME}_`)}`;

/** What each function of this version is called. */
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
  | 'claim'
  | 'release'
  | 'putkey';
