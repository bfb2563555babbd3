// `weir load URL` before a real nginx: its own configuration is the limiter that is predicted.
import { expect, it } from 'vitest';
import { weirHere } from '../../cli/command-line.js';
import { temporaryFiles } from '../../left-behind.js';
import { isInstalled, startNginx } from './real-servers.js';

const zone = 'limit_req_zone $request_uri zone=a:1m rate=10r/s;';
const limit = 'limit_req zone=a burst=4 nodelay;';

it.runIf(isInstalled('nginx'))(
  'load URL agrees with the configuration of the nginx that it asks, and differs from another',
  async () => {
    const { url, close } = await startNginx([zone], { '/a': limit, '/b': limit });
    try {
      const path = temporaryFiles().file('nginx.conf', `http { ${zone} server { location /a { ${limit} } } }`);
      const more = '--rate 30/s --for 2s --limited-status 503 --out none --json'.split(' ');
      const load = (place: string, limiter: string) =>
        weirHere(['load', `${url}${place}`, ...more, '--limit', limiter]);
      const right = await load('/a', path);
      // On a busy machine the answers may say too little.
      expect([0, 4]).toContain(right.code);
      const { requests, live, comparison } = JSON.parse(right.out);
      expect([requests, comparison.differences_total, live.answers.limit.status]).toEqual([60, 0, 503]);
      const wrong = await load('/b', 'nginx 25r/s burst=4 nodelay');
      expect(wrong.code).toBe(3);
    } finally {
      await close();
    }
  },
);

it.runIf(isInstalled('nginx'))(
  'an nginx that delays meets as many requests at once as the rate and its delays ask for',
  async () => {
    const { url, close } = await startNginx(['limit_req_zone $request_uri zone=c:1m rate=100r/s;'], {
      '/c': 'limit_req zone=c burst=150;',
    });
    try {
      const more = '--rate 200/s --for 3s --limited-status 503 --out none --json'.split(' ');
      const { code, out } = await weirHere(['load', `${url}/c`, ...more, '--limit', 'nginx 100r/s burst=150']);
      const { admitted, limited, live, comparison } = JSON.parse(out);
      // Sent in time 450 are admitted; a busy machine sends in less than three seconds what it sends late.
      expect([0, 4]).toContain(code);
      expect([admitted <= 451, limited >= 149, live.answered, live.connections > 150]).toEqual([true, true, 600, true]);
      expect(comparison.differences_total).toBe(0);
    } finally {
      await close();
    }
  },
);
