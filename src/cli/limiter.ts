// `weir limiter nginx 10r/s burst=5`: the effect of one limiter, or several side by side, in a few lines and a chart; without arguments,
// all known limiters; with -, decisions for requests from standard input.
import { writeFile } from 'node:fs/promises';
import type { Profile } from '../core/limiter/products/profile.js';
import type { Primitive, RuleDefinition } from '../core/limiter/rule/rule-definition.js';
import { writing } from '../core/schema/unwritable.js';
import { command, type GivenTo, several, text } from '../report/command/command.js';
import { usageFailure } from '../report/command/exit-codes.js';
import { type GivenLimiter, LIMIT_WORDS, limiterGiven, ruleGiven } from '../report/command/limit.js';
import { cycleMs, cycleMsOf, jsonOf, outAs } from '../report/command/options.js';
import { print } from '../report/command/print.js';
import { say, warn } from '../report/command/say.js';
import { facts, table } from '../report/command/terminal.js';

const options = {
  limit: several(text(`the limiter: ${LIMIT_WORDS}; - decides requests from standard input`, { place: true })),
  cycleMs,
  json: { ...jsonOf('limiter'), without: ['out'] },
  out: outAs(['png'], 'draw one burst through twelve limiters, into this PNG file', { without: ['limit'] }),
};

export const limiter = command({
  options,
  examples: [
    ['limiter nginx 10r/s burst=5', 'a value without a name is the first parameter'],
    ["limiter '100 in 60s' 'gcra 100 in 60s burst=20'", 'side by side'],
    ['limiter nginx.conf', 'every limiter of a configuration'],
    ['limiter', 'all products and rules, and what differs under a burst'],
    ['limiter nginx 10r/s burst=5 - < requests.ndjson', 'a decision a line'],
  ],
  run: async (given) => {
    const words = (given.limit ?? []).filter((word) => word !== '-');
    const decides = words.length < (given.limit ?? []).length;
    if (words.length === 0) {
      if (decides) throw usageFailure('A limiter is needed before -.', 'For example weir limiter nginx 10r/s -.');
      if (given.cycleMs !== undefined) throw usageFailure('--cycle-ms has no effect without a limiter.');
      return given.out === undefined ? list(given.json) : draw(given.out);
    }
    const limiters = await limitersIn(words, given);
    if (!decides) return explain(limiters, given);
    if (given.json)
      throw usageFailure('--json has no effect with -.', 'Leave --json out: decisions are JSON, one a line.');
    const [only, other] = limiters;
    if (other !== undefined) throw usageFailure('Requests are decided by one limiter, and several are given.');
    for (const note of only!.notes) warn(`${note}\n`);
    const { decideStandardInput } = await import('./decisions.js');
    await decideStandardInput(only!.rule);
  },
});

type Given = GivenTo<typeof options>;

/** The file is read once for each: 200 take two seconds, 2,000 would take minutes. */
const MOST_PLACES = 200;

interface Shown {
  readonly title: string;
  readonly limiter: GivenLimiter;
  readonly rule: RuleDefinition;
  readonly refused: string | undefined;
  readonly notes: readonly string[];
}

/** A word with blanks, a file or a name begins a limiter; any other word belongs to the one before. */
async function limitersIn(words: readonly string[], given: Given): Promise<Shown[]> {
  const [
    { fileIn },
    { isLimiterName, limitText, readLimit },
    { limiterNotes, windowsOf },
    { productOf },
    { placesIn },
    { templates },
    { templateIdOf },
  ] = await Promise.all([
    import('../harness/scenario/limit-file.js'),
    import('../core/limiter/products/limit-text.js'),
    import('../core/limiter/products/limiter-spec.js'),
    import('../core/limiter/products/products.js'),
    import('../core/limiter/products/limit-files.js'),
    import('../core/limiter/templates.js'),
    import('../core/limiter/rule-limiter.js'),
  ]);
  const texts: string[] = [];
  words.forEach((word, at) => {
    const begins = /\s/.test(word) || fileIn(word) !== undefined || isLimiterName(word);
    if (at === 0 || (begins && words[at - 1] !== 'and' && word !== 'and')) texts.push(word);
    else texts.push(`${texts.pop()} ${word}`);
  });
  const limiters = await Promise.all(
    texts.map((one) => (isLimiterName(one.trim()) ? exampleOf(one) : limiterGiven(one))),
  );
  if (given.cycleMs !== undefined && limiters.flatMap(windowsOf).length === 0)
    throw usageFailure('--cycle-ms has no effect on a limiter that counts no cycles.', 'Leave --cycle-ms out.');
  const shown = await Promise.all(
    texts.map(async (one, at) => {
      const named = limiters[at]!;
      const places = 'paste' in named && !('location' in named) ? placesIn(String(named['paste'])) : [];
      if (places.length > MOST_PLACES)
        throw usageFailure(
          `${one} has limits at ${places.length} places, and up to ${MOST_PLACES} are shown.`,
          `Name one: weir limiter '${one} at ${places[0]}'.`,
        );
      const notedOf = (note: string) => (texts.length > 1 ? `${one}: ${note}` : note);
      const all = places.length > 1 ? places.map((location) => ({ ...named, location })) : [named];
      return Promise.all(
        all.map(async (limiter, index) => {
          const { product } = 'like' in limiter ? productOf(String(limiter['like'])).product : {};
          const place = 'location' in limiter ? String(limiter['location']) : undefined;
          return {
            title:
              place ?? ('paste' in limiter ? one : [inOneLine(limitText(limiter)), product].filter(Boolean).join(': ')),
            limiter,
            rule: await ruleGiven(limiter, cycleMsOf(given.cycleMs, windowsOf(limiter))),
            refused: refusedBy(limiter),
            notes: index < all.length - 1 ? [] : limiterNotes(limiter).map(notedOf),
          };
        }),
      );
    }),
  );
  return shown.flat();

  /** What becomes of a refused request, by the words of its product; undefined where it is measured. */
  function refusedBy(limiter: GivenLimiter): string | undefined {
    if (Array.isArray(limiter['and'])) return limiter['and'].every(isWindow) ? 'counts, too' : undefined;
    if ('like' in limiter) return productOf(String(limiter['like'])).product.refused;
    return isWindow(limiter) ? 'counts, too' : undefined;
  }

  /** The numbers of a name alone. */
  function exampleOf(name: string): GivenLimiter {
    const limiter = readLimit(name);
    if ('like' in limiter) return { ...limiter, ...productOf(String(limiter['like'])).product.example };
    return templates.get(templateIdOf({ primitive: limiter['primitive'] as Primitive }))?.rule ?? limiter;
  }
}

async function explain(limiters: readonly Shown[], { json }: Given): Promise<void> {
  const [{ profileOf }, { burstChart, profileWords }] = await Promise.all([
    import('../core/limiter/products/profile.js'),
    import('../core/limiter/products/limiter-profile.js'),
  ]);
  const explained = limiters.map((one) => {
    const profile = profileOf(one.rule);
    return { ...one, profile, refused: one.refused ?? refusedWords(profile) };
  });
  const notes = limiters.flatMap((one) => one.notes);
  const said = notes.length === 0 ? {} : { notes };
  const answers = explained.map(({ limiter, rule, profile }) => ({ limiter, rule, profile }));
  const answer = answers.length === 1 ? { ...answers[0]!, ...said } : { limiters: answers, ...said };
  const blocks = explained.map(({ title, rule, profile, refused }) =>
    [title, facts(profileWords(rule, profile, refused)), '', burstChart(rule, profile)].join('\n'),
  );
  const beside = explained.map(({ title, rule, refused, profile }) => rowOf(title, rule.primitive, profile, refused));
  const all = explained.length === 1 ? blocks : [table(heads, beside), legend, ...blocks];
  print({ answer, words: [...all, ...notes].join('\n\n') }, json);
}

const isWindow = (limiter: GivenLimiter) => 'threshold' in limiter || 'within' in limiter;
const inOneLine = (text: string) => text.trim().replace(/\s*\n\s*/g, ' ');

/** As measured, where a product does not say it. */
function refusedWords({ refusedDelays }: Profile): string {
  if (refusedDelays === undefined) return 'there is none';
  return refusedDelays ? 'keeps its client out for longer' : 'nothing';
}

const heads = ['limiter', 'rule', 'burst', 'most in 1 s', 'at its rate', 'at twice', 'a refused request'];
const legend =
  'burst: admitted at once (+ after a delay). most in 1 s: what one client can get through; 20+ is at least 20. at its rate: admitted of 40 sent evenly; at twice: of 60 sent twice as fast.';

function rowOf(title: string, primitive: string, profile: Profile, refused: string): string[] {
  const { atOnce, delayed } = profile.firstBurst;
  const most =
    profile.mostInASecond === null ? 'no limit' : `${profile.mostInASecond}${profile.mostIsExact ? '' : '+'}`;
  const share = ({ sent, admitted }: Profile['atRate']) => `${admitted} of ${sent}`;
  const burst = delayed === 0 ? String(atOnce) : `${atOnce} (+ ${delayed})`;
  return [title, primitive, burst, most, share(profile.atRate), share(profile.atTwice), refused];
}

const MOST_SHOWN = 60;

async function list(json: boolean): Promise<void> {
  const [{ products }, { profileOf }, { templates }, { limitText }] = await Promise.all([
    import('../core/limiter/products/products.js'),
    import('../core/limiter/products/profile.js'),
    import('../core/limiter/templates.js'),
    import('../core/limiter/products/limit-text.js'),
  ]);
  const named = Object.entries(products).map(([name, { product, example, refused, rule }]) => {
    const limiter = { like: name, ...example };
    return { name, product, example: limitText(limiter), refused, rule: rule(example) };
  });
  const rules = [...templates.values()].flatMap(({ rule }) => rule ?? []);
  const all = [
    ...named,
    ...rules.map((rule) => ({
      name: rule.primitive,
      product: 'rule',
      example: limitText(rule),
      refused: undefined,
      rule,
    })),
  ];
  const rows = all.map(({ rule, ...one }) => {
    const profile = profileOf(rule);
    return { ...one, refused: one.refused ?? refusedWords(profile), primitive: rule.primitive, profile };
  });
  const cut = (text: string) => (text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}…` : text);
  const cells = rows.map(({ example, primitive, profile, refused }) =>
    rowOf(cut(example), primitive, profile, refused),
  );
  const below = `${legend} \`weir limiter <name>\` says more.`;
  print({ answer: { limiters: rows }, words: `${table(heads, cells)}\n\n${below}` }, json);
}

async function draw(path: string): Promise<void> {
  const [{ galleryCharts }, { panelsPng }] = await Promise.all([
    import('../report/chart/gallery.js'),
    import('../report/chart/drawing.js').then(({ drawing }) => drawing()),
  ]);
  const picture = await panelsPng('One burst, twelve limiters of ten requests a second', galleryCharts(), 'light');
  await writing(path, 'Name another file with --out.', () => writeFile(path, picture));
  say(`${path}\n`);
}
