// The conditions of a section of HAProxy: its acls, when a rule is in force, and what goes to a backend.
//
//   acl api path_beg /api                  http-request allow if { src 10.0.0.0/8 }       ends the rules for these requests
//   use_backend a if api                   default_backend b                              b: what is not of api
import { conditionOfAcl, predefined } from './haproxy-conditions.js';
import {
  alternativesOf,
  type ConditionTerm,
  type ConfigLine,
  type ConfigSection,
  conditionOf,
} from './haproxy-lines.js';
import * as ask from './request-condition.js';

export const READS =
  /\bsc\d?_|\bsrc_(?:\w+_(?:rate|cnt|cur)|get_gp|inc_gp)|table_|\b[bf]e_(?:sess_rate|req_rate|conn)\b|\b(?:(?:avg_|srv_)?queue|srv_conn|connslots)\(/;

/** Fields of a log that are changed with a part of a request, or with a header. */
const CHANGED: Readonly<Record<string, readonly ask.RequestField[]>> = {
  path: ['path', 'url'],
  pathq: ['path', 'url', 'query'],
  uri: ['path', 'url', 'query'],
  query: ['query', 'url'],
  method: ['method'],
  'header host': ['host'],
  'header user-agent': ['agent'],
  'header referer': ['referer'],
};

interface Change {
  readonly line: ConfigLine;
  readonly fields: readonly ask.RequestField[];
  readonly fits: ask.RequestCondition;
  readonly what: string;
}

function changeOf(line: ConfigLine): Change[] {
  const [kind, action = '', first = ''] = line.words;
  const [, verb, part = ''] = /^(set|replace|del|add)-(\w+)$/.exec(action) ?? [];
  if (kind !== 'http-request') return [];
  const isHeader = part === 'header' || part === 'value';
  const fields = CHANGED[isHeader ? `header ${first.toLowerCase()}` : part];
  if (fields === undefined) return [];
  const old = ask.fieldText(part === 'path' ? 'path' : 'url');
  const fits = verb === 'replace' && !isHeader ? ask.tested(old, { is: 'matching', value: first }) : ask.ALWAYS;
  return [{ line, fields, fits, what: `what ${action} gives` }];
}

export class SectionConditions {
  readonly #acls = new Map<string, ConfigLine[]>();
  readonly #changes: readonly Change[];

  constructor(readonly section: ConfigSection) {
    this.#changes = section.lines.flatMap(changeOf);
    for (const line of section.lines) {
      const [word, name = ''] = line.words;
      if (word === 'acl') this.#acls.set(name, [...(this.#acls.get(name) ?? []), line]);
    }
  }

  #termOf(term: ConditionTerm): ask.RequestCondition {
    const texts = this.textsOf(term);
    const held =
      texts.length === 0
        ? (predefined(term.text) ?? ask.missing(`what ${term.text} asks`))
        : ask.oneHolds(...texts.map((text) => predefined(text) ?? conditionOfAcl(text)));
    return term.isNegated ? ask.not(held) : held;
  }

  /** When a line is in force: not if an earlier one of its kind has ended the evaluation. */
  inForce(line: ConfigLine): ask.RequestCondition {
    return ask.allHold(this.#asked(line), this.reached(line));
  }

  /** After `if` or `unless`; without them: always. */
  #asked(line: ConfigLine): ask.RequestCondition {
    return this.#afterChanges(line, this.#said(line));
  }

  /** As it is written. */
  #said(line: ConfigLine): ask.RequestCondition {
    const { word, terms } = conditionOf(line);
    return word === 'unless' ? ask.not(this.#joined(terms)) : this.#joined(terms);
  }

  /** Of terms of a line: those between `or` all hold. */
  of(line: ConfigLine, terms: readonly ConditionTerm[]): ask.RequestCondition {
    return this.#afterChanges(line, this.#joined(terms));
  }

  /** Where an earlier line has changed what is asked, the log does not say. */
  #afterChanges(line: ConfigLine, asked: ask.RequestCondition): ask.RequestCondition {
    return this.#changed(asked, line).reduce((held, one) => {
      const own = this.#said(one.line);
      const when = this.#changed(own, one.line).length === 0 ? own : ask.missing(one.what);
      const touched = ask.allHold(when, one.fits);
      return ask.oneHolds(ask.allHold(ask.not(touched), held), ask.allHold(touched, ask.missing(one.what)));
    }, asked);
  }

  #joined(terms: readonly ConditionTerm[]): ask.RequestCondition {
    const alternatives = alternativesOf(terms).map((some) => ask.allHold(...some.map((term) => this.#termOf(term))));
    return ask.oneHolds(...alternatives);
  }

  #changed(asked: ask.RequestCondition, line: ConfigLine): readonly Change[] {
    const { fields } = ask.needsOf([asked]);
    // A backend is chosen after all of them, on whichever line.
    const isBefore = (one: Change) => one.line.line < line.line || line.text.startsWith('use_backend ');
    return this.#changes.filter((one) => isBefore(one) && one.fields.some((field) => fields.has(field)));
  }

  readsCount(line: ConfigLine): boolean {
    return conditionOf(line).terms.some((term) => this.textsOf(term).some((text) => READS.test(text)));
  }

  reached(line: ConfigLine): ask.RequestCondition {
    const [, kind = ''] = /^(http-request|tcp-request\s+\w+)\s/.exec(line.text) ?? [];
    if (kind === '') return ask.ALWAYS;
    const before = this.section.lines.filter((one) => one.line < line.line && one.text.startsWith(`${kind} `));
    return ask.allHold(
      ...before.flatMap((one) => {
        const rest = one.text.slice(kind.length + 1);
        const isAllowing = /^(?:allow|accept)\b/.test(rest);
        if (!isAllowing && !/^(?:deny|tarpit|reject|silent-drop|return|redirect)\b/.test(rest)) return [];
        if (this.readsCount(one)) return [];
        const ends = this.#asked(one);
        // What is refused anyway is no matter of a limit.
        return !isAllowing && ask.needsOf([ends]).missing.size > 0 ? [] : [ask.not(ends)];
      }),
    );
  }

  /** Requests that its lines send to a backend, the first that fits. */
  goingTo(name: string): ask.RequestCondition {
    const chosen: ask.RequestCondition[] = [];
    let left = ask.ALWAYS;
    for (const line of this.section.lines.filter(({ text }) => text.startsWith('use_backend '))) {
      const held = this.#asked(line);
      if (line.words[1] === name) chosen.push(ask.allHold(left, held));
      left = ask.allHold(left, ask.not(held));
    }
    const otherwise = this.section.lines.find(({ text }) => text.startsWith('default_backend '));
    if (otherwise?.words[1] === name) chosen.push(left);
    return ask.oneHolds(...chosen);
  }

  /** With what an acl says. */
  wordsOf(terms: readonly ConditionTerm[]): string {
    return terms
      .map((term) => {
        const acls = this.#acls.has(term.text) ? ` (${this.textsOf(term).join(', ')})` : '';
        return `${term.isNegated ? '!' : ''}${term.text}${acls}`;
      })
      .join(' ');
  }

  textsOf({ text }: ConditionTerm): readonly string[] {
    if (text.startsWith('{')) return [text.replace(/^\{\s*|\s*\}$/g, '')];
    return (this.#acls.get(text) ?? []).map(({ words }) => words.slice(2).join(' '));
  }
}
