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
import { ALWAYS, allHold, missing, needsOf, not, oneHolds, type RequestCondition } from './request-condition.js';

export const READS =
  /\bsc\d?_|\bsrc_(?:\w+_(?:rate|cnt|cur)|get_gp|inc_gp)|table_|\b[bf]e_(?:sess_rate|req_rate|conn)\b|\b(?:(?:avg_|srv_)?queue|srv_conn|connslots)\(/;

export class SectionConditions {
  readonly #acls = new Map<string, ConfigLine[]>();

  constructor(readonly section: ConfigSection) {
    for (const line of section.lines) {
      const [word, name = ''] = line.words;
      if (word === 'acl') this.#acls.set(name, [...(this.#acls.get(name) ?? []), line]);
    }
  }

  /** Of terms: those between `or` all hold. */
  of(terms: readonly ConditionTerm[]): RequestCondition {
    const alternatives = alternativesOf(terms).map((some) => allHold(...some.map((term) => this.#termOf(term))));
    return oneHolds(...alternatives);
  }

  #termOf(term: ConditionTerm): RequestCondition {
    const texts = this.textsOf(term);
    const held =
      texts.length === 0
        ? (predefined(term.text) ?? missing(`what ${term.text} asks`))
        : oneHolds(...texts.map((text) => predefined(text) ?? conditionOfAcl(text)));
    return term.isNegated ? not(held) : held;
  }

  /** When a line is in force: not if an earlier one of its kind has ended the evaluation. */
  inForce(line: ConfigLine): RequestCondition {
    return allHold(this.#asked(line), this.reached(line));
  }

  /** After `if` or `unless`; without them: always. */
  #asked(line: ConfigLine): RequestCondition {
    const { word, terms } = conditionOf(line);
    return word === 'unless' ? not(this.of(terms)) : this.of(terms);
  }

  reached(line: ConfigLine): RequestCondition {
    const [, kind = ''] = /^(http-request|tcp-request\s+\w+)\s/.exec(line.text) ?? [];
    if (kind === '') return ALWAYS;
    const before = this.section.lines.filter((one) => one.line < line.line && one.text.startsWith(`${kind} `));
    return allHold(
      ...before.flatMap((one) => {
        const rest = one.text.slice(kind.length + 1);
        const isAllowing = /^(?:allow|accept)\b/.test(rest);
        if (!isAllowing && !/^(?:deny|tarpit|reject|silent-drop|return|redirect)\b/.test(rest)) return [];
        const { terms } = conditionOf(one);
        if (terms.some((term) => this.textsOf(term).some((text) => READS.test(text)))) return [];
        const ends = this.#asked(one);
        // What is refused anyway is no matter of a limit.
        return !isAllowing && needsOf([ends]).missing.size > 0 ? [] : [not(ends)];
      }),
    );
  }

  /** Requests that its lines send to a backend, the first that fits. */
  goingTo(name: string): RequestCondition {
    const chosen: RequestCondition[] = [];
    let left = ALWAYS;
    for (const line of this.section.lines.filter(({ text }) => text.startsWith('use_backend '))) {
      const held = this.#asked(line);
      if (line.words[1] === name) chosen.push(allHold(left, held));
      left = allHold(left, not(held));
    }
    const otherwise = this.section.lines.find(({ text }) => text.startsWith('default_backend '));
    if (otherwise?.words[1] === name) chosen.push(left);
    return oneHolds(...chosen);
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
