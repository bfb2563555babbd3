// The findings about a client as a document. Pure.

import { stringify } from 'yaml';
import { type FiguresBlock, type ReportDocument, sentence } from '../../../report/block.js';
import { counted } from '../../../report/words.js';
import type { ClientAnswer } from './client-answer.js';
import { ms } from './client-entry.js';
import type { AdviceTaken } from './retry-after.js';
import { type SetbackGroup, setbacks } from './retry-policy.js';

export function clientDocument(answer: ClientAnswer): ReportDocument {
  const { program, verdict, calls, requests, seconds, remarks, client } = answer;
  const heads: Readonly<Record<ClientAnswer['verdict'], string>> = {
    identified: 'One retry policy explains every call.',
    ambiguous: 'Several retry policies explain every call.',
    none: 'No known retry policy explains every call.',
    undecided: 'The calls say too little to name a retry policy.',
  };
  return {
    title: `How ${program === '' ? 'the program' : program} retries`,
    sentence: `${heads[verdict]} ${counted(calls, 'call')}, ${counted(requests, 'request')}, ${seconds} s.`,
    blocks: [
      { kind: 'figures', rows: rowsOf(answer) },
      ...remarks.map((remark) => sentence(remark)),
      ...(client === null
        ? []
        : [
            {
              kind: 'code' as const,
              title: 'As a client of a scenario',
              text: stringify({ clients: [client] }).trimEnd(),
            },
          ]),
    ],
  };
}

function rowsOf({
  methods,
  intervals,
  retries_on,
  not_retried,
  waits,
  announced,
  like,
}: ClientAnswer): FiguresBlock['rows'] {
  const [least, most] = intervals['max_attempts']!;
  const { timeout_ms: timeout, deadline_ms: deadline } = intervals;
  const [way] = announced.ways;
  const rows: (FiguresBlock['rows'][number] | undefined)[] = [
    { label: 'methods', value: methods.join(', ') },
    {
      label: 'attempts',
      value: most === null ? `at least ${least}` : least === most ? `${least}` : `${least} to ${most}`,
    },
    { label: 'retried', value: retries_on.join(', ') || 'nothing' },
    { label: 'not retried', value: not_retried.join(', ') || 'nothing' },
    ...waits.flatMap(({ after, words, parameters, intervals: own, others }) => [
      { label: waitLabel(after, waits.length), value: words },
      ...Object.entries(own).map(([name, [from, to]]) => ({
        label: name.replace(/_ms$/, ', ms'),
        value: parameters[name] === undefined ? 'none seen' : short(parameters[name]),
        beside: to === null ? `above ${short(from)}` : `between ${short(from)} and ${short(to)}`,
      })),
      ...others.map((other) => ({ label: 'or', value: other })),
    ]),
    way && {
      label: 'Retry-After',
      value: adviceWords(way),
      beside: announced.ways.length > 1 ? 'or another way' : undefined,
    },
    timeout?.[1] == null ? undefined : { label: 'timeout', value: ms(timeout[1]) },
    deadline && { label: 'gives up after', value: `${ms(deadline[0])} to ${ms(deadline[1]!)} in all` },
    ...setbacks.map((after) => {
      const quota = intervals[`quota_after_${after}`];
      return (
        quota && {
          label: 'quota',
          value: `${quota[0]} retries of one process after ${after} answers, then one attempt per call`,
        }
      );
    }),
    like.length === 0 ? undefined : { label: 'like', value: like.join(', ') },
  ];
  return rows.filter((row) => row !== undefined);
}

function waitLabel(after: readonly SetbackGroup[], laws: number): string {
  if (laws < 2) return 'waits';
  return after.includes('limited') ? 'waits after 429' : 'waits after other failures';
}

function adviceWords({ way, reachMs, end }: AdviceTaken): string {
  const reach = ms(reachMs ?? 0);
  const words: Readonly<Record<AdviceTaken['way'], string>> = {
    ignored: 'ignored',
    obeyed: 'obeyed',
    floor: 'a lower bound of the wait',
    later: `obeyed, plus up to ${reach}`,
    scaled: 'obeyed, with the jitter of its own waits',
    near: `obeyed up to ${reach} beyond its own wait`,
  };
  if (end === undefined) return words[way];
  const then = { capped: 'waits that long', own: 'takes its own wait', stops: 'gives up' }[end.above];
  return `${words[way]}; above ${ms(end.atMs)} it ${then}${end.above === 'capped' ? '' : ` (between ${ms(end.leastMs)} and ${ms(end.mostMs)})`}`;
}

function short(value: number): string {
  return `${Number(value.toPrecision(4))}`;
}
