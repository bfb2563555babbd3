// Owns `weir session`: a key exchanged for a session cookie, and its end.

import { usageFailure } from './ending.js';
import { nodeCommand } from './node-command.js';
import { facts } from './table.js';

export const sessionCommand = nodeCommand({
  options: (yargs) =>
    yargs
      .option('end', { type: 'boolean', default: false, describe: 'end the session that is kept' })
      .example('$0 session', 'prints the cookie, for curl and browsers')
      .example('$0 session --end', 'whoever has the cookie is nobody from now on'),
  run: async ({ api, withSession, folder, url }, { end }) => {
    if (end) {
      if (!folder.session.exists) throw usageFailure(`No session of ${url} is kept.`);
      await withSession.endSession();
      folder.session.remove();
      return { answer: { ok: true }, words: 'The session is over.' };
    }
    const { session, cookie } = await api.openSession();
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
