// The advice of `weir recommend` as a document.
import { NO_CLIENT } from '../../harness/traffic/log/intake.js';
import { type Block, type ReportDocument, sentence, type Table } from '../../report/block.js';
import { shellWord } from '../../report/reported.js';
import { column, type RunColumn, rowName, runTable } from '../../report/run-table.js';
import { counted, number, percent, plain, windowWords } from '../../report/words.js';
import type { Advice, ClientHit, Recommendation } from './advice.js';
import type { Fit, FittedRule } from './fitted-rule.js';
import type { PasteLines } from './lines-to-paste.js';

const MOST_CLIENTS = 10;
const MOST_NAMED = 5;
const LEVELS = ' ▁▂▃▄▅▆▇█';

export interface AdviceParts {
  readonly name: string;
  readonly advice: Advice;
  /** As it was asked for: client, path, a column; undefined for one limit for all. */
  readonly key?: string | undefined;
  readonly paste: readonly PasteLines[];
  readonly command: string;
}

export function adviceDocument({ name, advice, key, paste, command }: AdviceParts): ReportDocument {
  const { recommendations, cycle_ms, requests, keys, first_at, last_at, fitted } = advice;
  const one = recommendations[0]!;
  return {
    title: `Which limit fits ${name}?`,
    sentence: `${number(one.threshold)}${advice.unit === undefined ? '' : ` ${advice.unit}`} in ${windowWords(one.within, cycle_ms)} limits ${one.limited_below === 0 ? 'none' : `less than ${percent(one.limited_below)}`} of the requests${suspectsLeftOut(advice)}.`,
    facts: `${counted(requests, 'request')} of ${counted(keys, 'key')}, ${first_at ?? ''} to ${last_at ?? ''}; 1 cycle = ${cycle_ms} ms`,
    blocks: [
      ...[...keySentences(advice, key), ...networkSentences(advice), ...alikeSentences(advice)].map((text) =>
        sentence(text, { hue: 'bad' }),
      ),
      ...(key === undefined
        ? [sentence('All requests share this limit. --key client finds one for each client, if the log names clients.')]
        : []),
      runTable(recommendedColumns(cycle_ms), recommendations, { title: 'Recommended' }),
      ...(fitted.length === 0 ? [] : [fittedTable(advice)]),
      sentence(
        `limited: requests limited in the log${suspectsLeftOut(advice)}. ${columnWords(advice, key !== undefined)}${fitted.length === 0 ? '' : ' Limits of other rules above 40 are tried in steps of 5 %.'}`,
      ),
      ...clientBlocks(advice, one),
      ...hourBlocks(one),
      ...(paste.length === 0 ? [] : pasteBlocks(advice, paste, key)),
    ],
    again: { command },
  };
}

const suspectsLeftOut = ({ suspects }: Advice) =>
  suspects.length === 0 ? '' : `, those of ${counted(suspects.length, 'suspect')} left out`;

function columnWords({ recommendations, suspects, fitted, unit = 'requests' }: Advice, isKeyed: boolean): string {
  const found = fitted.every((one) => one.bursts_exact) ? '' : '; 90+ is at least 90, the best attack found';
  const burst = `in 1 s, in 1 min: the most ${unit}${isKeyed ? ' of one client' : ''} that the limit can admit in that time${found}.`;
  const cut = recommendations[0]!.held_out?.chosen_from;
  if (cut === undefined) return burst;
  const both = suspects.length === 0 ? '' : ', both without the suspects';
  return `${burst} hold-out: a limit chosen from the first ${percent(cut, 2)} of the requests, and the share it limits in the rest${both}.`;
}

function burstOf(most: number | null, isExact: boolean): string {
  return most === null ? 'no limit' : `${number(most)}${isExact ? '' : '+'}`;
}

export function recommendedColumns(cycleMs: number): RunColumn<Recommendation>[] {
  const window = (cycles: number) => windowWords(cycles, cycleMs);
  return [
    limitedBelow<Recommendation>(),
    { ...rowName('window', ({ within }: Recommendation) => within, window), field: 'within_cycles' },
    column('threshold', ({ threshold }: Recommendation) => threshold),
    ...fitColumns<Recommendation>(() => true),
    column('hold-out', (one: Recommendation) => heldOutWords(one)),
  ];
}

function fittedTable({ fitted, cycle_ms }: Advice): Table {
  const limitOf = ({ rule, within, value }: FittedRule) => {
    const [, ...parameter] = rule.split(' ');
    const window = value === null || within === null ? '' : ` in ${windowWords(within, cycle_ms)}`;
    const limit = value === null ? 'none of those tried' : typeof value === 'number' ? number(value) : value;
    return `${[...parameter, limit].join(' ')}${window}`;
  };
  const columns = [
    limitedBelow<FittedRule>(),
    rowName('rule', ({ rule }: FittedRule) => rule.split(' ')[0]),
    column('limit', limitOf),
    ...fitColumns<FittedRule>(({ bursts_exact }) => bursts_exact),
    column('hold-out', ({ held_out, value }: FittedRule) => {
      const at = held_out?.value === value ? '' : ` at ${held_out?.value}`;
      return held_out === null ? '–' : `${held_out.held ? '✔' : '✘'} ${percent(held_out.limited_share)}${at}`;
    }),
  ];
  return runTable(columns, fitted, { title: 'Other rules, each with the strictest limit that keeps the share' });
}

function limitedBelow<Row extends Fit>(): RunColumn<Row> {
  return rowName('limited below', ({ limited_below }) => limited_below, percent);
}

function fitColumns<Row extends Fit>(isExact: (row: Row) => boolean): RunColumn<Row>[] {
  const burst = (title: string, of: (row: Row) => number | null): RunColumn<Row> => ({
    title,
    of: (row) => of(row) ?? Number.POSITIVE_INFINITY,
    shown: (row) => burstOf(of(row), isExact(row)),
  });
  return [
    column('limited', ({ limited }) => limited),
    column('share', ({ limited_share }) => limited_share, percent),
    column('keys', ({ keys_limited }) => keys_limited),
    burst('in 1 s', ({ worst_burst_1s }) => worst_burst_1s),
    burst('in 1 min', ({ worst_burst_1min }) => worst_burst_1min),
  ];
}

function pasteBlocks(
  { recommendations, fitted, cycle_ms }: Advice,
  paste: readonly PasteLines[],
  key: string | undefined,
): Block[] {
  const { threshold, within } = recommendations[0]!;
  const own = fitted.some((one) => one.within === within) ? '; a product that was compared has its own limit' : '';
  const words = `For ${counted(threshold, 'request')} in ${windowWords(within, cycle_ms)}, counted ${key === undefined ? 'for all together' : `by ${plain(key)}`}${own}.`;
  return [
    sentence(words, { title: 'Lines to paste' }),
    ...paste.map(
      ({ product, lines, differs }): Block => ({
        kind: 'code',
        title: product,
        text: lines.join('\n'),
        below: differs,
      }),
    ),
  ];
}

function heldOutWords({ held_out, threshold }: Recommendation): string {
  if (held_out === null) return 'too few requests';
  const at = held_out.threshold === threshold ? '' : ` at ${number(held_out.threshold)}`;
  return `${held_out.held ? '✔' : '✘'} ${percent(held_out.limited_share)}${at}`;
}

function networkSentences({ networks, requests: all }: Advice): string[] {
  if (networks.length === 0) return [];
  const names = networks
    .slice(0, 5)
    .map(
      ({ network, keys, requests }) =>
        `${network} (${counted(requests, 'request')} of ${counted(keys, 'address', 'addresses')}, ${percent(requests / all)} of all)`,
    );
  const more = networks.length > 5 ? ` and ${networks.length - 5} more` : '';
  const one = networks.length === 1;
  return [
    `${one ? 'Network' : 'Networks'}: ${names.join('; ')}${more} ${one ? 'sends' : 'send'} far more than any other network. Limits still apply per address, and ${one ? 'this network is' : 'these networks are'} included.`,
  ];
}

function alikeSentences({ alike_networks }: Advice): string[] {
  const sentences = alike_networks.slice(0, 5).map(({ network, keys, least, most }) => {
    const each = least === most ? counted(least, 'request') : `${number(least)} to ${counted(most, 'request')}`;
    const who = 'one client that changes its address, or one program on many machines';
    const what = `${network}: ${counted(keys, 'address', 'addresses')}, each ${each}: ${who}.`;
    return `${what} A limit per address counts each of them alone.`;
  });
  const more = alike_networks.length - sentences.length;
  return more > 0 ? [...sentences, `${more} more networks are like these.`] : sentences;
}

function keySentences({ suspects, curves, cycle_ms }: Advice, field: string | undefined): string[] {
  if (suspects.length === 0) return [];
  const named = suspects.slice(0, MOST_NAMED);
  const names = named.map(({ key, requests, share, peaks, withins }) => {
    const window = curves.findIndex(({ within }) => within === withins[0]);
    const only =
      withins.length === curves.length
        ? ''
        : `, set aside for ${withins.map((one) => windowIn(one)).join(' and ')} only`;
    return `${plain(key)} (${counted(requests, 'request')}, ${percent(share)} of all; up to ${number(peaks[window]!)} in ${windowWords(withins[0]!, cycle_ms)}${only})`;
  });
  const further = suspects.length - named.length;
  const more = further > 0 ? ` and ${further} more` : '';
  const one = suspects.length === 1;
  const it = one ? 'it' : 'them';
  // A request without the field has no text there, and counts under NO_CLIENT.
  const left = named.flatMap(({ key }) => (key === NO_CLIENT ? [key, ''] : [key]));
  const without = left.map((key) => `--where ${shellWord(`${field}!=${plain(key)}`)}`).join(' ');
  return [
    `${one ? 'Suspect' : 'Suspects'}: ${names.join('; ')}${more} ${one ? 'sends' : 'send'} far more than any other key. The limits are chosen without ${it}, the curve includes ${it}. ${without} ${one ? 'drops' : 'drop'} ${further > 0 ? `the first ${MOST_NAMED}` : it} entirely.`,
  ];

  function windowIn(within: number): string {
    return `the window of ${windowWords(within, cycle_ms)}`;
  }
}

function clientBlocks(
  { keys }: Advice,
  { clients, keys_limited, suspects_limited, threshold }: Recommendation,
): Block[] {
  if (clients.length === 0) return [];
  const suspects = suspects_limited === 0 ? '' : `, and ${counted(suspects_limited, 'request')} of suspects`;
  const title = `Clients limited at ${number(threshold)}: ${counted(keys_limited, 'key')} of ${number(keys)}${suspects}.`;
  return [runTable(clientColumns, clients.slice(0, MOST_CLIENTS), { where: 'terminal', title })];
}

const clientColumns: readonly RunColumn<ClientHit>[] = [
  rowName('key', ({ key }: ClientHit) => key),
  column('limited', ({ limited }: ClientHit) => limited),
  column('of', ({ requests }: ClientHit) => requests),
  column('share', ({ limited_share }) => limited_share, percent),
  column('largest window', ({ peak }: ClientHit) => peak),
  column('', ({ suspect }: ClientHit) => (suspect ? 'suspect' : '')),
];

function hourBlocks({ by_hour }: Recommendation): Block[] {
  const most = Math.max(0, ...(by_hour ?? []));
  if (by_hour === null || most === 0) return [];
  const bars = by_hour.map((n) => LEVELS[n === 0 ? 0 : Math.max(1, Math.round((8 * n) / most))]).join('');
  const busiest = String(by_hour.indexOf(most)).padStart(2, '0');
  const title = `When, by hour of the day (UTC); most from ${busiest}:00 on, ${counted(most, 'request')}`;
  return [{ kind: 'code', where: 'terminal', title, text: `|${bars}|\n 0     6     12    18` }];
}
