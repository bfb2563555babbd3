// nginx's error log beside an access log: it has a line for each request that limit_req refused.
//
//   2026/11/29 01:02:03 [error] 7#7: *1 limiting requests, excess: 5.020 by zone "api", client: 192.0.2.1, server: , request: "GET /a HTTP/1.1", …
//
// It says the second in which a request was refused, in local time. An access log has the same request in that second or the next.
import { bytesOf } from '../../harness/traffic/log/log-bytes.js';

const LINE = /^(\d{4})\/(\d\d)\/(\d\d) (\d\d:\d\d:\d\d) \[\w+\] \d+#\d+: /;
const REFUSED = / limiting requests, excess: .*?, client: ([^,]+), .*?request: "(\S+ [^\s?"]*)/;

export async function isErrorLog(path: string): Promise<boolean> {
  if (path === '-') return false;
  for await (const bytes of bytesOf(path, {})) return LINE.test(bytes.toString('latin1', 0, 100));
  return false;
}

interface Refusal {
  readonly ms: number;
  readonly client: string;
  readonly path: string;
  isRejected: boolean;
}

const QUARTER_S = 900;
const MOST_QUARTERS = 56;
const SAMPLED = 2_000;

/** Marks those of which the log says for sure that limit_req refused them. */
export async function readErrorLog(path: string, refusals: readonly Refusal[]): Promise<void> {
  const lines: { readonly name: string; readonly s: number }[] = [];
  let rest = '';
  const take = (line: string) => {
    const [, year, month, day, clock] = LINE.exec(line) ?? [];
    const [, client, request] = REFUSED.exec(line) ?? [];
    if (year === undefined || client === undefined) return;
    lines.push({ name: `${client} ${request}`, s: Date.parse(`${year}-${month}-${day}T${clock}Z`) / 1_000 });
  };
  for await (const bytes of bytesOf(path, {})) {
    const texts = `${rest}${bytes.toString('latin1')}`.split('\n');
    rest = texts.pop()!;
    for (const line of texts) take(line);
  }
  take(rest);
  const seconds = (all: readonly { readonly name: string; readonly s: number }[], aheadS = 0) => {
    const found = new Map<string, number>();
    for (const { name, s } of all) found.set(`${s - aheadS} ${name}`, (found.get(`${s - aheadS} ${name}`) ?? 0) + 1);
    return found;
  };
  const named = refusals.map((one) => ({ one, name: `${one.client} ${one.path}`, s: Math.floor(one.ms / 1_000) }));
  const answers = seconds(named);
  // Its times have no zone: they are put where most of its lines have an answer.
  const some = lines.slice(0, SAMPLED);
  const offsets = Array.from({ length: 2 * MOST_QUARTERS + 1 }, (_, k) => (k - MOST_QUARTERS) * QUARTER_S).map((s) => ({
    s,
    met: some.reduce((n, line) => n + (answers.has(`${line.s - s} ${line.name}`) ? 1 : 0), 0),
  }));
  const { s: aheadS, met } = offsets.reduce((best, one) => (one.met > best.met ? one : best));
  if (met * 2 <= some.length) return;
  const errors = seconds(lines, aheadS);
  for (const { one, name, s } of named) {
    const said = (errors.get(`${s - 1} ${name}`) ?? 0) + (errors.get(`${s} ${name}`) ?? 0);
    const asked = [s - 1, s, s + 1].reduce((n, at) => n + (answers.get(`${at} ${name}`) ?? 0), 0);
    if (said > 0 && said >= asked) one.isRejected = true;
  }
}
