// `weir client undici`: how a client library retries, what it makes of failures, and what a limiter sees of it; without a name, all that are known.
import { type ClientLibrary, clientLibraries } from '../actor/client/libraries.js';
import type { RetrySpec } from '../actor/client/retry-schema.js';
import { choice, command } from './command.js';
import { print } from './node-command.js';
import { json } from './options.js';
import { table } from './terminal.js';

type LibraryName = keyof typeof clientLibraries;

const names = Object.keys(clientLibraries) as LibraryName[];

const options = {
  name: choice(names, 'the library', { place: true }),
  json,
};

export const client = command({
  options,
  examples: [
    ['client', 'all libraries, and how each retries'],
    ['client aws-sdk-2026', 'one of them: attempts at failures, and what a limiter sees of a burst'],
  ],
  run: async ({ name, json }) => {
    if (name === undefined) return list(json);
    const { clientProfile } = await import('./client-profile.js');
    print(await clientProfile(name, libraryOf(name)), json);
  },
});

function libraryOf(name: LibraryName): ClientLibrary {
  return clientLibraries[name];
}

function list(json: boolean): void {
  const rows = Object.entries(clientLibraries).map(([name, { library, held, client }]) => ({
    name,
    library,
    held,
    client,
  }));
  const cells = rows.map(({ name, library, held, client }) => [
    name,
    String(client.max_attempts ?? 3),
    waitWords(client),
    adviceWords(client),
    held === 'run' ? 'the library' : 'documents',
    library,
  ]);
  const heads = ['name', 'attempts', 'waits', 'Retry-After', 'held to', 'library'];
  const below = '`weir client <name>` says more. In a scenario: `clients: [{ like: <name> }]`.';
  print({ answer: { clients: rows }, words: `${table(heads, cells)}\n\n${below}` }, json);
}

function waitWords({ backoff }: RetrySpec): string {
  if (backoff === undefined || backoff.policy === 'none') return 'none';
  const { policy, base, cap } = backoff;
  return [policy, ...(base === undefined ? [] : [`from ${base}`]), ...(cap === undefined ? [] : [`up to ${cap}`])].join(
    ' ',
  );
}

function adviceWords({ retry_after: advice = 'ignore' }: RetrySpec): string {
  if (typeof advice === 'string') return advice;
  const { policy, ...more } = advice;
  return [policy, ...Object.entries(more).map(([name, value]) => `${name} ${value}`)].join(', ');
}
