// `weir explain nginx 10r/s burst=5`: what a limiter lets through, in a few lines and one chart.
import type { Argv } from 'yargs';
import { looksLikeStanza, readStanza } from '../limiter/products/pasted.js';
import { definitionOf, productOf } from '../limiter/products/products.js';
import type { Profile, play } from '../limiter/products/profile.js';
import { LIMITED } from '../limiter/rule/rule.js';
import { type RuleDefinition, ruleOf } from '../limiter/rule/rule-definition.js';
import type { GivenTo } from './command.js';
import { usageFailure } from './ending.js';
import { print } from './node-command.js';
import { jsonOption, noDefault } from './options.js';
import { facts } from './terminal.js';

export const options = (yargs: Argv) =>
  yargs
    .positional('limiter', {
      type: 'string',
      array: true,
      demandOption: true,
      ...noDefault,
      describe: 'name of a limiter with its parameters as name=value, or a stanza of nginx or HAProxy in quotes',
    })
    .option('json', jsonOption)
    .example('$0 explain nginx 10r/s burst=5', 'a value without a name is the first parameter')
    .example('$0 explain express-rate-limit windowMs=60000 limit=100', '')
    .example("$0 explain 'limit_req_zone $host zone=a:1m rate=10r/s; limit_req zone=a nodelay;'", 'a stanza');

/** @throws Failure `wrong_usage`, `invalid_definition`, `invalid_input` */
export async function run({ limiter, json }: GivenTo<typeof options>): Promise<void> {
  const { play, profileOf } = await import('../limiter/products/profile.js');
  const words = limiter.map(String);
  const text = words.join(' ');
  const isStanza = looksLikeStanza(text) && /[;{(]/.test(text);
  const { notes = [], limiters } = isStanza ? pasted(text) : { limiters: [named(words)] };
  const explained = limiters.map(({ title, given, refused }) => {
    const definition = definitionOf(given, 777);
    const profile = profileOf(definition);
    const answer = { limiter: given, rule: definition, profile };
    return { answer, words: `${wordsOf(title, definition, profile, refused)}\n\n${chart(play, definition, profile)}` };
  });
  const said = notes.length === 0 ? {} : { notes };
  const answers = explained.map(({ answer }) => answer);
  const answer = answers.length === 1 ? { ...answers[0]!, ...said } : { limiters: answers, ...said };
  print({ answer, words: [...explained.map((one) => one.words), ...notes].join('\n\n') }, json);
}

/** A limiter for each place of the text that has limits of its own. */
function pasted(text: string) {
  const { limiters, notes } = readStanza(text);
  return {
    notes,
    limiters: limiters.map(({ name }) => ({
      title: name ?? 'The stanza',
      given: { paste: text, ...(name !== undefined && limiters.length > 1 && { location: name }) },
      refused: undefined,
    })),
  };
}

/** Parameters as name=value; values without a name take the names of the parameters in order. Without any, those of the example. */
function named(words: readonly string[]) {
  const { name, product } = productOf(words[0]!);
  const names = Object.keys((product.params as unknown as { properties: object }).properties);
  // Without a prototype: a parameter may have any name, also __proto__.
  const given: Record<string, unknown> = Object.create(null);
  let place = 0;
  for (const word of words.slice(1)) {
    const [, key, value] = /^([\w-]+)=(.*)$/.exec(word) ?? [];
    if (key !== undefined) given[key] = readValue(value!);
    else if (names.includes(word)) given[word] = true;
    else {
      while (place < names.length && names[place]! in given) place += 1;
      if (place === names.length)
        throw usageFailure(`${name} has no parameter for ${word}.`, `It has ${names.join(', ')}.`);
      given[names[place]!] = readValue(word);
    }
  }
  const parameters = Object.keys(given).length === 0 ? product.example : given;
  return { title: product.product, given: { like: name, ...parameters }, refused: product.refused };
}

function readValue(text: string): unknown {
  if (/^-?\d+(\.\d+)?$/.test(text)) return Number(text);
  return text === 'true' ? true : text === 'false' ? false : text;
}

function wordsOf(title: string, definition: RuleDefinition, profile: Profile, refused: string | undefined): string {
  const { firstBurst, atRate, atTwice, perSecond, announcedLate, trueWaitMs } = profile;
  const held = firstBurst.delayed === 0 ? '' : `, ${firstBurst.delayed} more after a delay`;
  const rate = perSecond === undefined ? '10/s, 100 ms each' : `${shown(perSecond)}/s`;
  const lines = facts([
    ['rule', `${definition.primitive} ${JSON.stringify(definition.params)}`],
    ['first burst', `of ${firstBurst.sent} at once, ${firstBurst.atOnce} pass at once${held}`],
    ['most in a second', mostWords(profile)],
    [
      'at exactly the rate',
      `${atRate.admitted} of ${atRate.sent} pass at ${rate}; at twice that ${atTwice.admitted} of ${atTwice.sent}`,
    ],
    ['a refused request', refused ?? 'see the rule'],
    ['wait', waitWords(trueWaitMs, announcedLate)],
  ]);
  return `${title}\n${lines}`;
}

function mostWords({ mostInASecond, mostIsExact }: Profile): string {
  if (mostInASecond === null) return 'no limit';
  return mostIsExact ? `${mostInASecond} starts` : `at least ${mostInASecond} starts: the best attack found`;
}

function waitWords(trueWaitMs: number | undefined, late: Profile['announcedLate']): string {
  if (trueWaitMs === undefined) return 'none is refused';
  const truth = Number.isFinite(trueWaitMs) ? `${shown(trueWaitMs)} ms in the median` : 'for ever';
  if (late === undefined) return `${truth}; the product announces none`;
  return `${truth}; the announced one differs by ${signed(late.median)} ms (${signed(late.least)} to ${signed(late.most)})`;
}

const LEVELS = ' ▁▂▃▄▅▆▇█';
const COLUMNS = 50;

/**
 * A burst of twice the rate of a second, with twice the rate for four seconds: what is sent, and what starts, in each 100 ms. Two
 * steps are the rate; the full height is four times the rate and more.
 */
function chart(playOf: typeof play, definition: RuleDefinition, { perSecond = 10 }: Profile): string {
  const columnMs = perSecond >= 1 ? 100 : 100 / perSecond;
  const perColumn = (perSecond * columnMs) / 1000;
  const times = [
    ...Array.from({ length: Math.min(2000, Math.ceil(20 * perColumn)) }, () => 0),
    ...Array.from({ length: Math.min(4000, Math.ceil(80 * perColumn)) }, (_, i) => (i * columnMs) / (2 * perColumn)),
  ];
  const sent = new Array<number>(COLUMNS).fill(0);
  const starts = new Array<number>(COLUMNS).fill(0);
  playOf(ruleOf(definition), times).forEach((delay, i) => {
    count(sent, times[i]! / columnMs);
    if (delay !== LIMITED) count(starts, (times[i]! + delay) / columnMs);
  });
  const drawn = (counts: readonly number[]) =>
    counts.map((one) => LEVELS[one === 0 ? 0 : Math.min(8, Math.max(1, Math.round((2 * one) / perColumn)))]).join('');
  const seconds = shown((COLUMNS * columnMs) / 1000);
  return [
    `  sent    |${drawn(sent)}|`,
    `  starts  |${drawn(starts)}|`,
    `           0 s${`${seconds} s`.padStart(COLUMNS - 3)}`,
  ].join('\n');
}

function count(counts: number[], column: number): void {
  const at = Math.floor(column);
  if (at < counts.length) counts[at]! += 1;
}

function shown(value: number): string {
  return String(Number(value.toPrecision(4)));
}

function signed(value: number): string {
  return value >= 0 ? `+${shown(value)}` : shown(value);
}
