// Runs the newest text of the visible view; texts that arrive during a run supersede each other.
import { useLayoutEffect, useState } from 'preact/hooks';
import { element } from '../../web/page-element.js';
import type { Picture } from './played.js';
import type { Ended, PlayReply, PlayRequest, Refusal, TakenOrNot } from './runs.js';

/** A longer run is cancelled by the next change. */
const PATIENCE_MS = 400;

const nowMs = () => Number(document.timeline.currentTime);

class Player {
  readonly #worker: Worker;
  #sinceMs: number | undefined;
  #next: PlayRequest | undefined;
  #onTaken: (file: TakenOrNot) => void = () => {};
  onPicture: (picture: Picture) => void = () => {};
  onRefusal: (refusal: Refusal | undefined) => void = () => {};
  onShare: (share: number | undefined) => void = () => {};

  constructor() {
    const program = new Blob([element('unpacked').textContent], { type: 'text/javascript' });
    this.#worker = new Worker(URL.createObjectURL(program));
    this.#worker.onmessage = ({ data }: MessageEvent<PlayReply>) => {
      if ('file' in data) this.#onTaken(data.file);
      else if (!('share' in data)) this.#end(data);
      else if (this.#isLong) this.onShare(data.share);
    };
    this.#worker.onerror = ({ message }) => this.#end({ error: message });
  }

  take(file: File): Promise<TakenOrNot> {
    return new Promise((resolve) => {
      this.#onTaken = resolve;
      this.#worker.postMessage(file);
    });
  }

  play(...asked: PlayRequest): void {
    this.#next = asked;
    if (this.#sinceMs === undefined) this.#begin();
    else if (this.#isLong) this.#worker.postMessage(undefined);
  }

  get #isLong(): boolean {
    return nowMs() - (this.#sinceMs ?? nowMs()) > PATIENCE_MS;
  }

  #begin(): void {
    if (this.#next === undefined) return;
    this.#sinceMs = nowMs();
    this.#worker.postMessage(this.#next);
    this.#next = undefined;
  }

  #end(ended: Ended): void {
    this.#sinceMs = undefined;
    this.onShare(undefined);
    if ('error' in ended) throw new Error(ended.error);
    // A stopped run has no picture.
    if ('refused' in ended) this.onRefusal(ended.refused);
    else if (ended.picture !== undefined) {
      this.onPicture(ended.picture);
      this.onRefusal(undefined);
    }
    this.#begin();
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
