// Which nodes a network has. Each reports every two seconds, by the clock of Redis, and removes itself on shutdown.
//
//   ──x────x────x────x      killed: silent for 6 s, away from then on; dropped after a day
//   ──x────x────| left      shut down
import { cycleOf } from '../../core/time/cycle.js';
import { wallNowMs } from '../../core/time/wall.js';
import { VERSION } from '../../core/version.js';
import { fieldsIn } from './directory.js';
import { DIRECTORY } from './redis/buckets.js';
import type { RedisConnection } from './redis/connection.js';

const EVERY_MS = 2_000;
const AWAY_AFTER_MS = 3 * EVERY_MS;
const DROPPED_AFTER_MS = 86_400_000;
/** Redis is read at most once in this time. */
const READ_EVERY_MS = 1_000;
const MOST_SHOWN = 100;

const PLACE = `${DIRECTORY}presence`;

/** Times are by the clock of Redis. */
interface NodeReport {
  /** Absent unless on loopback: pages are public, and the addresses of a network are not. */
  readonly address?: string | undefined;
  readonly version: string;
  readonly sinceMs: number;
  readonly seenMs: number;
  readonly offsetMs: number;
}

export class Presence {
  readonly #connection: RedisConnection;
  readonly #fingerprint: string;
  #address: string | undefined;
  #hasJoined = false;
  #sinceMs = 0;
  #nextMs = 0;
  #readMs = Number.NEGATIVE_INFINITY;
  #read: Promise<readonly (readonly [fingerprint: string, report: NodeReport])[]> = Promise.resolve([]);

  constructor(connection: RedisConnection, fingerprint: string) {
    this.#connection = connection;
    this.#fingerprint = fingerprint;
  }

  /** @param address as others may see it @throws Failure `store_away` */
  async join(address: string | undefined): Promise<void> {
    this.#hasJoined = true;
    this.#address = address;
    this.#sinceMs = this.#connection.nowMs();
    await this.report();
  }

  /** Reports, if it is time. @throws Failure `store_away` */
  async report(): Promise<void> {
    const nowMs = this.#connection.nowMs();
    if (!this.#hasJoined || nowMs < this.#nextMs) return;
    this.#nextMs = nowMs + EVERY_MS;
    const offsetMs = Math.round(wallNowMs() - nowMs);
    const report: NodeReport = {
      address: this.#address,
      version: VERSION,
      sinceMs: this.#sinceMs,
      seenMs: nowMs,
      offsetMs,
    };
    await this.#connection.command('HSET', PLACE, this.#fingerprint, JSON.stringify(report));
  }

  async leave(): Promise<void> {
    this.#hasJoined = false;
    await this.#connection.command('HDEL', PLACE, this.#fingerprint);
  }

  /** All nodes, running ones first. @throws Failure `store_away` */
  async nodes() {
    const nowMs = this.#connection.nowMs();
    if (nowMs - this.#readMs >= READ_EVERY_MS) {
      this.#readMs = nowMs;
      this.#read = this.#readAll(nowMs);
    }
    const cycle = (ms: number) => cycleOf(ms, this.#connection.cycleMs);
    const nodes = (await this.#read).map(([fingerprint, { address, version, sinceMs, seenMs, offsetMs }]) => {
      const is_up = nowMs - seenMs < AWAY_AFTER_MS;
      const is_this = fingerprint === this.#fingerprint;
      const since_cycle = cycle(is_up ? sinceMs : seenMs);
      return {
        fingerprint,
        ...(address === undefined ? {} : { address }),
        version,
        is_this,
        is_up,
        since_cycle,
        clock_offset_ms: offsetMs,
      };
    });
    const nameOf = ({ address = '', fingerprint }: (typeof nodes)[number]) => `${address} ${fingerprint}`;
    const order = (a: (typeof nodes)[number], b: typeof a) =>
      Number(b.is_up) - Number(a.is_up) || (nameOf(a) < nameOf(b) ? -1 : 1);
    return nodes.sort(order).slice(0, MOST_SHOWN);
  }

  async #readAll(nowMs: number): Promise<readonly (readonly [string, NodeReport])[]> {
    const fields = fieldsIn(await this.#connection.command('HGETALL', PLACE));
    const all = [...fields].flatMap(([fingerprint, text]) => {
      const report = parseReport(text);
      return report === undefined ? [] : [[fingerprint, report] as const];
    });
    const old = all.filter(([, { seenMs }]) => nowMs - seenMs >= DROPPED_AFTER_MS).map(([fingerprint]) => fingerprint);
    if (old.length > 0) await this.#connection.command('HDEL', PLACE, ...old);
    return all.filter(([fingerprint]) => !old.includes(fingerprint));
  }
}

function parseReport(text: string): NodeReport | undefined {
  try {
    const report = JSON.parse(text) as NodeReport;
    return Number.isFinite(report.seenMs) && Number.isFinite(report.sinceMs) ? report : undefined;
  } catch {
    return undefined;
  }
}
