// A node for all tests of a file: it is closed behind them, and its clock has met no error by then.
import { afterAll, expect } from 'vitest';
import { type Running, startRunning } from './running.js';

export async function nodeOfFile(options: Parameters<typeof startRunning>[0] = {}): Promise<Running> {
  const node = await startRunning(options);
  afterAll(async () => {
    await node.close();
    expect(node.errors).toEqual([]);
  });
  return node;
}
