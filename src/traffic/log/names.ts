// Names of fields: found as a person writes them, and shown to a person.
import { nearest } from '../../schema/did-you-mean.js';
import { Failure } from '../../schema/failure.js';
import { printable } from './intake.js';
import { type Layout, valuesOf } from './layout.js';

/** A name given by a person: as it is, else but for letter case. */
export function resolve(layout: Layout, told: string): string | undefined {
  if (layout.names.includes(told)) return told;
  const other = layout.names.find((name) => name.toLowerCase() === told.toLowerCase());
  return other ?? (valuesOf(layout, told).length > 0 ? told : undefined);
}

/**
 * The name that is the word but for letter case, a unit (`t_ms`), or how its parts are joined (`@timestamp`, `startTime`); of
 * nested fields also their last part (`request.remote_ip`).
 */
export function sameWord(names: readonly string[], word: string): string | undefined {
  const plain = plainWord(word);
  return (
    names.find((name) => name.toLowerCase() === word.toLowerCase()) ??
    names.find((name) => plainWord(name) === plain) ??
    names.find((name) => plainWord(name.replace(/[ _(.-]+(s|ms|us|ns)\)?$/i, '')) === plain) ??
    names.find((name) => name.includes('.') && plainWord(name.slice(name.lastIndexOf('.') + 1)) === plain)
  );
}

function plainWord(name: string): string {
  return name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');
}

export function missing(layout: Layout, told: string, path: string, option: string): Failure {
  const guess = nearest(told, layout.names);
  return new Failure('invalid_input', {
    what: `${path} has no ${layout.noun} ${told}.`,
    why: `It has ${listed(layout)}.`,
    fix: guess === undefined ? `Name one of them with ${option}.` : `Did you mean ${option} ${shown(guess)}?`,
  });
}

export function listed({ names, noun }: Layout): string {
  if (names.length === 0) return `no ${noun}s`;
  const more = names.length - 20;
  return `the ${noun}s ${names.slice(0, 20).map(shown).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** A name from the file, fit to be printed. */
export function shown(name: string): string {
  const bytes = Buffer.from(name);
  return name === '' ? '(empty)' : printable(bytes, 0, bytes.length);
}
