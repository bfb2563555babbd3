// `npm run pictures`: the screens of README.md and of the topics, taken anew into reports/example. Needs a Chromium on the PATH or at CHROMIUM.
//
//   machine.png      a node under waves of requests: counts, states, record
//   playground.png   a scenario under sliders
//   storm.svg        two runs of the same overload, moving: drawn without a browser
import { execFileSync, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';

const folder = resolve('reports/example');
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--headless', '--no-sandbox'],
});

/** Starts a command; resolves with the first line that fits. */
function begin(args, fits) {
  const child = spawn(process.execPath, ['dist/cli/main.js', ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  const line = new Promise((found, failed) => {
    for (const input of [child.stdout, child.stderr])
      createInterface({ input }).on('line', (text) => fits.test(text) && found(fits.exec(text)[1]));
    child.once('exit', (code) => failed(new Error(`weir ${args[0]} ended with ${code}`)));
  });
  return { child, line };
}

async function open(url, height) {
  const page = await browser.newPage({
    viewport: { width: 1280, height },
    colorScheme: 'light',
    reducedMotion: 'reduce',
  });
  await page.goto(url);
  return page;
}

const take = async (page, name) => {
  await page.screenshot({ path: join(folder, name) });
  await page.close();
};

const pause = (ms) => new Promise((done) => setTimeout(done, ms));

async function machine() {
  const cycleMs = 50;
  const { child, line } = begin(
    ['serve', '--json', '--store', 'memory', '--log-level', 'error', '--port', '0', '--cycle-ms', String(cycleMs)],
    /"url":"([^"]+)"/,
  );
  const url = await line;
  const ask = async (path, body, key) => {
    const headers = { 'content-type': 'application/json', ...(key && { authorization: `Bearer ${key}` }) };
    return (await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) })).json();
  };
  const { key } = await ask('/api/demo-key/mint', {});
  await ask('/api/chain/state-machines', { slug: 'shop', display_name: 'Shop', is_public: true }, key);
  const ids = [];
  for (const [threshold, within] of [
    [150, 60],
    [600, 120],
  ]) {
    const { contract } = await ask(
      '/api/contracts/templates/rate-limiter/deploy',
      { slug: 'shop', threshold, within },
      key,
    );
    ids.push(contract.id);
  }
  const page = await open(`${url}/m/shop`, 800);
  await page.getByText('Live', { exact: true }).waitFor();
  // Two customers in waves of their own, until the charts are full.
  for (let n = 0; n < 620; n += 1) {
    const waves = [1.6 + 2.4 * Math.sin(n / 44), 2.4 + 5 * Math.sin(n / 96)];
    for (const [index, rate] of waves.entries()) {
      const count = Math.round(Math.max(0, rate + Math.sin(7 * n + index)));
      if (count > 0) await ask('/api/chain/shop/event', { type: 'request', count, contract_id: ids[index] }, key);
    }
    await pause(cycleMs);
  }
  await take(page, 'machine.png');
  child.kill();
}

async function playground() {
  const page = await open(`${pathToFileURL('dist/web/play.html').href}#sandbox`, 900);
  await page.waitForSelector('[data-digest] canvas');
  // In the burst: requests on their way, and those that are refused.
  await page.evaluate(() => {
    const time = document.querySelector('input[aria-label="Time in the run"]');
    time.value = String(Number(time.max) * 0.325);
    time.dispatchEvent(new Event('input', { bubbles: true }));
  });
  await pause(1500);
  await take(page, 'playground.png');
}

try {
  await machine();
  await playground();
  writeFileSync(join(folder, 'storm.svg'), execFileSync(process.execPath, ['test/moving-picture.mjs']));
} finally {
  await browser.close();
}
