// Runs of the playground, in a worker: one at a time.
//
//   page   ─► Asked: text and name ─► play ─► Told: how far, then the picture, or why it is refused
//          ─► undefined             ─► the run stops, and its picture is undefined
import { Failure } from '../../schema/failure.js';
import { element } from '../page-element.js';
import { type Picture, play } from './played.js';

/** Why a text is not run, in the words of `weir simulate`. */
export type Refusal = Pick<Failure, 'what' | 'why' | 'fix' | 'faults'>;

export type Ended =
  | { readonly picture: Picture | undefined }
  | { readonly refused: Refusal }
  | { readonly error: string };

type Told = { readonly share: number } | Ended;
type Asked = readonly [text: string, name: string] | undefined;

/** The side of the page. */
export class Runs {
  readonly #worker: Worker;
  #ended: (ended: Ended) => void = () => {};
  #onShare: (share: number) => void = () => {};

  constructor() {
    const program = new Blob([element('unpacked').textContent], { type: 'text/javascript' });
    const url = URL.createObjectURL(program);
    this.#worker = new Worker(url);
    this.#worker.onmessage = ({ data }: MessageEvent<Told>) => {
      if ('share' in data) this.#onShare(data.share);
      else this.#ended(data);
    };
    this.#worker.onerror = ({ message }) => this.#ended({ error: message });
  }

  /** Runs a text; the last one has ended. */
  run(text: string, name: string, onShare: (share: number) => void): Promise<Ended> {
    this.#onShare = onShare;
    return new Promise((resolve) => {
      this.#ended = resolve;
      this.#worker.postMessage([text, name] satisfies Asked);
    });
  }

  /** Stops the run that goes on. */
  stop(): void {
    this.#worker.postMessage(undefined satisfies Asked);
  }
}

/** The side of the worker. */
export function serveRuns(): void {
  const tell = (told: Told) => postMessage(told);
  let running: AbortController | undefined;
  addEventListener('message', async ({ data }: MessageEvent<Asked>) => {
    running?.abort();
    if (data === undefined) return;
    running = new AbortController();
    tell(await ended(data, running.signal, (share) => tell({ share })));
  });
}

async function ended(
  [text, name]: NonNullable<Asked>,
  signal: AbortSignal,
  onShare: (share: number) => void,
): Promise<Ended> {
  try {
    return { picture: await play(text, name, signal, onShare) };
  } catch (error) {
    if (!(error instanceof Failure)) return { error: String(error) };
    const { what, why, fix, faults } = error;
    return { refused: { what, why, fix, faults } };
  }
}
