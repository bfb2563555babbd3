// What the rewrite module of nginx does with a request before the limits see it: variables, answers, redirects to a named location.
//
//   set $key ""; if ($request_method = POST) { set $key $remote_addr; }
//   if ($request_method = OPTIONS) { return 204; }
//   error_page 418 = @slow; if ($arg_slow) { return 418; }
//   rewrite ^/old/(.*) /new/$1 last;                 then the location of the new path; an answer, if it leads to another host
//
// Source: ngx_http_rewrite_module of nginx.org. A server's directives run first, then those of the location itself.
import type { Directive } from './directives.js';
import type { Redirect, Rewrite } from './nginx-route.js';
import { type NginxVariables, type SetVariables, URI, withCaptures } from './nginx-variables.js';
import { ALWAYS, allHold, not, type RequestCondition, tested } from './request-condition.js';

export interface Rewritten {
  readonly given: SetVariables;
  /** Of requests that are not answered yet. */
  readonly when: RequestCondition;
  readonly redirects: readonly Redirect[];
  /** Of this block alone. */
  readonly rewrites: readonly Rewrite[];
}

export const UNTOUCHED: Rewritten = { given: new Map(), when: ALWAYS, redirects: [], rewrites: [] };

export function rewrittenBy(block: readonly Directive[], before: Rewritten, variables: NginxVariables): Rewritten {
  let { given, when } = before;
  const redirects = [...before.redirects];
  const rewrites: Rewrite[] = [];
  const pages = block.filter(({ words: [name] }) => name === 'error_page');
  for (const one of block) {
    const inIf = one.words[0] === 'if' ? variables.conditionOf(one, given) : ALWAYS;
    for (const { words } of one.words[0] === 'if' ? (one.block ?? []) : [one]) {
      const [name, value = '', replacement = '', flag] = words;
      if (name !== 'rewrite') continue;
      const matches = tested(URI, { is: 'matching', value });
      const held = allHold(inIf, matches);
      const to = variables.textOf(replacement.replace(/\?.*$/, ''), withCaptures(given, matches));
      if (/^(?:redirect|permanent)$/.test(flag ?? '') || /^(?:https?:\/\/|\$scheme)/.test(replacement))
        when = allHold(when, not(held));
      else rewrites.push({ when: held, to, flag: flag === 'last' || flag === 'break' ? flag : undefined });
    }
    if (one.words[0] === 'if') {
      const held = inIf;
      const code = one.block?.find(({ words: [name] }) => name === 'return')?.words[1];
      const page = pages.find(({ words }) => words.slice(1, -1).includes(code ?? '') && words.at(-1)!.startsWith('@'));
      if (page !== undefined) redirects.push({ when: held, to: page.words.at(-1)! });
      else if (code !== undefined) when = allHold(when, not(held));
    }
    given = variables.setBy([one], given);
  }
  return { given, when, redirects, rewrites };
}
