// The limiter at one place in a file of a gateway.
import type { PlaceReader } from '../../core/limiter/products/limit-files.js';
import { Failure } from '../../core/schema/failure.js';
import { warn } from '../../report/command/say.js';
import { leftOut } from './found.js';
import { limitersIn } from './limits-in.js';
import { notRead } from './unread-formats.js';

/** @throws Failure `invalid_definition` if the file has no limiter, or several and none is named */
export const limiterAt: PlaceReader = (file, text, location) => {
  const { places, notUnderstood, unread } = limitersIn(text, file);
  const all = places.flatMap(({ where, limiters }) => {
    const limits = limiters.flatMap(({ limit, isDryRun }) => (limit === undefined || isDryRun ? [] : [limit]));
    return limits.length === 0 ? [] : [{ where, limits }];
  });
  if (all.length === 0 && unread[0] !== undefined) throw notRead(unread[0].format, file);
  const isAsked = ({ where }: { readonly where: string }) => location === undefined || where === location;
  for (const { line, what } of [...notUnderstood, ...leftOut({ places: places.filter(isAsked) })])
    warn(`weir: ${file}, line ${line}: ${what}.\n`);
  const [only, other] = all.filter(isAsked);
  if (only === undefined || other !== undefined) throw noSuchPlace(file, all);
  return only.limits.length === 1 ? only.limits[0]! : { and: only.limits };
};

export function noSuchPlace(file: string, places: readonly { readonly where: string }[]): Failure {
  const wheres = places.map(({ where }) => where || 'everywhere');
  return new Failure('invalid_definition', {
    what: places.length === 0 ? `No limit is read from ${file}.` : `${file} has ${places.length} places with limits.`,
    why: places.length === 0 ? undefined : `They are: ${wheres.join('; ')}.`,
    fix: places.length === 0 ? '`weir help rules` says what a file may hold.' : `Name one: '${file} at ${wheres[0]}'.`,
  });
}
