// Owns `weir verify`: whether an exported record holds, without asking anybody. Leaves checking to verify-run.ts.
import type { ArgumentsCamelCase, Argv, CommandModule } from 'yargs';
import { DEFAULT_URL } from '../client/base-url.js';
import { showDash } from './dash.js';
import { jsonOption } from './options.js';

const options = (yargs: Argv) =>
  yargs
    .positional('record', {
      type: 'string',
      demandOption: true,
      coerce: showDash,
      describe: 'exported file; - for standard input',
    })
    .option('key', {
      type: 'string',
      requiresArg: true,
      describe: 'public key of the node: a PEM file, base64, or a fingerprint (default: the pinned one)',
    })
    .option('url', {
      type: 'string',
      requiresArg: true,
      describe: `the node whose pinned key is taken (default: WEIR_URL, or ${DEFAULT_URL})`,
    })
    .option('json', jsonOption)
    .example('$0 verify edge.ndjson', 'against the key that was pinned on first use')
    .example('$0 verify edge.ndjson --key SHA256:…', 'against a fingerprint')
    .example('$0 record edge-gateway | $0 verify -', 'without a file')
    .strict();

type Options = ReturnType<typeof options> extends Argv<infer Given> ? Given : never;
export type VerifyArguments = ArgumentsCamelCase<Options>;

export const verifyCommand: CommandModule<object, Options> = {
  command: 'verify <record>',
  describe: 'check an exported record offline: chain, proofs, signatures',
  builder: options,
  handler: async (given) => {
    const { runVerify } = await import('./verify-run.js');
    await runVerify(given);
  },
};
