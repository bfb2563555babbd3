// A machine's event stream: rows, cycles, and counts of the visible contracts. It resumes after a disconnect.
import type { AnswerOf } from '../../api/client/api-client.js';
import type { Endpoints } from '../../api/client/route-table.js';
import { Course, type CourseNews } from './course.js';
import { connecting, live, type Status } from './frame.js';
import { weir, wordsOf } from './node-client.js';

export type RecordRow = AnswerOf<Endpoints['readRecord']>['rows'][number];

interface CountsData {
  readonly cycle: number;
  readonly contracts: readonly CourseNews[];
}

export class MachineFeed {
  readonly courses: ReadonlyMap<string, Course>;
  status: Status = connecting;
  seq: number;
  cycle = 0;
  readonly #ended = new AbortController();

  constructor(
    slug: string,
    seq: number,
    contracts: readonly string[],
    readonly onRow: (row: RecordRow) => void,
    readonly onChange: () => void,
  ) {
    this.seq = seq;
    this.courses = new Map(contracts.map((id) => [id, new Course()]));
    void this.#run(slug);
  }

  close(): void {
    this.#ended.abort();
  }

  async #run(slug: string): Promise<void> {
    const { signal } = this.#ended;
    const onPause = (waitMs: number) =>
      this.#say({ is: 'lost', words: `Connection lost; trying again in ${Math.ceil(waitMs / 1000)} s` });
    const afterCycle = () => {
      const lasts = [...this.courses.values()].flatMap(({ last }) => last ?? []);
      return lasts.length === 0 ? undefined : Math.min(...lasts);
    };
    const counts = { contracts: [...this.courses.keys()], afterCycle };
    const options = { afterSeq: this.seq, signal, onPause, ...(counts.contracts.length === 0 ? {} : { counts }) };
    try {
      for await (const { event, data } of weir.follow(slug, options)) this.#take(event, JSON.parse(data).data);
    } catch (error) {
      if (!signal.aborted) this.#say({ is: 'lost', words: wordsOf(error) });
    }
  }

  #take(event: string, data: unknown): void {
    if (event === 'transition') {
      const row = data as RecordRow;
      this.seq = Math.max(this.seq, row.seq);
      this.onRow(row);
    } else if (event === 'cycle') {
      const { cycle, seq } = data as { cycle: number; seq: number };
      this.cycle = cycle;
      this.seq = Math.max(this.seq, seq);
      this.status = live;
    } else if (event === 'counts') {
      for (const news of (data as CountsData).contracts) this.courses.get(news.id)?.take(news);
    }
    this.onChange();
  }

  #say(status: Status): void {
    this.status = status;
    this.onChange();
  }
}
