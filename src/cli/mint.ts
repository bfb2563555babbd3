// `weir node mint` and `weir node session`: a free API key, and a session in exchange for it. Both are stored for later commands.
import { endSession, mintKey, openSession } from '../api/keys.js';
import { choice } from './command.js';
import { usageFailure } from './ending.js';
import { nodeCommand } from './node-command.js';
import { NONE } from './options.js';
import { facts } from './terminal.js';

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
