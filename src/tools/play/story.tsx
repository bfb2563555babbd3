// The story: seven ideas, each with one sentence, one picture and one control. It ends in the sandbox.
import { useMemo, useState } from 'preact/hooks';
import type { Outcome } from '../../harness/outcome/outcome-schema.js';
import type { Theme } from '../../report/chart-specs/palette.js';
import { number } from '../../report/words.js';
import { Charts, linkName } from './charts.js';
import { controlsOf, type Slider, slid } from './controls.js';
import { Tiles } from './figures.js';
import { Lanes } from './lanes.js';
import { usePlayed } from './player.js';
import { Slide } from './sliders.js';
import { type StoryStep, steps } from './steps.js';

interface StoryProps {
  readonly at: number;
  readonly theme: Theme;
  readonly onStep: (at: number) => void;
  readonly onSandbox: (text: string, name: string) => void;
}

export function Story({ at, theme, onStep, onSandbox }: StoryProps) {
  const step = steps[at]!;
  const [text, setText] = useState(step.text);
  const { picture } = usePlayed(text, step.name);
  const slider = useMemo(() => sliderOf(step, text), [step, text]);
  const go = (to: number) => {
    setText(steps[to]!.text);
    onStep(to);
  };
  return (
    <main class="story" data-digest={picture?.outcome.digest}>
      <ol class="row steps">
        {steps.map(({ title }, index) => (
          <li key={title}>
            <button type="button" aria-current={index === at ? 'step' : undefined} onClick={() => go(index)}>
              {index + 1}
              <span>{title}</span>
            </button>
          </li>
        ))}
      </ol>
      <article key={step.name}>
        <h2>{step.title}</h2>
        <p class="question">{step.sentence}</p>
        {slider && (
          <form class="sliders" onSubmit={(event) => event.preventDefault()}>
            <Slide slider={slider} onValue={(value) => setText((now) => slid(now, sliderOf(step, now)!, value))} />
          </form>
        )}
        {picture && <Lanes picture={picture} theme={theme} />}
        {picture && <Charts charts={picture.charts.filter((chart) => linkName(chart) === step.shows)} theme={theme} />}
        {picture && <Control outcome={picture.outcome} />}
        <p class="quiet">{step.tryThis}</p>
        <div class="row buttons">
          {at > 0 && (
            <button type="button" onClick={() => go(at - 1)}>
              Back
            </button>
          )}
          <button type="button" onClick={() => onSandbox(text, step.name)}>
            Open it in the sandbox
          </button>
          {at + 1 < steps.length && (
            <button type="button" class="first" onClick={() => go(at + 1)}>
              Next: {steps[at + 1]!.title}
            </button>
          )}
        </div>
      </article>
    </main>
  );
}

/** What the sentence claims, beside the same run without the cause. */
function Control({ outcome: { clients = [], control } }: { readonly outcome: Outcome }) {
  const [here, without] = [clients[0], control?.clients?.[0]];
  if (control === undefined || here === undefined || without === undefined) return null;
  const served = ({ succeeded, jobs }: typeof here) => `${number(succeeded)} of ${number(jobs)}`;
  const attempts = ({ retry_amplification }: typeof here) => number(retry_amplification);
  return (
    <Tiles
      tiles={[
        ['jobs served', served(here), `${served(without)} ${control.name}`],
        ['attempts per job', attempts(here), `${attempts(without)} ${control.name}`],
      ]}
    />
  );
}

function sliderOf({ control, label, by }: StoryStep, text: string): Slider | undefined {
  const found = controlsOf(text)?.sliders.find(({ path }) => path.join('.') === control);
  return found && { ...found, label, by };
}
