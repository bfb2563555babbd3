// Numbers, times and verdicts in words, equal in every medium.
import type { Outcome, Verdict } from '../harness/outcome/outcome-schema.js';
import { instantOn } from './chart-specs/axis-text.js';

/** Foreign text on one line: control characters and direction marks become a visible dot. */
export function plain(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, '·');
}

/** 1234567.891 -> 1,234,568; at most four digits after the point, fewer for large numbers. */
export function number(value: number): string {
  if (!Number.isFinite(value)) return String(value);
  const size = Math.abs(value);
  const digits = Number.isInteger(value) ? 0 : size >= 1000 ? 0 : size >= 10 ? 1 : size >= 0.1 ? 2 : 4;
  const [whole = '', fraction] = value.toFixed(digits).split('.');
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ',');
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}

/** 93.24 s, 12.5 min, 5.3 h, 3.5 d. */
export function duration(ms: number): string {
  const s = ms / 1000;
  if (s < 120) return `${short(s)} s`;
  if (s < 7200) return `${short(s / 60)} min`;
  if (s < 172_800) return `${short(s / 3600)} h`;
  return `${short(s / 86_400)} d`;
}

export function spanWords(cycles: number, cycleMs: number): string {
  return `${duration(cycles * cycleMs)} (${counted(cycles, 'cycle')})`;
}

/** A window of whole seconds in time alone: 60 s. */
export function windowWords(cycles: number, cycleMs: number): string {
  return (cycles * cycleMs) % 1000 === 0 ? duration(cycles * cycleMs) : spanWords(cycles, cycleMs);
}

function short(value: number): string {
  return String(Number(value.toFixed(value < 10 ? 2 : 1)));
}

/** 484.0 ms, 9,870 ms, 38.1 s, 17.2 min. */
export function latency(ms: number): string {
  return ms < 10_000 ? `${number(ms)} ms` : duration(ms);
}

/** 63.1 %; 0 % of 0. Only an exact 0 and an exact 1 are shown as 0 % and 100 %. */
export function share(part: number, whole: number): string {
  const percent = whole === 0 ? 0 : Number(((100 * part) / whole).toFixed(1));
  if (percent === 0 && part > 0) return '< 0.1 %';
  if (percent === 100 && part < whole) return '> 99.9 %';
  return `${percent} %`;
}

export function percent(share: number, digits = 3): string {
  return `${Number((100 * share).toPrecision(digits))} %`;
}

export function times(n: number): string {
  return n === 1 ? 'once' : `${number(n)} times`;
}

/** Not by `Intl.ListFormat`, which takes 20 ms to load. */
export function listed(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;
}

export function counted(n: number, one: string, many = `${one}s`): string {
  return `${number(n)} ${n === 1 ? one : many}`;
}

/** Start of the cycle in UTC, to the second; undefined for scenarios that begin at cycle 0. */
export function instantOf(cycle: number, { first_cycle, cycle_ms }: Outcome): string | undefined {
  if (first_cycle === null) return undefined;
  const to = cycle - first_cycle;
  return instantOn({ firstCycle: first_cycle, cycleMs: cycle_ms, to }, to);
}

export function cycleWords(cycle: number, outcome: Outcome): string {
  const at = instantOf(cycle, outcome);
  return `${number(cycle - (outcome.first_cycle ?? 0))}${at === undefined ? '' : `, ${at}`}`;
}

/** A contract is called a client, or a key, if each of a log has its own. */
export function contractWord({ read }: Pick<Outcome, 'read'>): 'contract' | 'client' | 'key' {
  if (read === undefined || read.key === null) return 'contract';
  return /client|address|user/.test(read.key) ? 'client' : 'key';
}

export function readSentences({ read }: Pick<Outcome, 'read'>): string[] {
  if (read === undefined) return [];
  const { format, columns, time_unit, skipped_lines } = read;
  const fields = Object.entries(columns).flatMap(([what, name]) => (what === name ? [] : `${what} from ${name}`));
  const how = [...fields, ...(time_unit === null || time_unit === 'date' ? [] : [`times in ${time_unit}`])];
  return [
    `Read as ${format}${how.length === 0 ? '' : `: ${how.join(', ')}`}.`,
    ...(skipped_lines === 0 ? [] : [`${counted(skipped_lines, 'line was', 'lines were')} skipped: not requests.`]),
    ...readFacts(read),
  ];
}

export function readFacts(read: NonNullable<Outcome['read']>): string[] {
  const { key, keys, first_at, last_at, filtered, warnings } = read;
  return [
    ...(first_at === null ? [] : [`Requests from ${first_at} to ${last_at}.`]),
    ...(key === null || keys === null ? [] : [`${counted(keys, 'key')} from ${key}.`]),
    ...(filtered === 0 ? [] : [`${counted(filtered, 'request')} left out by filters.`]),
    ...warnings.map(({ code, what }) => `Warning ${code}: ${what}`),
  ];
}

const verdictMarks: Readonly<Record<Verdict, Omit<VerdictMark, 'words'>>> = {
  held: { sign: '✔', hue: 'good' },
  'nothing expected': { sign: '–', hue: 'open' },
  'not held': { sign: '✘', hue: 'bad' },
  differs: { sign: '≠', hue: 'bad' },
  invalid: { sign: '!', hue: 'bad' },
};

export interface VerdictMark {
  /** Distinguishes verdicts without colour. */
  readonly sign: string;
  readonly words: string;
  readonly hue: 'good' | 'open' | 'bad';
}

type Judged = Pick<Outcome, 'verdict' | 'partial'>;

/** A stopped run has held nothing yet. */
export function verdictView({ verdict, partial = false }: Judged): VerdictMark {
  if (partial && verdict === 'held') return { sign: '–', words: 'stopped, held so far', hue: 'open' };
  return { ...verdictMarks[verdict], words: partial && verdict === 'nothing expected' ? 'stopped' : verdict };
}

export function verdictSentence(outcome: Outcome): string {
  return `${sentence(outcome)}${replicationsSentence(outcome)}${stoppedSentence(outcome)}`;
}

export function stoppedSentence({ partial }: Outcome): string {
  return partial === true ? ' The run was stopped before its end: this is what happened so far.' : '';
}

/** `110 of 160 requests (68.8 %) refused, 40 of 60 jobs served. No expectations set.` */
function resultSentence({ requests, limited, clients: [all] = [] }: Outcome): string {
  const some = `${number(limited)} of ${counted(requests, 'request')} (${share(limited, requests)})`;
  const refused = `${limited === 0 ? `None of ${counted(requests, 'request')}` : some} refused`;
  const served = all === undefined ? '' : `, ${number(all.succeeded)} of ${counted(all.jobs, 'job')} served`;
  return `${refused}${served}. No expectations set.`;
}

function sentence(outcome: Outcome): string {
  const { verdict, expectations, comparison } = outcome;
  const failed = expectations.filter(({ held }) => !held).length;
  const all = expectations.length;
  switch (verdict) {
    case 'held':
      if (comparison !== undefined) {
        const remark = comparison.remark === undefined ? '' : ` ${comparison.remark}`;
        return `Observed agrees with predicted${all > 0 ? `, and ${held(all)}` : ''}.${remark}`;
      }
      return all === 0 ? resultSentence(outcome) : `${capital(held(all))}.`;
    case 'nothing expected':
      return resultSentence(outcome);
    case 'not held':
      return `${failed} of ${counted(all, 'expectation')} did not hold.`;
    case 'differs':
      return `Observed differs from predicted: ${comparison?.reason ?? 'see the differences'}`.replace(/\.?$/, '.');
    case 'invalid':
      if (comparison === undefined) return `${capital(held(all))} so far, which proves nothing.`;
      return `The run itself is invalid: ${comparison?.reason ?? 'it proves nothing'}`.replace(/\.?$/, '.');
  }
}

function replicationsSentence({ expectations, replications }: Outcome): string {
  if (replications === undefined || expectations.length === 0) return '';
  const { n, held: runs, held_share, failed_seeds } = replications;
  const percent = (value: number) => `${Number((100 * value).toFixed(1))} %`;
  const seeds = failed_seeds.slice(0, 3).join(', ');
  const first =
    failed_seeds.length === 0 ? '' : `; first failing ${failed_seeds.length === 1 ? 'seed' : 'seeds'}: ${seeds}`;
  return ` Held in ${runs} of ${n} runs (95 % interval of that share: ${percent(held_share.low)} to ${percent(held_share.high)})${first}.`;
}

const MOST_DIGITS = 7;

export function foundWords(expectation: Outcome['expectations'][number], { replications }: Outcome): string {
  const { actual, held_in, share = 1 } = expectation;
  const found = typeof actual === 'number' ? Number(actual.toPrecision(MOST_DIGITS)) : (actual ?? 'nothing');
  if (held_in === undefined || replications === undefined) return `found ${found}`;
  const wanted = share < 1 ? `, ${Number((100 * share).toFixed(2))} % wanted` : '';
  return `held in ${held_in} of ${replications.n} runs${wanted}`;
}

function held(all: number): string {
  return all === 1 ? 'the one expectation held' : `all ${all} expectations held`;
}

export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** In a closed loop a request has no intended time before it is sent. */
export function isFromSending({ taken }: { readonly taken: string }): boolean {
  return taken.startsWith('from sending');
}
