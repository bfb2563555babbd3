// Owns turning the example of a route into a request. Leaves sending it, and what is expected, to the tests.
import type { Route } from '../../src/node/route.js';

/** What an example leaves open: which machine and contract it is about. */
export interface About {
  readonly slug: string;
  readonly contractId: string;
  readonly keyId?: string;
}

export function pathOf({ path, example = {} }: Route, { slug, contractId, keyId = 'none' }: About): string {
  const params: Record<string, string> = { ...example.params, slug, contract_id: contractId, key_id: keyId };
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => params[name] ?? '');
  const query = new URLSearchParams(example.query ?? {}).toString();
  return query === '' ? filled : `${filled}?${query}`;
}

/** The body as text; a slug in it that is a machine's becomes `slug`, that of a new machine one that is free. */
export function bodyOf({ example = {}, path }: Route, { slug }: Pick<About, 'slug'>): string | undefined {
  const { body } = example;
  if (body === undefined) return undefined;
  if (Array.isArray(body)) return JSON.stringify(body);
  const isNew = path === '/api/chain/state-machines';
  const named = 'slug' in (body as object) ? { slug: isNew ? freeSlug() : slug } : {};
  const bound = 'machine' in (body as object) ? { machine: slug } : {};
  return JSON.stringify({ ...(body as object), ...named, ...bound });
}

/** The one status, beside problems, that the route declares. */
export function statusOf({ answers }: Route): number {
  return Number(Object.keys(answers).find((status) => Number(status) < 400));
}

let taken = 0;

function freeSlug(): string {
  taken += 1;
  return `another-${taken}`;
}

/** Whether the example of a route deletes the machine, or the contract, that it is about. */
export function endsMachine({ method, path }: Route): boolean {
  return method === 'DELETE' && path.startsWith('/api/chain/');
}
