// The limits of a piece of configuration (`paste` in a scenario), and of a file, for what runs them.
import type { LimitFileReader, Pasted, PastedLimiter, PlaceReader } from '../../core/limiter/products/limit-files.js';
import { Failure } from '../../core/schema/failure.js';
import { warn } from '../../report/command/say.js';
import { type GatewayLimits, leftOut } from './found.js';
import { stanzaLimits } from './stanzas.js';
import { notRead, unreadFormatOf, unreadIn } from './unread-formats.js';

export const limitFileReader: LimitFileReader = {
  ...{ placeReader, looksLikeStanza, readStanza, limitsIn, unread },
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
  const limiters = limitingPlaces(places).map(({ where, limits }) => ({ name: where || undefined, limits }));
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

/** Every command adds this reader, and few read a file of all formats. */
const allFormats = () => import('./limits-in.js');

/** @returns what throws Failure `invalid_definition` for a file without a limiter, or with several of which none is named */
async function placeReader(): Promise<PlaceReader> {
  const { limitersIn } = await allFormats();
  return (file, text, location) => {
    const { places, notUnderstood, unread: formats } = limitersIn(text, file);
    const all = limitingPlaces(places);
    if (all.length === 0 && formats[0] !== undefined) throw notRead(formats[0].format, file);
    const isAsked = ({ where }: { readonly where: string }) => location === undefined || where === location;
    for (const { line, what } of [...notUnderstood, ...leftOut({ places: places.filter(isAsked) })])
      warn(`weir: ${file}, line ${line}: ${what}.\n`);
    const [only, other] = all.filter(isAsked);
    if (only === undefined || other !== undefined) throw noSuchPlace(file, all);
    return only.limits.length === 1 ? only.limits[0]! : { and: only.limits };
  };
}

/** Those with a limit in force. */
function limitingPlaces(places: GatewayLimits['places']) {
  return places.flatMap(({ where, limiters }) => {
    const limits = limiters.flatMap(({ limit, isDryRun }) => (limit === undefined || isDryRun ? [] : [limit]));
    return limits.length === 0 ? [] : [{ where, limits }];
  });
}

export function noSuchPlace(file: string, places: readonly { readonly where: string }[]): Failure {
  const wheres = places.map(({ where }) => where || 'everywhere');
  return new Failure('invalid_definition', {
    what: places.length === 0 ? `No limit is read from ${file}.` : `${file} has ${places.length} places with limits.`,
    why: places.length === 0 ? undefined : `They are: ${wheres.join('; ')}.`,
    fix: places.length === 0 ? '`weir help rules` says what a file may hold.' : `Name one: '${file} at ${wheres[0]}'.`,
  });
}

async function limitsIn(text: string, name: string): ReturnType<LimitFileReader['limitsIn']> {
  const { limitersIn } = await allFormats();
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
