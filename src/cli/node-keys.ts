// `weir node mint`, `session` and `keys`: the keys of an owner, and a session in exchange for a key. Minted keys and sessions are saved in
// the user's folder; rotating a saved key updates it there.
import type { AnswerOf } from '../api/client/api-client.js';
import { endSession, listKeys, makeKey, mintKey, openSession, revokeKey, rotateKey } from '../api/keys.js';
import { choice, several, text, value } from '../report/command/command.js';
import { usageFailure } from '../report/command/exit-codes.js';
import { durationIn, NONE, readMs } from '../report/command/options.js';
import { facts, table } from '../report/command/terminal.js';
import { moreAfter, most, nodeCommand } from './node-command.js';

export const mint = nodeCommand({
  options: { out: choice(['none'], 'only print it: it is not stored in your configuration folder') },
  examples: [
    ['node mint', 'then `weir node machine create edge-gateway` works without a key'],
    ['node mint --out none --json', 'for a program that stores keys itself'],
  ],
  run: async ({ anyone, folder, url, refuseInsecure }, { out }) => {
    refuseInsecure();
    const answer = await anyone.call(mintKey);
    const { key, key_id, owner, expires_at } = answer;
    const aside = out === NONE ? undefined : folder.replaceKey({ url, key, key_id, owner, expires_at });
    const words = facts([
      ['key', key],
      ['id', key_id],
      ['owner', owner],
      ['expires', expires_at],
      ['kept in', out === NONE ? 'no file: it is not shown again' : folder.key.path],
    ]);
    const note = aside && `the previous key is now in ${aside}; the machines made with it open with no other key.`;
    return { answer, words, note };
  },
});

export const session = nodeCommand({
  options: { end: choice(['end'], 'end the kept session', { place: true }) },
  examples: [
    ['node session', 'prints the cookie, for curl and browsers'],
    ['node session end', 'the cookie is invalid from now on'],
  ],
  run: async ({ api, withSession, folder, url }, { end }) => {
    if (end) {
      if (!folder.session.exists) throw usageFailure(`No session of ${url} is kept.`);
      await withSession.call(endSession);
      folder.session.remove();
      return { answer: { ok: true }, words: 'The session is over.' };
    }
    const { body: session, headers } = await api.exchange(openSession);
    const [setCookie = ''] = [headers['set-cookie'] ?? ''].flat();
    const cookie = setCookie.split(';', 1)[0]!;
    const { owner, expires_at } = session;
    folder.session.write({ url, cookie, owner, expires_at });
    const words = facts([
      ['cookie', cookie],
      ['owner', owner],
      ['expires', expires_at],
      ['kept in', folder.session.path],
    ]);
    return { answer: { ...session, cookie }, words };
  },
});

const lifetime = (preset: string) =>
  value('a time from 1d to 365d', daysIn, `how long it is valid, as 7d (default: ${preset})`);

function daysIn(text: string, option: string): number | undefined {
  const days = /[a-z]/.test(text) ? Math.ceil(readMs(text, option) / 86_400_000) : 0;
  return days >= 1 && days <= 365 ? days : undefined;
}

export const make = nodeCommand({
  options: {
    scopes: several(
      choice(['read', 'event', 'gate', 'admin'], 'what the key may do; admin: everything', {
        place: true,
        required: true,
      }),
    ),
    machine: text('the only machine that it opens (default: all of yours)'),
    for: lifetime('30d'),
  },
  examples: [
    ['node keys make gate --machine edge-gateway', 'for a gateway that only asks `weir node gate edge-gateway ID`'],
    ['node keys make read --for 1d --json', 'for a program that reads records for a day'],
  ],
  run: async ({ api, refuseInsecure }, { scopes, machine, for: expires_in_days }) => {
    refuseInsecure();
    const answer = await api.call(makeKey, { body: { scopes: [...new Set(scopes)], machine, expires_in_days } });
    return { answer, words: facts(madeFacts(answer)) };
  },
});

export const list = nodeCommand({
  options: { after: text('only ids behind this one'), top: most },
  examples: [['node keys list', 'all of them, with the one that you use marked']],
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
    key: text('id of the key (default: the one that `weir node mint` kept)', { place: true }),
    keep: text('how long the old one stays valid, as 1h (default: 24h); 0: it ends immediately'),
    for: lifetime('as the old one'),
  },
  examples: [
    ['node keys rotate', 'replace the kept key by a new one'],
    ['node keys rotate key_Zm9vYmFyYmF6cXV4 --keep 0', 'the old one may be known to others'],
  ],
  run: async ({ api, folder, url, refuseInsecure }, { key: given, keep: overlap, for: expires_in_days }) => {
    refuseInsecure();
    const kept = folder.key.read();
    const key_id = given ?? kept?.key_id;
    if (key_id === undefined)
      throw usageFailure(`No key of ${url} is kept: say which one, as \`weir node keys list\` shows it.`);
    const overlap_seconds = overlap === undefined ? undefined : durationIn('keep', overlap, 1_000);
    const answer = await api.call(rotateKey, { params: { key_id }, body: { overlap_seconds, expires_in_days } });
    const { key, key_id: next, owner, expires_at, previous } = answer;
    const isKept = kept?.key_id === key_id;
    if (isKept) folder.key.write({ url, key, key_id: next, owner, expires_at });
    const words = facts([
      ...madeFacts(answer),
      ['replaces', previous.key_id],
      ['which ends', previous.expires_at],
      ['kept in', isKept ? folder.key.path : undefined],
    ]);
    return { answer, words };
  },
});

export const revoke = nodeCommand({
  options: { key: text('id of the key', { place: true, required: true }) },
  examples: [['node keys revoke key_Zm9vYmFyYmF6cXV4', 'nothing opens with it any more']],
  run: async ({ api, folder }, { key: key_id }) => {
    await api.call(revokeKey, { params: { key_id } });
    const isKept = folder.key.read()?.key_id === key_id;
    if (isKept) folder.key.remove();
    const note = isKept ? 'it was the key kept for this node, and is not kept any more.' : undefined;
    return { answer: { ok: true, key_id }, words: `The key ${key_id} is revoked.`, note };
  },
});

function madeFacts({ key, key_id, scopes, machine, expires_at }: AnswerOf<typeof makeKey>): [string, string][] {
  return [
    ['key', key],
    ['id', key_id],
    ['scopes', scopes.join(' ')],
    ['machine', machine ?? 'all'],
    ['expires', expires_at],
  ];
}
