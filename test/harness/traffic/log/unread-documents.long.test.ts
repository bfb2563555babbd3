// Log documents that are not read: they are refused, and what the refusal proposes makes a log of them (skipped where jq is not installed).
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { LogOptions } from '../../../../src/harness/traffic/log/log-options.js';
import { readBytes } from '../../../../src/harness/traffic/log/read-bytes.js';
import { failureIn } from '../../../failures.js';
import { isInstalled } from '../../live/real-servers.js';
import { readText } from './reading.js';

/** `### name | title | ISO time, number, client, path, status of each request | options`, then the document. */
const unread = readFileSync(new URL('samples/unread.txt', import.meta.url), 'utf8')
  .split(/^### /m)
  .slice(1)
  .map((sample) => {
    const end = sample.indexOf('\n');
    const [name, title, requests = '', options = '{}'] = sample.slice(0, end).split(' | ');
    return { name, title, requests: requests.split(', '), options: JSON.parse(options), text: sample.slice(end + 1) };
  });

const refusalOf = async (text: string) => (await failureIn(readText(text)))!;

async function requestsIn(text: string, options: LogOptions): Promise<string[]> {
  const requests: string[] = [];
  let also: readonly string[] = [];
  const sink = {
    also(texts: readonly string[]) {
      also = [...texts];
    },
    request: (unixMs: number, n: number, key: string) =>
      void requests.push([new Date(unixMs).toISOString(), n, key, ...also].join(' ')),
  };
  const columns = { keyColumn: 'client', alsoColumns: ['path', 'status'] };
  await readBytes([Buffer.from(text)], 'log', { ...options, ...columns }, sink);
  return requests;
}

describe.each(unread)('$name', ({ title, text, options, requests }) => {
  it('the document is refused, with how jq makes one object a line of it', async () => {
    expect(await refusalOf(text)).toMatchObject({
      code: 'unknown_format',
      what: `log is ${title}, which is not read.`,
      why: 'JSON is read as one object a line, as an array of objects, or as HAR.',
      fix: expect.stringMatching(/^Make it one object a line with `jq -c '[^'`]+'`\./),
    });
  });

  it.skipIf(!isInstalled('jq'))('the document is read as jq makes it (needs jq)', async () => {
    const command = /`(jq -c '[^'`]+')`/.exec((await refusalOf(text)).fix!)![1]!;
    const { stdout, stderr } = spawnSync('sh', ['-c', command], { input: text, encoding: 'utf8' });
    expect(stderr).toBe('');
    expect(await requestsIn(stdout, options)).toEqual(requests);
  });
});

it.each(['otlp', 'loki', 'prometheus'])('--log-format %s is refused with the same advice', async (format) => {
  await expect(readText('{"time":5}\n', { format })).rejects.toMatchObject({
    code: 'unknown_format',
    fix: expect.stringContaining('jq -c'),
  });
});

it('a document of Prometheus is refused with what its values have to be', async () => {
  expect((await refusalOf(unread.at(-1)!.text)).fix).toMatch(
    /Its values are to be those of a counter, or of increase\(\) over the step\. .+ --count requests\/15s\.$/,
  );
});
