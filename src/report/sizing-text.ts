// The advice of `weir recommend` for the terminal.
import type { Advice, Recommendation } from '../sizing/advice.js';
import type { PasteLines } from '../sizing/lines-to-paste.js';
import { alignedTable, asciiOnly, type Terminal, wrapped } from './terminal-text.js';
import { counted, number, plain, spanWords } from './words.js';

/** A share as a percentage, by default with three significant digits: 0.0496 %. */
export function percent(share: number, digits = 3): string {
  return `${Number((100 * share).toPrecision(digits))} %`;
}

const MOST_CLIENTS = 10;
const LEVELS = ' ▁▂▃▄▅▆▇█';

/** @param lines of the first recommendation, to paste */
export function adviceText(advice: Advice, lines: readonly PasteLines[], terminal: Terminal): string {
  const text = textFor(advice, lines, Math.max(40, terminal.columns));
  return terminal.unicode ? text : asciiOnly(text);
}

function textFor(advice: Advice, lines: readonly PasteLines[], columns: number): string {
  const { recommendations, cycle_ms, excluded } = advice;
  const one = recommendations[0]!;
  const sentences = [
    ...(excluded.length === 0 ? [] : [`Excluded: ${excluded.map(plain).join(', ')}.`]),
    ...suspectSentences(advice),
  ];
  const heads = ['limited below', 'window', 'threshold', 'limited', 'share', 'keys', 'in 1 s', 'in 1 min', 'hold-out'];
  const table = alignedTable(
    heads.map((title, column) => ({ title, right: column > 1 && column < 8 })),
    recommendations.map((each) => [
      percent(each.limited_below),
      spanWords(each.within, cycle_ms),
      number(each.threshold),
      number(each.limited),
      percent(each.limited_share),
      number(each.keys_limited),
      burstOf(each.worst_burst_1s),
      burstOf(each.worst_burst_1min),
      heldOutWords(each),
    ]),
    Number.POSITIVE_INFINITY,
  );
  return [
    ...sentences.flatMap((sentence) => wrapped(sentence, columns)),
    ...(sentences.length === 0 ? [] : ['']),
    ...table,
    ...fittedLines(advice),
    ...wrapped(`limited: requests limited in the log. ${columnWords(advice)}`, columns),
    '',
    ...hitLines(advice, one),
    ...hourLines(one),
    `Lines to paste, for ${pastedWords(advice)}:`,
    ...lines.flatMap((each) => [
      '',
      ...wrapped(`# ${each.product}: ${each.differs}`, columns - 4).map((line, i) => `  ${i === 0 ? '' : '# '}${line}`),
      ...each.lines.map((line) => `  ${line}`),
    ]),
  ].join('\n');
}

/** What the columns on bursts and on the hold-out mean. */
export function columnWords({ recommendations, suspects, fitted }: Advice): string {
  const found = fitted.every((one) => one.bursts_exact) ? '' : '; 90+ is at least 90, the best attack found';
  const burst = `in 1 s, in 1 min: the most requests of one client that the limit can admit in that time${found}.`;
  const cut = recommendations[0]!.held_out?.chosen_from;
  if (cut === undefined) return burst;
  const both = suspects.length === 0 ? '' : ', both without the suspects';
  return `${burst} hold-out: a limit chosen from the first ${percent(cut, 2)} of the requests, and the share it limits in the rest${both}.`;
}

export const fittedHeads = [
  'limited below',
  'rule',
  'limit',
  'limited',
  'share',
  'keys',
  'in 1 s',
  'in 1 min',
  'hold-out',
];

/** The most of a client; `90+` where only attacks were tried. */
export function burstOf(most: number | null, isExact = true): string {
  return most === null ? 'no limit' : `${number(most)}${isExact ? '' : '+'}`;
}

/** The cells of the table of other rules. */
export function fittedRows({ fitted, cycle_ms }: Advice): string[][] {
  return fitted.map((one) => {
    const { rule, within, value, held_out } = one;
    const [name = '', ...parameter] = rule.split(' ');
    const window = within === null ? '' : ` in ${spanWords(within, cycle_ms)}`;
    const limit = value === null ? 'none of those tried' : typeof value === 'number' ? number(value) : value;
    const at = held_out?.value === value ? '' : ` at ${held_out?.value}`;
    return [
      percent(one.limited_below),
      name,
      `${[...parameter, limit].join(' ')}${value === null ? '' : window}`,
      number(one.limited),
      percent(one.limited_share),
      number(one.keys_limited),
      burstOf(one.worst_burst_1s, one.bursts_exact),
      burstOf(one.worst_burst_1min, one.bursts_exact),
      held_out === null ? '-' : `${held_out.held ? '✔' : '✘'} ${percent(held_out.limited_share)}${at}`,
    ];
  });
}

/** Which limit the lines to paste are for. */
export function pastedWords({ recommendations, fitted, cycle_ms }: Advice): string {
  const { threshold, within } = recommendations[0]!;
  const own = fitted.some((one) => one.within === within) ? '; a product that was compared has its own limit' : '';
  return `${counted(threshold, 'request')} in ${spanWords(within, cycle_ms)}${own}`;
}

function fittedLines(advice: Advice): string[] {
  if (advice.fitted.length === 0) return [];
  const columns = fittedHeads.map((title, column) => ({ title, right: column > 2 && column < 8 }));
  const table = alignedTable(columns, fittedRows(advice), Number.POSITIVE_INFINITY);
  return ['', 'Other rules, each with the strictest limit that keeps the share:', ...table];
}

function heldOutWords({ held_out, threshold }: Recommendation): string {
  if (held_out === null) return 'too few requests';
  const at = held_out.threshold === threshold ? '' : ` at ${number(held_out.threshold)}`;
  return `${held_out.held ? '✔' : '✘'} ${percent(held_out.limited_share)}${at}`;
}

/** Who lies above all others, and what that means for the limit. */
export function suspectSentences(advice: Advice): string[] {
  return [...keySentences(advice), ...networkSentences(advice)];
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

function keySentences({ suspects, curves, cycle_ms }: Advice): string[] {
  if (suspects.length === 0) return [];
  const names = suspects.slice(0, 5).map(({ key, requests, share, peaks, withins }) => {
    // The window in which it stands out: the first of those asked for, if it does in several.
    const window = curves.findIndex(({ within }) => within === withins[0]);
    const only =
      withins.length === curves.length
        ? ''
        : `, set aside for ${withins.map((one) => windowIn(one)).join(' and ')} only`;
    return `${plain(key)} (${counted(requests, 'request')}, ${percent(share)} of all; up to ${number(peaks[window]!)} in ${spanWords(withins[0]!, cycle_ms)}${only})`;
  });
  const more = suspects.length > 5 ? ` and ${suspects.length - 5} more` : '';
  const one = suspects.length === 1;
  const it = one ? 'it' : 'them';
  return [
    `${one ? 'Suspect' : 'Suspects'}: ${names.join('; ')}${more} ${one ? 'sends' : 'send'} far more than any other key. The limits are chosen without ${it}, the curve includes ${it}. --exclude drops ${it} entirely.`,
  ];

  function windowIn(within: number): string {
    return `the window of ${spanWords(within, cycle_ms)}`;
  }
}

function hitLines({ keys }: Advice, { clients, keys_limited, suspects_limited, threshold, by_hour }: Recommendation) {
  if (clients.length === 0) return [];
  const rows = clients
    .slice(0, MOST_CLIENTS)
    .map(({ key, requests, limited, limited_share, peak, suspect }) => [
      plain(key),
      number(limited),
      number(requests),
      percent(limited_share),
      number(peak),
      suspect ? 'suspect' : '',
    ]);
  const table = alignedTable(
    ['key', 'limited', 'of', 'share', 'largest window', ''].map((title, column) => ({
      title,
      right: column > 0 && column < 5,
    })),
    rows,
    Number.POSITIVE_INFINITY,
  );
  const suspects = suspects_limited === 0 ? '' : `, and ${counted(suspects_limited, 'request')} of suspects`;
  const gap = by_hour === null ? [] : [''];
  return [
    `Clients limited at ${number(threshold)}: ${counted(keys_limited, 'key')} of ${number(keys)}${suspects}.`,
    ...table.map((line) => `  ${line}`),
    ...(gap.length === 0 ? [''] : gap),
  ];
}

function hourLines({ by_hour }: Recommendation): string[] {
  if (by_hour === null) return [];
  const most = Math.max(...by_hour);
  if (most === 0) return [];
  const bars = by_hour.map((n) => LEVELS[n === 0 ? 0 : Math.max(1, Math.round((8 * n) / most))]).join('');
  const busiest = by_hour.indexOf(most);
  return [
    `When, by hour of the day (UTC): |${bars}|  most from ${String(busiest).padStart(2, '0')}:00 on, ${counted(most, 'request')}`,
    '                                 0     6     12    18',
    '',
  ];
}
