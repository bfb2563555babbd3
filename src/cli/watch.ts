// `--watch`: the live page of a run, or the same as a full-screen view of the terminal.
//
//   run ─► rows ─► WatchedRun, WatchedSweep ─┬─► page on loopback, complete state four times a second; replaced by the report at the end
//                                            └─► terminal, ten times a second
import { readFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import type { LoadedScenario } from '../scenario/loaded-scenario.js';
import { monotonicNowMs, pause } from '../time/wall.js';
import type { RunScreen } from '../web/watched.js';
import { htmlPage, type LocalPages, servePages } from './local-pages.js';
import { warn } from './say.js';
import { type Shown, WatchScreen } from './watch-screen.js';
import { type WatchedOptions, WatchedRun } from './watched-run.js';

const SENT_AFTER_MS = 250;
const DRAWN_AFTER_MS = 100;
const MOST_SHARE = 0.05;
const REPORT_WAIT_MS = 5_000;
/** A reader that is further behind skips states. */
const MOST_BEHIND = 1_000_000;

export class WatchServer {
  readonly #screen: WatchScreen | undefined;
  readonly #readers = new Set<ServerResponse>();
  #pages: LocalPages | undefined;
  #run: Shown | undefined;
  #isBegun: (run: Shown) => void = () => {};
  readonly #begun = new Promise<Shown>((resolve) => {
    this.#isBegun = resolve;
  });
  #ended: RunScreen['ended'];
  #reportPath: string | undefined;
  #nextMs = 0;
  readonly #shownReport = new AbortController();

  private constructor(screen: WatchScreen | undefined) {
    this.#screen = screen;
  }

  static async open(place: 'terminal' | 'page'): Promise<WatchServer> {
    if (place === 'terminal') return new WatchServer(new WatchScreen(process.stderr));
    const watch = new WatchServer(undefined);
    watch.#pages = await servePages(0, ({ pathname }, response) => watch.#page(pathname, response));
    warn(`watch it here: ${watch.#pages.url}\n`);
    return watch;
  }

  runOf(scenario: LoadedScenario, asked: Pick<WatchedOptions, 'kind' | 'seed'>): WatchedRun {
    return new WatchedRun(scenario, { ...asked, nowMs: monotonicNowMs });
  }

  begin(run: Shown): void {
    this.#run = run;
    this.#isBegun(run);
    this.#screen?.open();
    this.changed(true);
  }

  changed(isUrgent = false): void {
    const startMs = monotonicNowMs();
    const run = this.#run;
    if ((!isUrgent && startMs < this.#nextMs) || run === undefined) return;
    if (this.#screen !== undefined) this.#screen.draw((terminal) => run.lines(this.#ended, terminal));
    else if (this.#readers.size > 0) this.#send(this.#readers);
    const endMs = monotonicNowMs();
    const pauseMs = this.#screen === undefined ? SENT_AFTER_MS : DRAWN_AFTER_MS;
    this.#nextMs = endMs + Math.max(pauseMs, (endMs - startMs) / MOST_SHARE);
  }

  async end(page?: string): Promise<void> {
    if (this.#ended !== undefined) return;
    this.#reportPath = page;
    this.#ended = { hasReport: page !== undefined };
    this.#screen?.close();
    if (this.#screen !== undefined) return;
    this.changed(true);
    if (this.#readers.size > 0 && page !== undefined) await pause(REPORT_WAIT_MS, this.#shownReport.signal);
    await this.#pages?.close();
  }

  async #page(path: string, response: ServerResponse) {
    if (path === '/') return htmlPage((await this.#begun).page);
    if (path === '/report' && this.#reportPath !== undefined) {
      const content = await readFile(this.#reportPath, 'utf8');
      response.once('finish', () => this.#shownReport.abort());
      return htmlPage(content);
    }
    if (path !== '/events') return undefined;
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
    this.#readers.add(response);
    response.once('close', () => this.#readers.delete(response));
    this.#send([response]);
    return 'sent' as const;
  }

  #send(readers: Iterable<ServerResponse>): void {
    if (this.#run === undefined) return;
    const text = `data: ${JSON.stringify(this.#run.shown(this.#ended))}\n\n`;
    for (const reader of readers) if (reader.writableLength < MOST_BEHIND) reader.write(text);
  }
}
