// What the commands of `weir node` share: options, the connection to the node, printing an answer.
import type { ArgumentsCamelCase, Argv } from 'yargs';
import { readClock } from '../api/node.js';
import { DEFAULT_URL } from '../client/base-url.js';
import type { NodeClient } from '../client/node-client.js';
import type { Command, OptionRules } from './command.js';
import { durationIn, jsonOption } from './options.js';
import { say, warn } from './say.js';
import { readableLines } from './terminal.js';

/** The output of a command: the answer of the node for programs, a text for people. */
export interface Printed {
  readonly answer: unknown;
  /** Without a trailing line feed. */
  readonly words: string;
  /** An additional note for people, on standard error. */
  readonly note?: string | undefined;
  /** Exit code; 0 unless given. */
  readonly exit?: number;
}

const commonOptions = {
  url: {
    type: 'string',
    requiresArg: true,
    describe: `address of the node (default: WEIR_URL, or ${DEFAULT_URL})`,
  },
  credential: {
    type: 'string',
    requiresArg: true,
    describe: 'key of the API (default: WEIR_KEY, or the one `weir mint` kept)',
  },
  key: { type: 'string', requiresArg: true, hidden: true },
  insecure: {
    type: 'boolean',
    default: false,
    describe: 'send the key by plain http to another machine, where everybody on the way can read it',
  },
  json: { ...jsonOption, describe: 'print the answer of the node as it is, for programs' },
} as const;

const { url, json } = commonOptions;
const publicOptions = { url, json };

interface CommonOptions {
  readonly url: string | undefined;
  readonly credential: string | undefined;
  /** The former name of `credential`. */
  readonly key: string | undefined;
  readonly insecure: boolean;
  readonly json: boolean;
}

export const slugArgument = { type: 'string', demandOption: true, describe: 'slug of the machine' } as const;

/** A command that calls a node. The client is loaded only when the command runs. */
export function nodeCommand<Options extends CommonOptions>({
  options,
  run,
  rules,
  isPublic = false,
}: {
  readonly rules?: OptionRules;
  /** Whether anyone may call it, so that no key is sent. */
  readonly isPublic?: boolean;
  readonly options: (yargs: Argv<CommonOptions>) => Argv<Options>;
  /** Returns undefined if it has printed everything itself. */
  readonly run: (node: NodeClient, given: ArgumentsCamelCase<Options>) => Promise<Printed | undefined>;
}): Command {
  return {
    options: (yargs) =>
      options((isPublic ? yargs.options(publicOptions) : yargs.options(commonOptions)) as Argv<CommonOptions>),
    rules: isPublic ? (rules ?? {}) : { ...rules, without: { key: ['credential'], ...rules?.without } },
    run: async (given) => {
      const { connectFromFolder, trustNote } = await import('../client/node-client.js');
      const { WEIR_URL, WEIR_KEY } = process.env;
      const node = await connectFromFolder({
        url: given.url ?? (WEIR_URL || DEFAULT_URL),
        key: given.credential ?? given.key ?? (WEIR_KEY || undefined),
        insecure: given.insecure ?? false,
      });
      try {
        for (const note of node.notes) warn(`weir: ${note}\n`);
        const note = trustNote(node);
        if (note !== undefined) warn(`weir: ${note}\n`);
        const printed = await run(node, given);
        if (printed !== undefined) print(printed, given.json);
      } finally {
        await node.close();
      }
    },
  };
}

export function print({ answer, words, note, exit = 0 }: Printed, asJson: boolean): void {
  say(asJson ? `${JSON.stringify(answer)}\n` : `${readableLines(words)}\n`);
  if (note !== undefined) warn(`weir: ${note}\n`);
  if (exit !== 0) process.exitCode = exit;
}

/** Length of a cycle of the node in ms. */
export async function cycleMsOfNode({ anyone }: NodeClient): Promise<number> {
  return (await anyone.call(readClock)).cycle_ms;
}

/**
 * A duration in cycles of the node: `60`, `60 cycles`, `47s`. The length of a cycle is requested only if the text needs it.
 * @throws Failure `wrong_usage`
 */
export async function cyclesOf(node: NodeClient, text: string, option: string): Promise<number>;
export async function cyclesOf(node: NodeClient, text: string | undefined, option: string): Promise<number | undefined>;
export async function cyclesOf(node: NodeClient, text: string | undefined, option: string) {
  if (text === undefined) return undefined;
  const isInCycles = /^\s*[\d.]+\s*(cycles?)?\s*$/.test(text);
  return durationIn(option, text, isInCycles ? 1 : await cycleMsOfNode(node));
}
