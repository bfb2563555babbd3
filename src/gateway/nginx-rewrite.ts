// What the rewrite module of nginx does with a request before the limits see it: variables, answers, redirects to a named location.
//
//   set $key ""; if ($request_method = POST) { set $key $remote_addr; }
//   if ($request_method = OPTIONS) { return 204; }
//   error_page 418 = @slow; if ($arg_slow) { return 418; }
//
// Source: ngx_http_rewrite_module of nginx.org. A server's directives run first, then those of the location itself.
import type { Directive } from './directives.js';
import type { Redirect } from './nginx-route.js';
import type { NginxVariables, SetVariables } from './nginx-variables.js';
import { ALWAYS, allHold, not, type RequestCondition } from './request-condition.js';

export interface Rewritten {
  readonly given: SetVariables;
  /** Of requests that are not answered yet. */
  readonly when: RequestCondition;
  readonly redirects: readonly Redirect[];
}

export const UNTOUCHED: Rewritten = { given: new Map(), when: ALWAYS, redirects: [] };

export function rewrittenBy(block: readonly Directive[], before: Rewritten, variables: NginxVariables): Rewritten {
  let { given, when } = before;
  const redirects = [...before.redirects];
  const pages = block.filter(({ words: [name] }) => name === 'error_page');
  for (const one of block) {
    if (one.words[0] === 'if') {
      const held = variables.conditionOf(one, given);
      const code = one.block?.find(({ words: [name] }) => name === 'return')?.words[1];
      const page = pages.find(({ words }) => words.slice(1, -1).includes(code ?? '') && words.at(-1)!.startsWith('@'));
      if (page !== undefined) redirects.push({ when: held, to: page.words.at(-1)! });
      else if (code !== undefined) when = allHold(when, not(held));
    }
    given = variables.setBy([one], given);
  }
  return { given, when, redirects };
}
