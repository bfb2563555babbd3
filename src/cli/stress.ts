// `weir stress`: saturates a node. The rounds and their figures are in stress-rounds.ts.
import { needing } from '../schema/optional-package.js';
import { CYCLE_MS } from '../time/cycle.js';
import { command, value, whole } from './command.js';
import { liveOptions, liveOptionsOf, severalUrls } from './live-options.js';
import { json, readMs } from './options.js';

const options = {
  ...liveOptions,
  url: severalUrls,
  cycleMs: {
    ...liveOptions.cycleMs,
    description: `length of a cycle of that node in ms (default: ${CYCLE_MS})`,
  },
  allow: { ...liveOptions.allow, needs: ['url'] },
  workers: whole(0, 64, 'additional threads that send requests (default: 0)'),
  for: value('a time from 1s to 10m', readSeconds, 'length of a round (default: 3s)'),
  p99: value(
    'a time, for example 20ms',
    readMs,
    'also search for the highest rate whose 99th percentile stays below this, for example 20ms',
  ),
  json,
};

export const stress = command({
  options,
  examples: [
    ['stress', 'how much a node on this machine holds'],
    ['stress --url http://127.0.0.1:7770 --connections 200', 'a node that runs already'],
    ['stress --url http://127.0.0.1:7771 --url http://127.0.0.1:7772', 'nodes of one network'],
    ['stress --p99 20ms', 'and the highest rate that is still quick'],
  ],
  run: async (given) => {
    const { workers, for: seconds, json } = given;
    const asked = {
      ...liveOptionsOf(given),
      ...(workers === undefined ? {} : { workers }),
      ...(seconds === undefined ? {} : { seconds }),
      ...(given.p99 === undefined ? {} : { p99Ms: given.p99 }),
    };
    await (await needing('stress', import('./stress-rounds.js'))).stressRounds(asked, json);
  },
});

function readSeconds(text: string, option: string): number | undefined {
  const seconds = Math.round(readMs(text, option) / 1000);
  return seconds >= 1 && seconds <= 600 ? seconds : undefined;
}
