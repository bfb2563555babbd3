// Owns `weir deploy`: the rate limiter, or a definition of one's own, put onto a machine. Leaves checking definitions to the node.
import { readFileSync } from 'node:fs';
import { Failure } from '../schema/failure.js';
import { usageFailure } from './ending.js';
import { nodeCommand } from './node-command.js';
import { facts } from './table.js';

export const deployCommand = nodeCommand({
  options: (yargs) =>
    yargs
      .positional('slug', { type: 'string', demandOption: true, describe: 'slug of the machine' })
      .option('threshold', { type: 'number', requiresArg: true, describe: 'requests a window may hold (default: 100)' })
      .option('within', { type: 'number', requiresArg: true, describe: 'length of the window in cycles (default: 60)' })
      .option('definition', {
        type: 'string',
        requiresArg: true,
        describe: 'JSON file of a definition, instead of the template',
      })
      .example('$0 deploy edge-gateway', '100 requests in 60 cycles')
      .example('$0 deploy edge-gateway --threshold 5 --within 10', 'a smaller one')
      .example('$0 deploy edge-gateway --definition contract.json', 'any other contract'),
  run: async ({ api }, { slug, threshold, within, definition: file }) => {
    if (file !== undefined && (threshold !== undefined || within !== undefined)) {
      throw usageFailure('--threshold and --within belong to the template, and --definition brings its own.');
    }
    const parameters = {
      ...(threshold === undefined ? {} : { threshold }),
      ...(within === undefined ? {} : { within }),
    };
    const answer =
      file === undefined
        ? await api.deploy({ slug, ...parameters })
        : await api.createContract(slug, definitionFrom(file));
    const { id, name, version, currentState, first_fire_cycle, ...limits } = answer.contract;
    const words = facts([
      ['contract', id],
      ['is', `${name} ${version}, ${currentState}`],
      ['threshold', limits.threshold],
      ['within', limits.within === undefined ? undefined : `${limits.within} cycles`],
      ['first fire', `cycle ${first_fire_cycle}`],
    ]);
    return { answer, words };
  },
});

function definitionFrom(file: string): object {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new Failure('unreadable_file', {
      what: `The definition ${file} cannot be read.`,
      why: `${(error as Error).message}.`,
      fix: 'Check the path.',
      cause: error,
    });
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new Failure('invalid_json', {
      what: `The definition ${file} is not JSON.`,
      why: `${(error as Error).message}.`,
      fix: '`weir inspect --json` shows one to begin with, as its template.',
      cause: error,
    });
  }
  if (typeof value === 'object' && value !== null) return value;
  throw new Failure('invalid_definition', { what: `The definition ${file} is JSON and no object.` });
}
