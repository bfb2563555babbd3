// An answer as text, for people. Pure.
import type { Answer, Rule } from './answer.js';

const MOST_RULES = 6;

const units: Readonly<Record<string, string>> = { window_ms: 'ms', token_ms: 'ms', block_ms: 'ms', phase_ms: 'ms' };

export function answerText({ verdict, rules, remarks, requests, seconds }: Answer): string {
  const isExplained = rules.every(({ offMs }) => offMs === 0);
  const heads: Readonly<Record<Answer['verdict'], string>> = {
    'one rule': `One rule was found that ${isExplained ? 'explains every answer' : 'comes near the answers'}.`,
    several: `${rules.length} rules were found that explain every answer${isExplained ? '' : ', or come near'}.`,
    'nothing fits': 'No rule was found that explains every answer.',
    'never limited': 'No limit was met.',
    undecided: 'The answers say too little.',
  };
  const shown = rules.slice(0, MOST_RULES).map(ruleText);
  const more = rules.length > MOST_RULES ? [`and ${rules.length - MOST_RULES} more; --json lists them.`] : [];
  const used = `${requests} requests in ${seconds} s.`;
  return [`${heads[verdict]} ${used}`, ...shown, ...more, ...(remarks.length > 0 ? [remarks.join('\n')] : [])].join(
    '\n\n',
  );
}

function ruleText({ words, parameters, limiter, products, isExact }: Rule): string {
  const lines = Object.entries(parameters).map(([name, { value, least, most }]) => {
    const unit = units[name] === undefined ? '' : ` ${units[name]}`;
    const range = most - least < 1e-9 ? '' : `   between ${short(least)} and ${short(most)}`;
    return `    ${name.replace(/_ms$/, '').padEnd(8)} ${short(value)}${unit}${range}`;
  });
  return [
    `  ${words}${isExact ? '' : ' (times are not yet as exact as asked)'}`,
    ...lines,
    `    limiter: ${JSON.stringify(limiter)}`,
    ...products.map((product) => `    like ${product}`),
  ].join('\n');
}

function short(value: number): string {
  return String(Number(value.toPrecision(6)));
}
