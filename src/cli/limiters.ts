// `weir limiters`: the limiters known, and what each does with a burst, all at ten requests a second.
import { writeFileSync } from 'node:fs';
import type { Argv } from 'yargs';
import type { Profile } from '../limiter/products/profile.js';
import { Failure } from '../schema/failure.js';
import type { GivenTo, OptionRules } from './command.js';
import { print } from './node-command.js';
import { jsonOption } from './options.js';
import { say } from './say.js';
import { table } from './terminal.js';

export const options = (yargs: Argv) =>
  yargs
    .option('json', jsonOption)
    .option('chart', {
      type: 'string',
      requiresArg: true,
      describe: 'draw one burst through twelve of them, into this PNG file',
    })
    .option('theme', { choices: ['light', 'dark'] as const, default: 'light' as const, describe: 'of the chart' })
    .example('$0 limiters --chart limiters.png', 'one burst, twelve limiters')
    .example('$0 limiters', 'names for --like, and what differs under a burst')
    .example('$0 explain nginx', 'one of them in more words');

export const rules: OptionRules = { needs: { theme: ['chart'] }, without: { json: ['chart'] } };

/** Everything is measured on the rule, with the parameters of the example. */
export async function run({ json, chart, theme }: GivenTo<typeof options>): Promise<void> {
  if (chart !== undefined) return draw(chart, theme);
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
      mostOf(profile),
      share(profile.atRate),
      share(profile.atTwice),
      refused,
    ]),
  );
  const below =
    'burst: admitted at once (+ after a delay). most in 1 s: of one client; 20+ is at least 20, the best attack found. at its rate: of 40 sent evenly; at twice: of 60. `weir explain <name>` says more.';
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

function mostOf({ mostInASecond, mostIsExact }: Profile): string {
  if (mostInASecond === null) return 'no limit';
  return mostIsExact ? String(mostInASecond) : `${mostInASecond}+`;
}

function share({ sent, admitted }: Profile['atRate']): string {
  return `${admitted} of ${sent}`;
}

/** @throws Failure `unwritable_folder` */
async function draw(path: string, theme: 'light' | 'dark'): Promise<void> {
  const [{ galleryCharts }, { panelsPng }] = await Promise.all([
    import('../report/chart/gallery.js'),
    import('../report/chart/png.js'),
  ]);
  const picture = await panelsPng('One burst, twelve limiters of ten requests a second', galleryCharts(), theme);
  try {
    writeFileSync(path, picture);
  } catch (error) {
    throw new Failure('unwritable_folder', {
      what: `${path} cannot be written.`,
      why: `${(error as Error).message}.`,
      fix: 'Name another file with --chart.',
    });
  }
  say(`${path}\n`);
}
