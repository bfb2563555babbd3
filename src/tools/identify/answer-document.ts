// An answer as a document. Pure.

import { type Block, type ReportDocument, sentence } from '../../report/block.js';
import { counted, listed } from '../../report/words.js';
import type { Answer, IdentifiedRule } from './answer.js';
import type { DistinguishingProbe } from './distinguishing-probe.js';
import type { Volley } from './probe.js';

const MOST_RULES = 6;

export function answerDocument(answer: Answer, target: string): ReportDocument {
  const { verdict, rules, remarks, distinguishing, requests, seconds } = answer;
  const isExplained = rules.every(({ offMs }) => offMs === 0);
  const heads: Readonly<Record<Answer['verdict'], string>> = {
    identified: `One rule was found that ${isExplained ? 'explains every answer' : 'comes near the answers'}.`,
    ambiguous:
      rules.length === 1
        ? 'One rule was found that explains every answer, and others may.'
        : `${rules.length} rules were found that explain every answer${isExplained ? '' : ', or come near'}.`,
    none: 'No rule was found that explains every answer.',
    'never limited': 'No limit was met.',
    undecided: 'The answers say too little.',
  };
  const left = rules.length - MOST_RULES;
  return {
    title: `What limits ${target}`,
    sentence: `${heads[verdict]} ${counted(requests, 'request')} in ${seconds} s.`,
    blocks: [
      ...rules.slice(0, MOST_RULES).flatMap(ruleBlocks),
      ...(left > 0 ? [sentence(`and ${left} more; --json lists them.`)] : []),
      ...(distinguishing === undefined ? [] : [distinguishingBlock(distinguishing)]),
      ...remarks.map((remark) => sentence(remark)),
    ],
  };
}

function ruleBlocks({ words, parameters, limiter, products, isExact }: IdentifiedRule): Block[] {
  const rows = Object.entries(parameters).map(([name, one]) => {
    const unit = name.endsWith('_ms') ? ' ms' : '';
    const pieces = (one.pieces ?? [one]).filter(({ least, most }) => most - least >= 1e-9);
    const range = pieces.map(({ least, most }) => `between ${short(least)} and ${short(most)}`).join(', or ');
    return { label: name.replace(/_ms$/, ''), value: `${short(one.value)}${unit}`, beside: range || undefined };
  });
  const like = products.length === 0 ? undefined : `like ${products.join(', ')}`;
  return [
    sentence(`${words}${isExact ? '' : ' (times are not yet as exact as asked)'}`),
    { kind: 'figures', rows },
    { kind: 'code', text: `limiter: ${JSON.stringify(limiter)}`, below: like },
  ];
}

function short(value: number): string {
  return String(Number(value.toPrecision(6)));
}

function distinguishingBlock({ restMs, volleys, counts, expected, distinguishesAll }: DistinguishingProbe): Block {
  const before = restMs === 0 ? 'with a new key' : `after ${s(restMs)} without a request`;
  const requests = volleys.reduce((sum, volley) => sum + volley.n, 0);
  const verb = counts === 'admitted' ? 'admits' : 'holds';
  return {
    kind: 'table',
    title: `This would distinguish ${distinguishesAll ? 'them' : 'some of them'}, with ${counted(requests, 'request')}: ${before}, ${volleysText(volleys)}.`,
    columns: [`${verb}${volleys.length === 1 ? '' : ' of the last'}`, 'rule'],
    rows: expected.map(({ words, least, most }) => [
      least === most ? `${least === 0 ? 'none' : least}` : `${least} to ${most}`,
      words,
    ]),
  };
}

function volleysText(volleys: readonly Volley[]): string {
  const parts: string[] = [];
  for (let k = 0; k < volleys.length; k += 1) {
    const { atMs, n } = volleys[k]!;
    const stepMs = (volleys[k + 1]?.atMs ?? atMs) - atMs;
    let last = k;
    while (volleys[last + 1]?.n === n && Math.abs(volleys[last + 1]!.atMs - volleys[last]!.atMs - stepMs) <= 1)
      last += 1;
    if (k === 0) parts.push(n === 1 ? 'one request' : `${n} requests at once`);
    else if (last - k >= 2) {
      parts.push(`${last - k + 1} times ${n}, each ${s(stepMs)}, from ${s(atMs)} on`);
      k = last;
    } else parts.push(`${n} more at ${s(atMs)}`);
  }
  return listed(parts);
}

function s(ms: number): string {
  return `${Number((ms / 1000).toFixed(3))} s`;
}
