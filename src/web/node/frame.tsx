// The frame of every node page: header with clock, connection status, login.
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { type NodeClock, nodeNow } from './clock.js';
import { grouped, weir, withKey, wordsOf } from './node-client.js';
import { InputField } from './parts.js';

export interface Status {
  readonly is: 'connecting' | 'live' | 'lost';
  readonly words: string;
}

export const connecting: Status = { is: 'connecting', words: 'Connecting…' };
export const live: Status = { is: 'live', words: 'Live' };

const looks = { connecting: 'quiet', live: 'good', lost: 'bad' } as const;

interface FrameProps {
  readonly clock: NodeClock | undefined;
  readonly status: Status;
  readonly session: BrowserSession;
  readonly children: ComponentChildren;
}

export function Frame({ clock, status, session, children }: FrameProps) {
  return (
    <>
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <header class="head">
        <a class="brand" href="/">
          Weir
        </a>
        <Clock clock={clock} />
        <p class={`status doing ${looks[status.is]}`} role="status">
          {status.words}
        </p>
        <LogIn session={session} />
      </header>
      <main id="main">{children}</main>
    </>
  );
}

/** Writes the cycle past the component, once per cycle; the compositor animates the bar without work by the page. */
function Clock({ clock }: Pick<FrameProps, 'clock'>) {
  const cycle = useRef<HTMLElement>(null);
  const bar = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (clock === undefined) return;
    const { cycleMs, endMs } = clock;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const show = () => {
      const now = nodeNow(clock);
      cycle.current!.textContent = grouped(now.cycle);
      timer = setTimeout(show, (1 - now.share) * cycleMs);
    };
    show();
    const steps = { transform: ['scaleX(0)', 'scaleX(1)'] };
    const moving = bar.current!.animate(steps, {
      duration: cycleMs,
      iterations: Number.POSITIVE_INFINITY,
      easing: 'steps(20, jump-none)',
    });
    moving.startTime = endMs - cycleMs;
    return () => {
      clearTimeout(timer);
      moving.cancel();
    };
  }, [clock]);
  return (
    <div class="clock quiet">
      <span>
        Cycle{' '}
        <span id="cycle" ref={cycle}>
          –
        </span>
      </span>
      <div class="passing" ref={bar} />
    </div>
  );
}

interface BrowserSession {
  readonly isIn: boolean | undefined;
  readonly change: () => void;
}

export function useSession(): BrowserSession {
  const [isIn, setIsIn] = useState<boolean>();
  const [asked, setAsked] = useState(0);
  useEffect(() => {
    const ask = async () => (await weir.call('listLimits')).machines.used !== undefined;
    // The node refuses an expired cookie once and removes it, so a second try succeeds.
    ask()
      .catch(ask)
      .then(setIsIn, () => setIsIn(false));
  }, [asked]);
  return { isIn, change: () => setAsked(asked + 1) };
}

function LogIn({ session: { isIn, change } }: Pick<FrameProps, 'session'>) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [fault, setFault] = useState('');
  if (isIn === undefined) return null;
  const leave = async () => {
    await weir.call('endSession').catch(() => {});
    change();
  };
  if (isIn)
    return (
      <button type="button" onClick={leave}>
        Log out
      </button>
    );
  const enter = async (event: SubmitEvent) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    try {
      await withKey(String(new FormData(form).get('key')).trim()).call('openSession');
      form.reset();
      setFault('');
      dialog.current?.close();
      change();
    } catch (error) {
      setFault(wordsOf(error));
    }
  };
  return (
    <>
      <button type="button" onClick={() => dialog.current?.showModal()}>
        Log in
      </button>
      <dialog ref={dialog} aria-labelledby="log-in-title">
        <form onSubmit={enter}>
          <h2 id="log-in-title">Log in with a key</h2>
          <p class="quiet">The key is sent once, for a session of this browser. It is not kept.</p>
          <InputField label="Key" name="key" type="password" required autocomplete="off" spellcheck={false} />
          {fault === '' ? null : (
            <p class="bad" role="alert">
              {fault}
            </p>
          )}
          <div class="row">
            <button type="submit" class="first">
              Log in
            </button>
            <button type="button" onClick={() => dialog.current?.close()}>
              Cancel
            </button>
          </div>
        </form>
      </dialog>
    </>
  );
}
