// Reads limits from response headers: RFC 9110 (Retry-After, dates), RFC 9651 (structured fields), and draft-ietf-httpapi-ratelimit-headers
// in its newer form (list of items) and its older one (dictionary). A malformed field is ignored as a whole.
//
//   Retry-After: 120                                   Retry-After: Sun, 06 Nov 1994 08:49:37 GMT
//   RateLimit: "day";r=100;t=36000, "hour";r=0;t=120   refused by "hour": 120 s
//   RateLimit-Policy: "hour";q=1000;w=3600             RateLimit: limit=100, remaining=0, reset=50
import { wallNowMs } from '../../core/time/wall.js';

type AnswerFields = Readonly<Record<string, unknown>>;

/** A member of `RateLimit` or `RateLimit-Policy`: its required and its optional number. */
type Policy = readonly [must: number, may: number | undefined];

/** `Retry-After` in ms, at least 0; undefined if absent. A date counts from the response's `Date`, else from now. */
export function retryAfterMsIn(fields: AnswerFields): number | undefined {
  const text = textOf(fields, 'retry-after');
  if (/^\d{1,12}$/.test(text)) return Number(text) * 1000;
  const untilMs = httpDateMs(text);
  if (untilMs === undefined) return undefined;
  return Math.max(0, untilMs - (httpDateMs(textOf(fields, 'date')) ?? wallNowMs()));
}

/**
 * `t` of the policy that refused, in ms; the longest of several with `r=0`; undefined without one.
 * A single policy is used whatever its `r`, because a request may cost more than 1.
 */
export function rateLimitMsIn(fields: AnswerFields): number | undefined {
  const policies = rateLimitIn(fields);
  const refusing = policies.length === 1 ? policies : policies.filter(([left]) => left === 0);
  const seconds = refusing.flatMap(([, wait]) => wait ?? []);
  return seconds.length === 0 ? undefined : Math.max(...seconds) * 1000;
}

/** The smallest `r` of `RateLimit`; undefined without it. */
export function remainingIn(fields: AnswerFields): number | undefined {
  const all = rateLimitIn(fields).map(([left]) => left);
  return all.length === 0 ? olderIn(fields).remaining : Math.min(...all);
}

/** `RateLimit` in the older form; empty for the newer one. */
export function olderIn(fields: AnswerFields): { limit?: number; remaining?: number; reset?: number } {
  const text = textOf(fields, 'ratelimit');
  if (!/^[a-z]+=\d{1,15}(?:[ \t]*,[ \t]*[a-z]+=\d{1,15})*$/.test(text)) return {};
  return Object.fromEntries([...text.matchAll(/([a-z]+)=(\d+)/g)].map(([, key, value]) => [key!, Number(value)]));
}

/** `q` of the first policy of `RateLimit-Policy`, and its `w` in ms. */
export function policyIn(fields: AnswerFields): Readonly<Record<'limit' | 'windowMs', number | undefined>> {
  const [limit, seconds] = policiesIn(textOf(fields, 'ratelimit-policy'), 'q', 'w')?.[0] ?? [];
  return { limit, windowMs: seconds && seconds * 1000 };
}

function rateLimitIn(fields: AnswerFields): readonly Policy[] {
  return policiesIn(textOf(fields, 'ratelimit'), 'r', 't') ?? [];
}

// Parses only the structured fields used here: a full parser would be half of the browser client.
const STRING = /"(?:[ !#-[\]-~]|\\["\\])*"/.source;
const OTHER = /-?\d{1,15}(?:\.\d{1,3})?|[A-Za-z*][\w!#$%&'*+.^`|~:/-]*|:[A-Za-z0-9+/=]*:|\?[01]|@-?\d{1,15}/.source;
const PARAMETER = `; *([a-z*][a-z0-9_.*-]*)(?:=(%?${STRING}|${OTHER}))?`;
const ITEM = new RegExp(`${STRING}((?:${PARAMETER})*)(?:[ \\t]*,[ \\t]*(?!$)|$)`, 'y');
const PARAMETERS = new RegExp(PARAMETER, 'g');

/** Undefined for a malformed list or a member that is not a policy. */
function policiesIn(text: string, must: string, may: string): Policy[] | undefined {
  const policies: Policy[] = [];
  ITEM.lastIndex = 0;
  for (let at = 0; at < text.length; at = ITEM.lastIndex) {
    const item = ITEM.exec(text);
    if (item === null) return undefined;
    const policy: { must?: number; may?: number } = {};
    for (const [, key, value = ''] of item[1]!.matchAll(PARAMETERS)) {
      const place = key === must ? 'must' : key === may ? 'may' : undefined;
      if (place === undefined) continue;
      if (!/^\d+$/.test(value)) return undefined;
      policy[place] = Number(value);
    }
    if (policy.must === undefined) return undefined;
    policies.push([policy.must, policy.may]);
  }
  return policies;
}

/**
 * An HTTP date in any of its three forms, in ms; undefined for other text. A two-digit year is at most 50 years ahead.
 *
 *   Sun, 06 Nov 1994 08:49:37 GMT     Sunday, 06-Nov-94 08:49:37 GMT     Sun Nov  6 08:49:37 1994
 */
export function httpDateMs(text: string): number | undefined {
  const inOrder = text.replace(/^(\w{3}) (\w{3}) ([ \d]\d) ([\d:]{8}) (\d{4})$/, '$1, $3 $2 $5 $4 GMT');
  const [, day, month, year = '', time] =
    /^\w{3,9}, ([ \d]\d)[ -](\w{3})[ -](\d\d|\d{4}) ([\d:]{8}) GMT$/.exec(inOrder) ?? [];
  const now = new Date(wallNowMs()).getUTCFullYear();
  const near = now - (now % 100) + Number(year);
  const full = year.length === 4 ? year : near > now + 50 ? near - 100 : near;
  const ms = Date.parse(`${day} ${month} ${full} ${time} GMT`);
  return new Date(ms).getUTCDate() === Number(day) ? ms : undefined;
}

/** Joins the lines of a field; empty if absent. */
function textOf(fields: AnswerFields, name: string): string {
  const value = fields[name] ?? '';
  return (Array.isArray(value) ? value.join(', ') : String(value)).trim();
}
