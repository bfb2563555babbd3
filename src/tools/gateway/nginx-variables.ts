// Variables of nginx as texts of a request: its own, those of `map` and `geo`, and those that `set` gives within a server.
//
//   map $uri $kind { default small; "~*\.full\.jpg" big; }
//   map $kind $key { default $binary_remote_addr; small ""; }      $key: "" if $kind is small, else the client
//
// Sources: ngx_http_map_module, ngx_http_geo_module, ngx_http_core_module and ngx_http_rewrite_module of nginx.org.
import { isRange } from './address-range.js';
import type { Directive } from './directives.js';
import { nameRank } from './found.js';
import { keyOfText, type LimitKey } from './limit-key.js';
import type { Redirect, Rewrite } from './nginx-route.js';
import * as ask from './request-condition.js';

/** What `set` has given by now, by name. */
type SetVariables = ReadonlyMap<string, ask.RequestText>;

const FIELDS: Readonly<Record<string, ask.RequestField>> = {
  remote_addr: 'client',
  binary_remote_addr: 'client',
  host: 'host',
  http_host: 'host',
  request_uri: 'url',
  args: 'query',
  query_string: 'query',
  remote_user: 'user',
  request_method: 'method',
  http_user_agent: 'agent',
  http_referer: 'referer',
};

const MOST_DEPTH = 20;

export const URI: ask.RequestText = { kind: 'normal', of: ask.fieldText('path') };

export class NginxVariables {
  /** @param maps directives `map` and `geo` */
  constructor(readonly maps: readonly Directive[]) {}

  /** A text with variables: `$binary_remote_addr$request_uri`. */
  textOf(text: string, given: SetVariables, depth = 0): ask.RequestText {
    const parts = text.split(/(\$\{\w+\}|\$\w+)/).filter((part) => part !== '');
    if (parts.length === 0) return ask.literalText('');
    return ask.joinedText(
      parts.map((part) => {
        const [, name] = /^\$\{?(\w+)\}?$/.exec(part) ?? [];
        return name === undefined ? ask.literalText(part) : this.#variable(name, given, depth);
      }),
    );
  }

  #variable(name: string, given: SetVariables, depth: number): ask.RequestText {
    const known = given.get(name);
    if (known !== undefined) return known;
    const map = this.maps.findLast(({ words }) => words.at(-1) === `$${name}`);
    if (depth > MOST_DEPTH) return ask.missing(`$${name}, which leads to itself`);
    if (map !== undefined) {
      const included = map.block?.find(({ words: [first] }) => first === 'include');
      if (included !== undefined) return ask.missing(`$${name}, by ${included.words[1]}`);
      return map.words[0] === 'geo' ? this.#geo(map, given, depth + 1) : this.#map(map, given, depth + 1);
    }
    if (name === 'uri' || name === 'document_uri') return URI;
    const field = FIELDS[name];
    if (field !== undefined) return ask.fieldText(field);
    // Limits come before the answer, which has no status yet.
    if (name === 'status') return ask.literalText('000');
    const isEmpty = ask.tested(ask.fieldText('query'), ask.equalTo(''));
    if (name === 'is_args') return ask.choiceText([{ when: isEmpty, text: ask.literalText('') }], ask.literalText('?'));
    const [, kind, own = ''] = /^(arg|cookie|http)_(\w+)$/.exec(name) ?? [];
    if (kind === 'arg') return ask.argumentText(own, true);
    if (kind === 'cookie') return ask.missing('a cookie');
    return ask.missing(kind === 'http' ? `the header ${own.replaceAll('_', '-')}` : `$${name}`);
  }

  /** Texts without regard to their case first, then names of hosts as of a server, then expressions in their order. */
  #map({ words, block = [] }: Directive, given: SetVariables, depth: number): ask.RequestText {
    const source = this.textOf(words[1] ?? '', given, depth);
    const rows = rowsOf(block);
    const hasHosts = block.some((row) => row.words[0] === 'hostnames');
    const rank = (text: string) => (hasHosts || text.startsWith('~') ? nameRank(text) : 0);
    const choices = rows
      .filter(({ text }) => text !== 'default')
      .sort((a, b) => rank(a.text) - rank(b.text))
      .map((row) => {
        const when = mapped(source, row.text, rank(row.text));
        return { when, text: this.textOf(row.value, withCaptures(given, when), depth) };
      });
    return ask.choiceText(choices, this.textOf(defaultOf(rows), given, depth));
  }

  /** The narrowest network first, of equal ones the last; ranges in the opposite order. Values are texts, even with a leading $. */
  #geo({ words, block = [] }: Directive, given: SetVariables, depth: number): ask.RequestText {
    const source = words.length > 2 ? this.textOf(words[1]!, given, depth) : ask.fieldText('client');
    const lengthOf = (range: string) => Number(/\/(\d+)$/.exec(range)?.[1] ?? 128);
    const isDeleted = (range: string, i: number) =>
      block.slice(i).some(({ words: [name, deleted] }) => name === 'delete' && deleted === range);
    const choices = block
      .flatMap(({ words: [range = '', value = ''] }, i) =>
        isRange(range) && !isDeleted(range, i) ? { range, value } : [],
      )
      .reverse()
      .sort((a, b) => lengthOf(b.range) - lengthOf(a.range))
      .map(({ range, value }) => ({
        when: ask.tested(source, { is: 'within', ranges: [range] }),
        text: ask.literalText(value),
      }));
    return ask.choiceText(choices, ask.literalText(defaultOf(rowsOf(block))));
  }

  /** Of an `if`: `($request_method = POST)`. */
  conditionOf({ words }: Directive, given: SetVariables): ask.RequestCondition {
    const text = words
      .slice(1)
      .join(' ')
      .trim()
      .replace(/^\(\s*|\s*\)$/g, '');
    const [, name, sign, value = ''] = /^(\$\S+?)(?:\s*(!?~\*?|!?=)\s*(.*))?$/s.exec(text) ?? [];
    if (name === undefined) return ask.missing(`whether ${text}`);
    const own = this.textOf(name, given);
    if (sign === undefined)
      return ask.not(ask.oneHolds(ask.tested(own, ask.equalTo('')), ask.tested(own, ask.equalTo('0'))));
    const test: ask.TextTest = sign.includes('~')
      ? { is: 'matching', value, ignoresCase: sign.endsWith('*') }
      : ask.equalTo(value);
    const held = ask.tested(own, test);
    return sign.startsWith('!') ? ask.not(held) : held;
  }

  /** Of a zone. */
  keyOf(text: string, given: SetVariables): LimitKey {
    return keyOfText(this.#title(text), this.textOf(text, given));
  }

  /** With the values of its map. */
  #title(text: string): string {
    const map = this.maps.findLast(({ words }) => words.at(-1) === text || `\${${words.at(-1)?.slice(1)}}` === text);
    const values = [...new Set(rowsOf(map?.block ?? []).flatMap(({ value }) => (value === '' ? [] : [value])))];
    return map === undefined ? text : `${text}: ${values.join(' or ')}`;
  }
}

/** With `$1` to `$9` and the names of groups, if the condition is an expression. */
function withCaptures(given: SetVariables, condition: ask.RequestCondition): SetVariables {
  if (condition.kind !== 'test' || condition.test.is !== 'matching') return given;
  const { text: of, test } = condition;
  const named = [...test.value.matchAll(/\(\?P?<(\w+)>/g)].map(([, name]) => name!);
  const groups = [...'123456789', ...named];
  return new Map([...given, ...groups.map((group) => [group, { kind: 'captured', of, test, group }] as const)]);
}

function rowsOf(block: readonly Directive[]): { readonly text: string; readonly value: string }[] {
  return block.flatMap(({ words }) =>
    words.length === 2 && !/^(?:include|proxy|delete)$/.test(words[0]!) ? [{ text: words[0]!, value: words[1]! }] : [],
  );
}

const defaultOf = (rows: ReturnType<typeof rowsOf>) => rows.find(({ text }) => text === 'default')?.value ?? '';

function mapped(source: ask.RequestText, text: string, rank: number): ask.RequestCondition {
  if (text.startsWith('~')) {
    const ignoresCase = text.startsWith('~*');
    return ask.tested(source, { is: 'matching', value: text.slice(ignoresCase ? 2 : 1), ignoresCase });
  }
  const plain = text.replace(/^\\/, '');
  if (rank === 0) return ask.tested(source, ask.equalTo(plain, true));
  const [is, value] = plain.endsWith('*') ? (['prefix', plain.slice(0, -1)] as const) : (['suffix', plain] as const);
  if (!plain.startsWith('.')) return ask.tested(source, { is, value: value.replace(/^\*/, ''), ignoresCase: true });
  return ask.oneHolds(
    ask.tested(source, ask.equalTo(plain.slice(1), true)),
    ask.tested(source, { is, value, ignoresCase: true }),
  );
}

// What the rewrite module does with a request before the limits see it: variables, answers, redirects to a named location.
//
//   set $key ""; if ($request_method = POST) { set $key $remote_addr; }
//   if ($request_method = OPTIONS) { return 204; }
//   error_page 418 = @slow; if ($arg_slow) { return 418; }
//   rewrite ^/old/(.*) /new/$1 last;                 then the location of the new path; an answer, if it leads to another host
//   rewrite ^/a /b last; return 404;                 answers what is not of /a: a flag and `break` end the block
export interface Rewritten {
  readonly given: SetVariables;
  /** Of requests that are not answered yet. */
  readonly when: ask.RequestCondition;
  /** What answers all of them. */
  readonly answers?: Directive | undefined;
  readonly redirects: readonly Redirect[];
  /** Of this block alone. */
  readonly rewrites: readonly Rewrite[];
}

export const UNTOUCHED: Rewritten = { given: new Map(), when: ask.ALWAYS, redirects: [], rewrites: [] };

/** A server's directives run first, then those of the location itself. */
export function rewrittenBy(block: readonly Directive[], before: Rewritten, variables: NginxVariables): Rewritten {
  const given = new Map(before.given);
  let { when, answers } = before;
  // Requests that reach the next directive; for rewrites without those that a flag stops: it is asked by the path of its turn.
  let [left, unbroken] = [ask.ALWAYS, ask.ALWAYS];
  const redirects = [...before.redirects];
  const rewrites: Rewrite[] = [];
  const pages = block.filter(({ words: [name] }) => name === 'error_page');
  for (const one of block) {
    const isIf = one.words[0] === 'if';
    const inIf = isIf ? variables.conditionOf(one, given) : ask.ALWAYS;
    for (const {
      words: [name, first = '', text = '', flag],
    } of isIf ? (one.block ?? []) : [one]) {
      const run = ask.allHold(left, inIf);
      if (name === 'set') {
        const key = first.replace(/^\$\{?|\}$/g, '');
        const old = variables.textOf(`$${key}`, given);
        const value = variables.textOf(text, withCaptures(given, inIf));
        given.set(key, ask.isAlways(run) ? value : ask.choiceText([{ when: run, text: value }], old));
      } else if (name === 'rewrite') {
        const matches = ask.tested(URI, { is: 'matching', value: first });
        const held = ask.allHold(inIf, matches);
        const to = variables.textOf(text.replace(/\?.*$/, ''), withCaptures(given, matches));
        if (/^(?:redirect|permanent)$/.test(flag ?? '') || /^(?:https?:\/\/|\$scheme)/.test(text))
          when = ask.allHold(when, ask.not(ask.allHold(left, held)));
        else {
          const ends = flag === 'last' || flag === 'break' ? flag : undefined;
          rewrites.push({ when: ask.allHold(unbroken, held), to, flag: ends });
          if (ends !== undefined) left = ask.allHold(left, ask.not(held));
        }
      } else if (name === 'break') {
        unbroken = ask.allHold(unbroken, ask.not(inIf));
        left = ask.allHold(left, ask.not(inIf));
      } else if (name === 'return') {
        const page = pages.find(({ words }) => words.slice(1, -1).includes(first) && words.at(-1)!.startsWith('@'));
        if (isIf && page !== undefined) redirects.push({ when: run, to: page.words.at(-1)! });
        else if (ask.isAlways(run)) answers ??= one;
        else when = ask.allHold(when, ask.not(run));
      }
    }
  }
  return { given, when, answers, redirects, rewrites };
}
