// Runs the newest text of the visible view; texts that arrive during a run supersede each other.
import { useLayoutEffect, useState } from 'preact/hooks';
import type { Picture } from './played.js';
import { type PlayRequest, type Refusal, Runs } from './runs.js';

/** A longer run is cancelled by the next change. */
const PATIENCE_MS = 400;

const nowMs = () => Number(document.timeline.currentTime);

class Player {
  readonly #runs = new Runs();
  #sinceMs: number | undefined;
  #next: PlayRequest | undefined;
  onPicture: (picture: Picture) => void = () => {};
  onRefusal: (refusal: Refusal | undefined) => void = () => {};
  onShare: (share: number | undefined) => void = () => {};

  take(file: File) {
    return this.#runs.take(file);
  }

  play(...asked: PlayRequest): void {
    this.#next = asked;
    if (this.#sinceMs === undefined) void this.#run();
    else if (nowMs() - this.#sinceMs > PATIENCE_MS) this.#runs.stop();
  }

  async #run(): Promise<void> {
    for (let next = this.#next; next !== undefined; next = this.#next) {
      this.#next = undefined;
      const sinceMs = nowMs();
      this.#sinceMs = sinceMs;
      const ended = await this.#runs.run(next, (share) => nowMs() - sinceMs > PATIENCE_MS && this.onShare(share));
      this.#sinceMs = undefined;
      this.onShare(undefined);
      if ('error' in ended) throw new Error(ended.error);
      // A stopped run has no picture.
      if ('refused' in ended) this.onRefusal(ended.refused);
      else if (ended.picture !== undefined) {
        this.onPicture(ended.picture);
        this.onRefusal(undefined);
      }
    }
  }
}

export const player = new Player();

interface Played {
  readonly picture: Picture | undefined;
  readonly refusal: Refusal | undefined;
  readonly share: number | undefined;
}

/** Runs the text on each change; the last picture stays until the next is ready. */
export function usePlayed(...[text, name, withProducts]: PlayRequest): Played {
  const [picture, setPicture] = useState<Picture>();
  const [refusal, setRefusal] = useState<Refusal>();
  const [share, setShare] = useState<number>();
  player.onPicture = setPicture;
  player.onRefusal = setRefusal;
  player.onShare = setShare;
  useLayoutEffect(() => player.play(text, name, withProducts), [text, name, withProducts]);
  return { picture, refusal, share };
}
