// The digest of an outcome: the same scenario and seed give the same one, in every process and on every machine.
import { canonicalJson, sha256Hex } from '../schema/canonical.js';
import type { Outcome } from './outcome-schema.js';

/**
 * `sha256:` and SHA-256 over the canonical JSON of what a seed determines: all but the version of the program, the command that was
 * given, how a log was read, what only a live run has (times, connections, differences), the runs with other rules, and the digest
 * itself.
 */
export function digestOf(outcome: Omit<Outcome, 'digest'> & { readonly digest?: string }): string {
  const {
    weir: _weir,
    command: _command,
    read: _read,
    live: _live,
    comparison: _comparison,
    compared: _compared,
    digest: _digest,
    ...determined
  } = outcome;
  return `sha256:${sha256Hex(canonicalJson(determined))}`;
}
