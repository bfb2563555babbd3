// Owns what every command that talks to a node has in common: its options, the way to the node, how an answer is told. Leaves the
// command itself to its file. Loads nothing but words: what it takes to reach a node comes when a command is run.
import type { ArgumentsCamelCase, Argv } from 'yargs';
import { DEFAULT_URL } from '../client/base-url.js';
import type { NodeClient } from '../client/node-client.js';
import type { Command } from './command.js';
import { jsonOption } from './options.js';

/** What a command has to tell: the answer of the node for programs, words for people. */
export interface Told {
  readonly answer: unknown;
  /** Without a line feed at the end. */
  readonly words: string;
  /** For people, beside the words, on standard error. */
  readonly note?: string | undefined;
  /** 0 unless given. */
  readonly exit?: number;
}

interface Declared<Options> {
  readonly options: (yargs: Argv<CommonOptions>) => Argv<Options>;
  /** Undefined when the command has told everything by itself. */
  readonly run: (node: NodeClient, given: ArgumentsCamelCase<Options>) => Promise<Told | undefined>;
}

const commonOptions = {
  url: { type: 'string', requiresArg: true, describe: `address of the node (default: WEIR_URL, or ${DEFAULT_URL})` },
  key: {
    type: 'string',
    requiresArg: true,
    describe: 'key of the API (default: WEIR_KEY, or the one `weir mint` kept)',
  },
  json: { ...jsonOption, describe: 'print the answer of the node as it is, for programs' },
} as const;

export interface CommonOptions {
  readonly url: string | undefined;
  readonly key: string | undefined;
  readonly json: boolean;
}

/** A command that talks to a node. */
export function nodeCommand<Options extends CommonOptions>({ options, run }: Declared<Options>): Command {
  return {
    options: (yargs) => options(yargs.options(commonOptions)),
    run: async (given) => {
      const { connect, trustNote } = await import('../client/node-client.js');
      const { WEIR_URL, WEIR_KEY } = process.env;
      const { json } = given;
      const node = await connect({
        url: given.url ?? (WEIR_URL || DEFAULT_URL),
        key: given.key ?? (WEIR_KEY || undefined),
      });
      try {
        const note = trustNote(node);
        if (note !== undefined) process.stderr.write(`weir: ${note}\n`);
        const told = await run(node, given);
        if (told !== undefined) tell(told, json);
      } finally {
        await node.close();
      }
    },
  };
}

export function tell({ answer, words, note, exit = 0 }: Told, asJson: boolean): void {
  process.stdout.write(asJson ? `${JSON.stringify(answer)}\n` : `${harmless(words)}\n`);
  if (note !== undefined) process.stderr.write(`weir: ${note}\n`);
  if (exit !== 0) process.exitCode = exit;
}

/** What a node says is shown without anything that a terminal would obey. */
function harmless(words: string): string {
  return words.replace(/[^\P{C}\n]|[\u2028\u2029]/gu, '\u00b7');
}
