// The limits of a piece of configuration (`paste` in a scenario), and of a file, for what runs them.
import type { LimitFileReader, Pasted, PastedLimiter } from '../../core/limiter/products/limit-files.js';
import { Failure } from '../../core/schema/failure.js';
import { leftOut } from './found.js';
import { stanzaLimits } from './stanzas.js';
import { notRead, unreadFormatOf, unreadIn } from './unread-formats.js';

export const limitFileReader: LimitFileReader = {
  placeReader: async () => (await import('./limit-at.js')).limiterAt,
  ...{ looksLikeStanza, readStanza, limitsIn, unread },
};

function looksLikeStanza(text: string): boolean {
  const isNginx = /\blimit_(req|conn)(_zone)?\s.*[;}]\s*(\bat\s[^;{}]*)?$/s.test(text);
  return (
    isNginx ||
    unreadIn(text) !== undefined ||
    /\bstick-table\s|\bsc\d?_(http_req|gpc0)_|\bserver\s[^\n]*\bmaxconn\s+\d/.test(text)
  );
}

function readStanza(text: string): Pasted {
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

async function limitsIn(text: string, name: string): ReturnType<LimitFileReader['limitsIn']> {
  // Every command adds this reader, and few read a file of all formats.
  const { limitersIn } = await import('./limits-in.js');
  const { limiters, notUnderstood, notApplied, unread: formats } = limitersIn(text, name);
  const limits = limiters.flatMap(({ name: limiter, where, limit, line }) =>
    limit === undefined ? [] : [{ words: `${limiter}${where === '' ? '' : `, ${where}`} (line ${line})`, limit }],
  );
  const notes = [...notUnderstood, ...notApplied].map(({ line, what }) => `line ${line}: ${what}`);
  return { limits, notes, refusal: formats[0] && notRead(formats[0].format, name) };
}

function unread(file: string, text: string): Failure | undefined {
  const format = unreadFormatOf(file, text);
  return format && notRead(format, file);
}
