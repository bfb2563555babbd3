// The client where Node is not: what a bundler makes of it, and a browser that uses it.
import { build } from 'esbuild';
import { beforeAll, expect, it } from 'vitest';
import { inChromium } from '../../chromium.js';
import { type Running, startRunning } from '../../node/running.js';

const bundle = () =>
  build({
    entryPoints: ['dist/lib/client.js'],
    bundle: true,
    platform: 'browser',
    format: 'iife',
    globalName: 'weir',
    target: 'es2022',
    minify: true,
    metafile: true,
    write: false,
  });

it('a bundle of the client is of one file as it is shipped, which imports nothing of Node or of a package', async () => {
  const { metafile, outputFiles } = await bundle();
  const { 'dist/lib/client.js': shipped, ...others } = metafile.inputs;
  expect([others, shipped?.imports]).toEqual([{}, []]);
  // Near 17 kB, 7 kB compressed: TypeBox alone would be ten times as much.
  expect(outputFiles[0]!.contents.length).toBeLessThan(20_500);
});

inChromium('the client in a browser', (browser) => {
  let node: Running;
  beforeAll(async () => {
    node = await startRunning({ cycleMs: 50 });
  });

  it('the client asks a gate, counts a batch and follows the stream, from a page of the node', async () => {
    const { outputFiles } = await bundle();
    const page = await browser.newPage();
    await page.goto(`${node.url}/healthz`);
    const key = node.keyOf('owner');
    const program = `${outputFiles[0]!.text}; (${inThePage})(weir.WeirClient, ${JSON.stringify(node.url)}, ${JSON.stringify(key)})`;
    expect(await page.evaluate(program)).toEqual({
      gates: [true, true, false],
      heard: ['transition', 'rate_limited'],
      figures: { admitted: 0, limited: 4 },
      refused: ['credential_invalid', 401],
    });
  });
});

/** Runs in the page. */
const inThePage = `async (WeirClient, url, key) => {
  const weir = new WeirClient({ url, key });
  const slug = 'browser';
  await weir.call('createMachine', { body: { slug } });
  const { contract } = await weir.call('deployRateLimiter', { body: { slug, threshold: 2, within: 2000 } });
  const gates = [];
  for (let n = 0; n < 3; n += 1) gates.push((await weir.gate(slug, contract.id)).isAdmitted);
  const heard = [];
  for await (const { event } of weir.follow(slug)) {
    if (event !== 'cycle') heard.push(event);
    if (heard.length === 2) break;
  }
  const batch = weir.events.batch(slug, { lingerMs: 0 });
  for (let n = 0; n < 4; n += 1) batch.add({ type: 'request' });
  const { admitted, limited } = await batch.close();
  const refused = await new WeirClient({ url, key: 'weir_x' }).gate(slug, contract.id).catch((error) => [error.code, error.status]);
  return { gates, heard, figures: { admitted, limited }, refused };
}`;
