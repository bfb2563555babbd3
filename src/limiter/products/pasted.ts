// Reads a limiter from a piece of configuration (`paste` in a scenario): see src/gateway.
import { type Like, leftOut } from '../../gateway/found.js';
import { stanzaLimits } from '../../gateway/stanzas.js';
import { notRead, unreadIn } from '../../gateway/unread-formats.js';
import { Failure } from '../../schema/failure.js';

export function looksLikeStanza(text: string): boolean {
  const isNginx = /\blimit_(req|conn)(_zone)?\s.*[;}]\s*(\bat\s[^;{}]*)?$/s.test(text);
  return (
    isNginx ||
    unreadIn(text) !== undefined ||
    /\bstick-table\s|\bsc\d?_(http_req|gpc0)_|\bserver\s[^\n]*\bmaxconn\s+\d/.test(text)
  );
}

interface PastedLimiter {
  /** `location /api`, with its server if there are several; undefined for a stanza without places. */
  readonly name: string | undefined;
  readonly limits: readonly Like[];
}

interface Pasted {
  readonly limiters: readonly PastedLimiter[];
  readonly notes: readonly string[];
}

/** One limiter for each place with limits of its own. @throws Failure `invalid_definition` without any */
export function readStanza(text: string): Pasted {
  const { places, notUnderstood, notApplied, unread } = stanzaLimits(text);
  const notes = [...notUnderstood, ...notApplied, ...leftOut({ places })]
    .sort((a, b) => a.line - b.line)
    .map(({ line, what }) => `Line ${line}: ${what}.`);
  const limiters = places.flatMap(({ where, limiters: all }) => {
    const limits = all.flatMap(({ limit, isDryRun }) => (limit === undefined || isDryRun ? [] : [limit]));
    return limits.length === 0 ? [] : [{ name: where === '' ? undefined : where, limits }];
  });
  if (limiters.length === 0 && unread[0] !== undefined) throw notRead(unread[0].format);
  if (limiters.length === 0)
    throw new Failure('invalid_definition', {
      what: 'The stanza cannot be read as a limiter.',
      why: ['No limit is in force.', ...notes].join(' '),
      fix: 'Paste limit_req_zone with limit_req, a stick-table with the http-request deny that reads it, or a whole file of nginx or HAProxy.',
    });
  const isTwice = ({ name }: PastedLimiter) => limiters.filter((one) => one.name === name).length > 1;
  const distinct = limiters.map((one, i) => (isTwice(one) ? { ...one, name: `${one.name}, number ${i + 1}` } : one));
  return { limiters: distinct, notes };
}

export function placesIn(text: string): string[] {
  return readStanza(text).limiters.flatMap(({ name }) => name ?? []);
}
