// Owns `weir mint`: a free key, kept for the commands that follow.
import { nodeCommand } from './node-command.js';
import { facts } from './table.js';

export const mintCommand = nodeCommand({
  options: (yargs) =>
    yargs
      .option('keep', {
        type: 'boolean',
        default: true,
        describe: 'keep it in your own folder; --no-keep only prints it',
      })
      .example('$0 mint', 'then `weir machine create edge-gateway` works without a key')
      .example('$0 mint --no-keep --json', 'for a program that keeps keys by itself'),
  run: async ({ anyone, folder, url }, { keep }) => {
    const answer = await anyone.mint();
    const { key, key_id, owner, expires_at } = answer;
    const aside = keep ? folder.replaceKey({ url, key, key_id, owner, expires_at }) : undefined;
    const words = facts([
      ['key', key],
      ['id', key_id],
      ['owner', owner],
      ['expires', expires_at],
      ['kept in', keep ? folder.key.path : 'no file: it is not shown again'],
    ]);
    const note = aside && `the key kept before is now in ${aside}; the machines it made open with no other.`;
    return { answer, words, note };
  },
});
