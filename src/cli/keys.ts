// `weir node keys`: makes, lists, rotates and revokes the keys of an owner. A rotated key that is kept in the user's folder is replaced there.
import { listKeys, makeKey, revokeKey, rotateKey } from '../api/keys.js';
import { choice, several, text, value, whole } from './command.js';
import { usageFailure } from './ending.js';
import { nodeCommand } from './node-command.js';
import { durationIn, readMs } from './options.js';
import { facts, moreAfter, table } from './terminal.js';

const SCOPES = ['read', 'event', 'gate', 'admin'] as const;

const lifetime = (preset: string) =>
  value('a time from 1d to 365d', daysIn, `how long it is valid, as 7d (default: ${preset})`);

function daysIn(text: string, option: string): number | undefined {
  const days = /[a-z]/.test(text) ? Math.ceil(readMs(text, option) / 86_400_000) : 0;
  return days >= 1 && days <= 365 ? days : undefined;
}

/** Of a list: entries of a page. */
export const most = whole(1, Number.MAX_SAFE_INTEGER, 'how many (default: 100)');

export const makeKeys = nodeCommand({
  options: {
    scopes: several(choice(SCOPES, 'what the key may do; admin: everything', { place: true, required: true })),
    machine: text('the only machine that it opens (default: all of yours)'),
    for: lifetime('30d'),
  },
  examples: [
    [
      'node keys make gate --machine edge-gateway',
      'for a gateway that asks `weir node gate edge-gateway ID` and does nothing else',
    ],
    ['node keys make read --for 1d --json', 'for a program that reads records for a day'],
  ],
  run: async ({ api, refuseInsecure }, { scopes, machine, for: expires_in_days }) => {
    refuseInsecure();
    const answer = await api.call(makeKey, { body: { scopes: [...new Set(scopes)], machine, expires_in_days } });
    return { answer, words: madeText(answer) };
  },
});

export const listOfKeys = nodeCommand({
  options: { after: text('only ids behind this one'), top: most },
  examples: [['node keys list', 'which there are, and which of them asks']],
  run: async ({ api }, { after, top: limit }) => {
    const answer = await api.call(listKeys, { query: { after, limit } });
    const rows = answer.keys.map(({ key_id, scopes, machine = 'all', expires_at, revoked, is_own }) => [
      key_id,
      scopes.join(' '),
      machine,
      expires_at,
      revoked ? 'revoked' : is_own ? 'this one' : '',
    ]);
    const { next, record } = answer;
    const log = record === undefined ? [] : [`The record of all actions on them: weir node record ${record}`];
    const words = [table(['key', 'scopes', 'machine', 'expires', ''], rows), ...log].join('\n');
    return { answer, words, note: moreAfter(next) };
  },
});

export const rotate = nodeCommand({
  options: {
    id: text('id of the key (default: the one that `weir node mint` kept)', { place: true }),
    keep: text('how long the old one stays valid, as 1h (default: 24h); 0: it ends immediately'),
    for: lifetime('as the old one'),
  },
  examples: [
    ['node keys rotate', 'a new key in the place of the kept one'],
    ['node keys rotate key_Zm9vYmFyYmF6cXV4 --keep 0', 'the old one may be known to others'],
  ],
  run: async ({ api, folder, url, refuseInsecure }, { id, keep: overlap, for: expires_in_days }) => {
    refuseInsecure();
    const kept = folder.key.read();
    const key_id = id ?? kept?.key_id;
    if (key_id === undefined)
      throw usageFailure(`No key of ${url} is kept: say which one, as \`weir node keys list\` shows it.`);
    const overlap_seconds = overlap === undefined ? undefined : durationIn('keep', overlap, 1_000);
    const answer = await api.call(rotateKey, { params: { key_id }, body: { overlap_seconds, expires_in_days } });
    const { key, key_id: next, owner, expires_at, previous } = answer;
    const isKept = kept?.key_id === key_id;
    if (isKept) folder.key.write({ url, key, key_id: next, owner, expires_at });
    const words = [
      madeText(answer),
      facts([
        ['follows', previous.key_id],
        ['which ends', previous.expires_at],
        ['kept in', isKept ? folder.key.path : undefined],
      ]),
    ];
    return { answer, words: words.join('\n') };
  },
});

export const revoke = nodeCommand({
  options: { id: text('id of the key', { place: true, required: true }) },
  examples: [['node keys revoke key_Zm9vYmFyYmF6cXV4', 'nothing opens with it any more']],
  run: async ({ api, folder }, { id: key_id }) => {
    await api.call(revokeKey, { params: { key_id } });
    const isKept = folder.key.read()?.key_id === key_id;
    if (isKept) folder.key.remove();
    const note = isKept ? 'it was the key kept for this node, and is not kept any more.' : undefined;
    return { answer: { ok: true, key_id }, words: `The key ${key_id} is revoked.`, note };
  },
});

interface Made {
  readonly key: string;
  readonly key_id: string;
  readonly scopes: readonly string[];
  readonly machine?: string;
  readonly expires_at: string;
}

function madeText({ key, key_id, scopes, machine, expires_at }: Made): string {
  return facts([
    ['key', key],
    ['id', key_id],
    ['scopes', scopes.join(' ')],
    ['machine', machine ?? 'all'],
    ['expires', expires_at],
  ]);
}
