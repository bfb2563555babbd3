// Blocks about a target's answers: statuses, errors, latency with its histogram, throughput, and the limit observed.
import type { Outcome } from '../harness/outcome/outcome-schema.js';
import { type Block, right, sentence } from './block.js';
import { counted, isFromSending, number, share } from './words.js';

const BAR = 40;

type Live = NonNullable<Outcome['live']>;
type Answers = NonNullable<Live['answers']>;

export function answerBlocks({ live }: Outcome): Block[] {
  if (live?.answers === undefined) return [];
  const { statuses, errors, seconds, bytes, histogram, limit } = live.answers;
  const answers = Object.values(statuses).reduce((sum, n) => sum + n, 0);
  const kinds = [
    ...Object.entries(statuses),
    ...Object.entries(errors).map(([kind, n]) => [kind.replace('_', ' '), n] as const),
  ];
  const perSecond = seconds > 0 ? `: ${figure(answers / seconds)}/s` : '';
  return [
    {
      kind: 'table',
      title: 'Answers',
      columns: ['status', right('requests'), right('share')],
      rows: kinds.map(([name, n]) => [name, n, share(n, live.sent)]),
    },
    sentence(
      `${number(live.sent)} sent, ${number(answers)} answered in ${figure(seconds)} s${perSecond}; ${bytesText(bytes)} of bodies, ${bytesText(bytes / (seconds || 1))}/s.`,
    ),
    ...latencyBlocks(live, histogram),
    ...(limit === null ? [] : [sentence(limitText(limit), { title: 'The limit that was seen' })]),
  ];
}

function latencyBlocks({ latency_ms: latency }: Live, histogram: Answers['histogram']): Block[] {
  if (latency === null) return [];
  const { p50, p90, p99, p999, max } = latency;
  const most = Math.max(...histogram.map(({ n }) => n), 1);
  return [
    {
      kind: 'table',
      title: isFromSending(latency) ? 'Latency from sending' : 'Latency from the intended send time',
      columns: ['p50', 'p90', 'p99', 'p99.9', 'max'].map(right),
      rows: [[p50, p90, p99, p999, max].map(ms)],
    },
    {
      kind: 'table',
      columns: [right('latency'), right('answers'), ''],
      rows: histogram.map(({ up_to_ms, n }, index) => [
        up_to_ms === null ? `> ${ms(histogram[index - 1]?.up_to_ms ?? 0)}` : `≤ ${ms(up_to_ms)}`,
        n,
        '█'.repeat(Math.ceil((BAR * n) / most)),
      ]),
    },
  ];
}

function limitText(limit: NonNullable<Answers['limit']>): string {
  const { status, after_answers, after_seconds, announced_limit, announced_window_s, retry_after_s } = limit;
  const window = announced_window_s === null ? '' : ` in ${figure(announced_window_s)} s`;
  const rate = limit.admitted_per_second;
  return [
    `First limited by ${status} after ${figure(after_seconds)} s, answer ${number(after_answers)}.`,
    ...(announced_limit === null ? [] : [`It announces a limit of ${number(announced_limit)}${window}.`]),
    ...(retry_after_s === null ? [] : [`Retry-After is ${figure(retry_after_s)} s.`]),
    ...(rate === null
      ? []
      : [`From then on ${figure(rate)} a second were admitted, over ${figure(limit.limited_seconds)} s.`]),
  ].join(' ');
}

function ms(value: number): string {
  return value >= 1000 ? `${figure(value / 1000)} s` : `${figure(value)} ms`;
}

function figure(value: number): string {
  return number(Number(value.toPrecision(3)));
}

function bytesText(bytes: number): string {
  const [unit, size] = bytes >= 1e6 ? ['MB', 1e6] : bytes >= 1e3 ? ['kB', 1e3] : ['bytes', 1];
  return unit === 'bytes' ? counted(Math.round(bytes), 'byte') : `${figure(bytes / size)} ${unit}`;
}
