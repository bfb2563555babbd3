// The worker of the playground, which runs one scenario at a time.
//
//   page   ─► PlayRequest: text and name ─► play ─► PlayReply: progress, then the picture or the refusal
//          ─► undefined             ─► the run stops with an undefined picture
import { Failure } from '../../core/schema/failure.js';
import { type OwnLog, type Taken, taken } from './own-files.js';
import { type OwnFiles, type Picture, playScenario } from './played.js';

export type Refusal = Pick<Failure, 'what' | 'why' | 'fix' | 'faults'>;

export type Ended =
  | { readonly picture: Picture | undefined }
  | { readonly refused: Refusal }
  | { readonly error: string };

export type TakenOrNot = { readonly taken: Taken } | { readonly refused: Refusal };

export type PlayReply = { readonly file: TakenOrNot } | { readonly share: number } | Ended;
/** `withProducts`: also runs every product with its example limits. */
export type PlayRequest = readonly [text: string, name: string, withProducts?: boolean | undefined];

export function serveRuns(): void {
  const reply = (message: PlayReply) => postMessage(message);
  const files = new Map<string, OwnLog>();
  let running: AbortController | undefined;
  addEventListener('message', async ({ data }: MessageEvent<PlayRequest | File | undefined>) => {
    if (data instanceof File) {
      reply({ file: await keep(data, files) });
      return;
    }
    running?.abort();
    if (data === undefined) return;
    running = new AbortController();
    reply(await ended(data, files, running.signal, (share) => reply({ share })));
  });
}

async function keep(file: File, files: Map<string, OwnLog>): Promise<TakenOrNot> {
  try {
    const { taken: found, log } = await taken(file);
    if (log !== undefined) files.set(file.name, log);
    return { taken: found };
  } catch (error) {
    if (error instanceof Failure) return { refused: refusalOf(error) };
    throw error;
  }
}

function refusalOf({ what, why, fix, faults }: Failure): Refusal {
  return { what, why, fix, faults };
}

async function ended(
  [text, name, withProducts = false]: PlayRequest,
  files: OwnFiles,
  signal: AbortSignal,
  onShare: (share: number) => void,
): Promise<Ended> {
  try {
    return { picture: await playScenario(text, name, signal, onShare, { withProducts, files }) };
  } catch (error) {
    if (!(error instanceof Failure)) return { error: String(error) };
    return { refused: refusalOf(error) };
  }
}
