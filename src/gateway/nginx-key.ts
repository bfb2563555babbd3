// The key of an nginx zone: variables, and their values from `map` or `geo`.
//
//   map $limited $key { 1 $binary_remote_addr; }       the address; if $limited is not 1, the key is empty and nothing is counted
import type { Directive } from './directives.js';
import { type KeyPart, keyOfAll, type LimitKey, unknownKey } from './found.js';

/** @param names of each server @param sayEmpty reports where and when the key is empty */
export function zoneKey(
  text: string,
  maps: readonly Directive[],
  names: readonly (readonly string[])[],
  sayEmpty: (at: Directive, when: string) => void,
): LimitKey {
  if (text === '$server_name') return keyOfServer(names);
  const map = maps.find(({ words }) => words.at(-1) === text || `\${${words.at(-1)?.slice(1)}}` === text);
  if (map === undefined) return keyOfVariables(text);
  const others = maps.filter((one) => one !== map);
  const isGeo = map.words[0] === 'geo';
  const included = map.block!.find(({ words }) => words[0] === 'include');
  if (included !== undefined) return unknownKey(`${text}, by ${included.words[1]}`);
  const rows = map.block!.filter(
    ({ words }) => words.length === 2 && !/^(?:hostnames|volatile|ranges|proxy|delete)$/.test(words[0]!),
  );
  const hasDefault = rows.some(({ words }) => words[0] === 'default');
  const empty = rows.find(({ words }) => words[1] === '');
  const source = others.find(({ words }) => words.at(-1) === map.words[1]);
  const written = [map, ...(source === undefined ? [] : [source])].map(mapText).join('; ');
  if (empty !== undefined) sayEmpty(empty, `as for "${empty.words[0]}" of ${written}`);
  else if (!hasDefault) sayEmpty(map, `where nothing fits of ${written}`);
  const given = [...new Set(rows.map(({ words }) => words[1]!).filter((value) => value !== ''))];
  // Values of geo are literal, even with a leading $.
  const keys = given.map((value) => (isGeo ? { text: value, parts: [] } : zoneKey(value, others, names, sayEmpty)));
  const [first] = keys;
  const isOne =
    first !== undefined &&
    keys.every(({ parts }) => parts?.join() === first.parts?.join()) &&
    (first.parts?.length !== 0 || given.length === 1);
  return { text: `${text}: ${given.join(' or ')}`, parts: isOne ? first.parts : undefined };
}

const MOST_TEXT = 300;

/** As it is written, so that a change of exemptions is seen. */
function mapText({ words, block }: Directive): string {
  const text = `${words.join(' ')} { ${block!.map((row) => row.words.map((word) => word || '""').join(' ')).join('; ')} }`;
  return text.length <= MOST_TEXT ? text : `${text.slice(0, MOST_TEXT)}… of ${block!.length} lines`;
}

/** The server's first name: equals the host if each server has one name; constant for a single server. */
function keyOfServer(names: readonly (readonly string[])[]): LimitKey {
  const text = '$server_name';
  if (names.length === 1) return { text, parts: [] };
  const isHost = names.every((some) => some.length === 1 && /^[\w-]/.test(some[0]!));
  return isHost ? { text, parts: ['host'] } : unknownKey(text);
}

const kinds: Readonly<Record<string, KeyPart>> = {
  client: 'client',
  remote_addr: 'client',
  binary_remote_addr: 'client',
  host: 'host',
  http_host: 'host',
  uri: 'path',
  document_uri: 'path',
  remote_user: 'user',
  request_method: 'method',
};

/** A key of nginx variables: `$binary_remote_addr$uri`. */
function keyOfVariables(text: string): LimitKey {
  return keyOfAll(
    text,
    [...text.matchAll(/\$\{?(\w+)\}?/g)].map(([, name]) => kinds[name!]),
  );
}
