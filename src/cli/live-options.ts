// The options of every command that sends requests to a live target.
import type { ArgumentsCamelCase, InferredOptionTypes } from 'yargs';
import type { LiveOptions } from '../live/load.js';
import { Failure } from '../schema/failure.js';
import { parseTimeMs } from '../schema/quantity.js';
import { CYCLE_MS } from '../time/cycle.js';

export const liveOptions = {
  url: {
    type: 'string',
    requiresArg: true,
    describe: 'the target (default: a node is started on a free loopback port)',
  },
  'cycle-ms': {
    type: 'number',
    requiresArg: true,
    describe: 'length of a cycle of that node in ms (default: that of the scenario)',
  },
  credential: {
    type: 'string',
    requiresArg: true,
    describe: 'a key of the node (default: WEIR_KEY, or one is minted)',
  },
  key: { type: 'string', requiresArg: true, hidden: true },
  'allow-remote': {
    type: 'boolean',
    default: false,
    describe: 'the target may be another machine: make sure that it is yours',
  },
  insecure: {
    type: 'boolean',
    default: false,
    describe: 'send a key by plain http to another machine, where everybody on the way can read it',
  },
  timeout: {
    type: 'string',
    requiresArg: true,
    describe: 'how long to wait for an answer, in ms or as 5s (default: 5000)',
  },
  connections: { type: 'number', requiresArg: true, describe: 'the most connections to open (default: 128)' },
} as const;

/** Of commands that send to several nodes of one network. */
export const severalUrls = {
  type: 'string',
  array: true,
  nargs: 1,
  describe:
    'the target (default: a node is started on a free loopback port); several nodes of one network: once for each',
} as const;

type Given = ArgumentsCamelCase<InferredOptionTypes<typeof liveOptions>>;

/** @throws Failure `wrong_usage` for a value that is not a number or out of range */
export function liveOptionsOf(
  given: { readonly url?: string | string[] | undefined } & Pick<
    Given,
    'cycleMs' | 'credential' | 'key' | 'allowRemote' | 'insecure' | 'timeout' | 'connections'
  >,
): LiveOptions {
  const whole = (option: string, value: number | undefined, most: number) => {
    if (value === undefined || (Number.isInteger(value) && value >= 1 && value <= most)) return value;
    throw new Failure('wrong_usage', {
      what: `--${option} takes a whole number from 1 to ${most}.`,
      fix: `For example --${option} ${Math.min(most, 100)}.`,
    });
  };
  const [url, ...alsoUrls] = given.url === undefined ? [] : [given.url].flat();
  const cycleMs = whole('cycle-ms', given.cycleMs, 86_400_000);
  const timeoutMs = given.timeout === undefined ? undefined : whole('timeout', msOf(given.timeout, cycleMs), 3_600_000);
  const key = given.credential ?? given.key ?? (process.env['WEIR_KEY'] || undefined);
  const connections = whole('connections', given.connections, 10_000);
  return {
    allowRemote: given.allowRemote,
    insecure: given.insecure,
    ...(url === undefined ? {} : { url }),
    ...(alsoUrls.length === 0 ? {} : { alsoUrls }),
    ...(key === undefined ? {} : { key }),
    ...(cycleMs === undefined ? {} : { cycleMs }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(connections === undefined ? {} : { connections }),
  };
}

/** Milliseconds, or a duration with its unit. */
function msOf(text: string, cycleMs = CYCLE_MS): number {
  return /^[\d.]+$/.test(text.trim()) ? Number(text) : parseTimeMs(text, cycleMs, '--timeout');
}
