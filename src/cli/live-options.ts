// Owns what the command line says of a live target, the same for every command that sends to one. Loads nothing that sends.

import type { LiveOptions } from '../live/load.js';
import { Failure } from '../schema/failure.js';
import type { LoadArguments } from './load.js';

/** @throws Failure `wrong_usage` for a number that is none, or out of range */
export function liveOptionsOf(
  given: Pick<LoadArguments, 'url' | 'cycleMs' | 'key' | 'allowRemote' | 'timeout' | 'connections'>,
): LiveOptions {
  const whole = (option: string, value: number | undefined, most: number) => {
    if (value === undefined || (Number.isInteger(value) && value >= 1 && value <= most)) return value;
    throw new Failure('wrong_usage', {
      what: `--${option} takes a whole number from 1 to ${most}.`,
      fix: 'See `weir load --help`.',
    });
  };
  const cycleMs = whole('cycle-ms', given.cycleMs, 86_400_000);
  const timeoutMs = whole('timeout', given.timeout, 3_600_000);
  const connections = whole('connections', given.connections, 10_000);
  return {
    allowRemote: given.allowRemote,
    ...(given.url === undefined ? {} : { url: given.url }),
    ...(given.key === undefined ? {} : { key: given.key }),
    ...(cycleMs === undefined ? {} : { cycleMs }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(connections === undefined ? {} : { connections }),
  };
}
