// `weir node mint`, `session`, `keys rotate` and `keys revoke`: routes whose credentials are kept in the user's folder.
import type { AnswerOf } from '../api/client/api-client.js';
import type { NodeClient } from '../api/client/node-client.js';
import { endSession, type makeKey, mintKey, openSession, revokeKey, rotateKey } from '../api/keys.js';
import { choice } from '../report/command/command.js';
import { usageFailure } from '../report/command/exit-codes.js';
import { NONE } from '../report/command/options.js';
import { routeCommand } from './node-route.js';

export const mint = routeCommand('mintKey', {
  options: { out: choice([NONE], 'only print it: it is not stored in your configuration folder') },
  examples: [
    ['node mint', 'then `weir node machine create edge-gateway` works without a key'],
    ['node mint --out none --json', 'for a program that stores keys itself'],
  ],
  run: async (node, _ask, { out }) => {
    node.refuseInsecure();
    const answer = await node.anyone.call(mintKey);
    if (out === NONE) return { answer, beside: { kept_in: 'no file: it is not shown again' } };
    const aside = node.folder.replaceKey(kept(node, answer));
    const note = aside && `the previous key is now in ${aside}; the machines made with it open with no other key.`;
    return { answer, beside: { kept_in: node.folder.key.path }, note };
  },
});

function kept({ url }: NodeClient, { key, key_id, owner, expires_at }: AnswerOf<typeof makeKey>) {
  return { url, key, key_id, owner, expires_at };
}

export const session = routeCommand('openSession', {
  options: { end: choice(['end'], 'end the kept session', { place: true }) },
  examples: [
    ['node session', 'prints the cookie, for curl and browsers'],
    ['node session end', 'the cookie is invalid from now on'],
  ],
  run: async ({ api, withSession, folder, url }, _ask, { end }) => {
    if (end !== undefined) {
      if (!folder.session.exists) throw usageFailure(`No session of ${url} is kept.`);
      await withSession.call(endSession);
      folder.session.remove();
      return { answer: { ok: true }, words: 'The session is over.' };
    }
    const { body, headers } = await api.exchange(openSession);
    const cookie = [headers['set-cookie'] ?? ''].flat()[0]!.split(';', 1)[0]!;
    folder.session.write({ url, cookie, owner: body.owner, expires_at: body.expires_at });
    return { answer: { ...body, cookie }, beside: { kept_in: folder.session.path } };
  },
});

export const rotate = routeCommand('rotateKey', {
  preset: { key_id: undefined },
  examples: [
    ['node keys rotate', 'replace the kept key by a new one'],
    ['node keys rotate key_Zm9vYmFyYmF6cXV4 --keep 0', 'the old one may be known to others'],
  ],
  run: async (node, { body = {} }, { key }) => {
    const { api, folder, url } = node;
    node.refuseInsecure();
    const own = folder.key.read()?.key_id;
    const key_id = (key as string | undefined) ?? own;
    if (key_id === undefined)
      throw usageFailure(`No key of ${url} is kept: say which one, as \`weir node keys list\` shows it.`);
    const answer = await api.call(rotateKey, { params: { key_id }, body });
    if (key_id !== own) return { answer };
    folder.key.write(kept(node, answer));
    return { answer, beside: { kept_in: folder.key.path } };
  },
});

export const revoke = routeCommand('revokeKey', {
  examples: [['node keys revoke key_Zm9vYmFyYmF6cXV4', 'nothing opens with it any more']],
  run: async ({ api, folder }, _ask, { key }) => {
    const key_id = String(key);
    await api.call(revokeKey, { params: { key_id } });
    if (folder.key.read()?.key_id !== key_id) return { answer: undefined };
    folder.key.remove();
    return { answer: undefined, note: 'it was the key kept for this node, and is not kept any more.' };
  },
});
