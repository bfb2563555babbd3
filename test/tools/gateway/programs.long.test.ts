// Samples of files, and what the program itself says of them.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isInstalled } from '../../harness/live/real-servers.js';
import { temporaryFolder } from '../../left-behind.js';
import { filesOf, samples } from './sample-files.js';

const inHttp = (text: string) => `events {}\n${/^(?:http|stream) \{/m.test(text) ? text : `http {\n${text}\n}`}`;
describe.each([
  ['nginx', 'nginx', true, ['-t', '-c'], inHttp],
  ['nginx-refused-by-nginx', 'nginx', false, ['-t', '-c'], inHttp],
  ['haproxy', 'haproxy', true, ['-c', '-f'], (text: string) => `${text}\n`],
] as const)('samples of %s, for %s', (group, program, isLegal, words, whole) => {
  const alone = samples[group]!.filter(([, sample]) => filesOf(sample).length === 1);
  it.runIf(isInstalled(program)).each(alone)('a sample is taken or refused as its group says: %s', (_, sample) => {
    const file = join(temporaryFolder(), 'sample.conf');
    writeFileSync(file, whole(filesOf(sample)[0]!.text));
    const { stderr } = spawnSync(program, [...words, file], { encoding: 'utf8' });
    const faults = stderr
      .split('\n')
      .filter((line) => /\[emerg\]|\[ALERT\]/.test(line) && !/bind\(\)|open\(\)|directive "stream"/.test(line));
    expect(faults.length === 0, faults.join('\n')).toBe(isLegal);
  });
});
