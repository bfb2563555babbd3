// Shared parts of the commands of `weir node`: options, and the connection to the node.
import { DEFAULT_URL } from '../api/client/base-url.js';
import type { NodeClient } from '../api/client/node-client.js';
import { readClock } from '../api/node.js';
import { type Command, command, flag, type GivenTo, type Options, text, whole } from '../report/command/command.js';
import { allow, durationIn } from '../report/command/options.js';
import { type Printed, print } from '../report/command/print.js';
import { warn } from '../report/command/say.js';

const publicOptions = {
  url: text(`address of the node (default: WEIR_URL, or ${DEFAULT_URL})`),
  json: flag('print the answer of the node as it is, for programs'),
};

const commonOptions = {
  ...publicOptions,
  allow: allow({ 'plain-http': 'the key sent to another machine in the clear' }),
};

export const slug = text('slug of the machine', { place: true, required: true });

export const contractArgument = text('id or name of the contract; needed where the machine has several', {
  place: true,
});

export const most = whole(1, Number.MAX_SAFE_INTEGER, 'how many (default: 100)');

export function moreAfter(next: string | undefined): string | undefined {
  return next === undefined ? undefined : `there are more: --after ${next}`;
}

export function nodeCommand<Known extends Options>(parts: {
  readonly options: Known;
  readonly examples: Command['examples'];
  readonly isPublic?: boolean;
  /** Returns undefined if it has printed everything itself. */
  readonly run: (node: NodeClient, given: GivenTo<Known> & { readonly json: boolean }) => Promise<Printed | undefined>;
}): Command {
  const { isPublic = false, examples, run } = parts;
  return command({
    options: { ...(isPublic ? publicOptions : commonOptions), ...parts.options } as Options,
    examples,
    run: async (given) => {
      const { url, allow: allowed, json } = given as Partial<GivenTo<typeof commonOptions>>;
      const { connectFromFolder, trustNote } = await import('../api/client/node-client.js');
      const { WEIR_URL, WEIR_KEY } = process.env;
      const node = await connectFromFolder({
        url: url ?? (WEIR_URL || DEFAULT_URL),
        key: WEIR_KEY || undefined,
        insecure: allowed?.includes('plain-http') ?? false,
      });
      try {
        for (const note of [...node.notes, trustNote(node)]) if (note !== undefined) warn(`weir: ${note}\n`);
        const printed = await run(node, given as GivenTo<Known> & { readonly json: boolean });
        if (printed !== undefined) print(printed, json ?? false);
      } finally {
        await node.close();
      }
    },
  });
}

export async function cycleMsOfNode({ anyone }: NodeClient): Promise<number> {
  return (await anyone.call(readClock)).cycle_ms;
}

/** A duration in the node's cycles: `60`, `60 cycles`, `47s`. @throws Failure `wrong_usage` */
export async function cyclesOf(node: NodeClient, text: string, option: string): Promise<number>;
export async function cyclesOf(node: NodeClient, text: string | undefined, option: string): Promise<number | undefined>;
export async function cyclesOf(node: NodeClient, text: string | undefined, option: string) {
  if (text === undefined) return undefined;
  const isInCycles = /^\s*[\d.]+\s*(cycles?)?\s*$/.test(text);
  return durationIn(option, text, isInCycles ? 1 : await cycleMsOfNode(node));
}
