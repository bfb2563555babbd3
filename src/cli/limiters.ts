// `weir limiters`: the limiters known, and what each does with a burst, all at ten requests a second.
import type { Argv } from 'yargs';
import type { Profile } from '../limiter/products/profile.js';
import type { GivenTo } from './command.js';
import { print } from './node-command.js';
import { jsonOption } from './options.js';
import { table } from './terminal.js';

export const options = (yargs: Argv) =>
  yargs
    .option('json', jsonOption)
    .example('$0 limiters', 'names for --like, and what differs under a burst')
    .example('$0 explain nginx', 'one of them in more words');

/** Everything is measured on the rule, with the parameters of the example. */
export async function run({ json }: GivenTo<typeof options>): Promise<void> {
  const [{ products }, { profileOf }] = await Promise.all([
    import('../limiter/products/products.js'),
    import('../limiter/products/profile.js'),
  ]);
  const rows = Object.entries(products).map(([name, { product, example, refused, rule }]) => {
    const definition = rule(example);
    const profile = profileOf(definition);
    return { name, product, example: wordsOf(example), primitive: definition.primitive, refused, profile };
  });
  const words = table(
    ['name', 'with', 'rule', 'burst', 'most in 1 s', 'at its rate', 'at twice', 'a refused request'],
    rows.map(({ name, example, primitive, refused, profile }) => [
      name,
      example,
      primitive,
      burstOf(profile),
      profile.mostInASecond,
      share(profile.atRate),
      share(profile.atTwice),
      refused,
    ]),
  );
  const below =
    'burst: admitted at once (+ after a delay). at its rate: of 40 sent evenly; at twice: of 60. `weir explain <name>` says more.';
  print({ answer: { limiters: rows }, words: `${words}\n\n${below}` }, json);
}

function wordsOf(example: Readonly<Record<string, unknown>>): string {
  return Object.entries(example)
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(' ');
}

function burstOf({ firstBurst: { atOnce, delayed } }: Profile): string {
  return delayed === 0 ? String(atOnce) : `${atOnce} (+ ${delayed})`;
}

function share({ sent, admitted }: Profile['atRate']): string {
  return `${admitted} of ${sent}`;
}
