// Options of all commands that send requests to a live target.
import type { LiveOptions } from '../../harness/live/load.js';
import { type About, type GivenTo, several, text, value, whole } from './command.js';
import { usageFailure } from './exit-codes.js';
import { allow, MOST_CYCLE_MS, readMs } from './options.js';

export const timeout = value(
  'a time, for example 5s',
  readMs,
  'how long to wait for an answer, in ms or as 5s (default: 5000)',
);

export const allowed = allow({
  remote: 'a target on another machine, which has to be yours',
  'plain-http': 'a key sent to another machine in the clear',
});

export const liveOptions = {
  url: several(
    text('the target (default: a node is started on a free loopback port); repeat for several nodes of one network'),
  ),
  cycleMs: whole(1, MOST_CYCLE_MS, 'length of a cycle of that node in ms (default: that of the scenario)'),
  allow: allowed,
  timeout,
  connections: whole(
    1,
    10_000,
    'maximum number of connections (default: as many as are needed, up to 4096 or what `ulimit -n` allows; to a node 1000)',
    { letter: 'c' },
  ),
};

export function liveOptionsOf(given: Partial<GivenTo<typeof liveOptions>>): LiveOptions {
  const [url, ...alsoUrls] = given.url ?? [];
  const { cycleMs, timeout: timeoutMs, connections } = given;
  return {
    url,
    alsoUrls,
    key: process.env['WEIR_KEY'] || undefined,
    cycleMs,
    timeoutMs,
    connections,
    allowRemote: given.allow?.includes('remote'),
    insecure: given.allow?.includes('plain-http'),
  };
}

type Header = readonly [name: string, value: string];

export const header = <const Said extends About>(description: string, said: Said) =>
  several(value('"Name: value"', headerIn, description, said));

const headerIn = (line: string): Header | undefined =>
  /^([!#$%&'*+.^_`|~\w-]+)\s*:\s*(.*)$/.exec(line)?.slice(1) as [string, string] | undefined;

/** @throws Failure `wrong_usage` for a repeated name */
export function requestHeaders(all: readonly Header[] | undefined): Record<string, string> | undefined {
  const names = all?.map(([name]) => name.toLowerCase()) ?? [];
  const again = names.findIndex((name, k) => names.indexOf(name) < k);
  if (again >= 0) throw usageFailure(`--header ${all![again]![0]} was given more than once.`, 'Give each once.');
  return all && Object.fromEntries(all);
}
