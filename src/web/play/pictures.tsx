// What the playground shows of a run: its charts, its figures, and what was expected of it.
import type { Outcome } from '../../outcome/outcome-schema.js';
import { palettes, type Theme } from '../chart/palette.js';
import type { Picture } from './played.js';
import { number, Plot, type PlotLine } from './plot.js';

const percent = (part: number, whole: number) => `${number.format(whole === 0 ? 0 : (100 * part) / whole)} %`;
const counted = (n: number, noun: string) => `${number.format(n)} ${noun}${n === 1 ? '' : 's'}`;

/** Colours of rules side by side: those of Okabe and Ito that stay apart on either ground, and a dash for each. */
const ruleTones = ['threshold', 'limited', 'admitted', 'median', 'tail', 'band'] as const;
const dashes = [[], [8, 3], [2, 3], [10, 3, 2, 3], [4, 4], [14, 4]];

interface PicturesProps {
  readonly picture: Picture;
  readonly theme: Theme;
  /** One chart by its name. Default: all that there are. */
  readonly only?: string | undefined;
}

export function Pictures({ picture, theme, only }: PicturesProps) {
  const { outcome, window, xs, requests, admitted, rules, behind, columnCycles } = picture;
  const { tones } = palettes[theme];
  const near = picture.nearsLimit ? (window?.threshold ?? null) : null;
  const limited = requests.map((n, column) => n - admitted[column]!);
  const shows = (name: string) => only === undefined || only === name;
  const each = columnCycles === 1 ? 'per cycle' : `per ${number.format(columnCycles)} cycles`;
  const of =
    window === undefined || outcome.contracts === 1 ? '' : ` of contract ${window.contract}, which is limited most`;
  return (
    <>
      {window && shows('window') && (
        <Plot
          id="window"
          title={outcome.by_contract[0]?.rule === undefined ? 'What the window counts' : 'What is used up of the limit'}
          about={`Peak ${number.format(outcome.peak_count)}${window.threshold === null ? '' : `, threshold ${number.format(window.threshold)}`}${of}; ${window.limiting.length === 0 ? 'never limiting' : `limiting where shaded, ${counted(window.limiting.length, 'time')}`}.`}
          theme={theme}
          xs={xs}
          height={250}
          shades={window.limiting}
          lines={[
            { label: 'count', color: tones.count.color, ys: window.counts, area: 0.18, width: 2 },
            ...(near === null
              ? []
              : [
                  {
                    label: 'threshold',
                    color: tones.threshold.color,
                    ys: xs.map(() => near),
                    dash: [7, 4],
                  },
                ]),
          ]}
        />
      )}
      {shows('decisions') && (
        <Plot
          id="decisions"
          title={`Requests ${each}`}
          about={`${number.format(outcome.admitted)} admitted, ${number.format(outcome.limited)} limited.`}
          theme={theme}
          xs={xs}
          height={170}
          xTitle={
            only === undefined && (rules.length > 0 || behind !== undefined) ? undefined : 'cycles from the start'
          }
          lines={[
            { label: 'limited', color: tones.limited.color, ys: requests, shown: limited, area: 0.85, width: 1 },
            { label: 'admitted', color: tones.admitted.color, ys: admitted, area: 1, width: 1 },
          ]}
        />
      )}
      {rules.length > 0 && shows('rules') && (
        <Plot
          id="rules"
          title="Limited so far, by rule"
          about={rules.map(({ name, refused }) => `${name} ${number.format(refused.at(-1) ?? 0)}`).join(', ')}
          theme={theme}
          xs={xs}
          height={200}
          xTitle={behind === undefined ? 'cycles from the start' : undefined}
          lines={rules.map(
            ({ name, refused }, index): PlotLine => ({
              label: name,
              color: tones[ruleTones[index % ruleTones.length]!].color,
              dash: dashes[(index + Math.floor(index / ruleTones.length)) % dashes.length]!,
              ys: refused,
              width: 2,
            }),
          )}
        />
      )}
      {behind && shows('behind') && (
        <Plot
          id="behind"
          title="Behind the gate"
          about={behindWords(outcome)}
          theme={theme}
          xs={xs}
          height={180}
          xTitle="cycles from the start"
          lines={[
            { label: 'open jobs', color: tones.tail.color, ys: behind['open jobs'], area: 0.12, width: 2 },
            ...(outcome.service === undefined
              ? []
              : [{ label: 'queue', color: tones.median.color, ys: behind.queue, dash: [8, 3], width: 2 }]),
            { label: 'retries', color: tones.retries.color, ys: behind.retries },
          ]}
        />
      )}
    </>
  );
}

function behindWords({ clients, service }: Outcome): string {
  const all = clients?.[0];
  const words = [
    ...(all === undefined
      ? []
      : [`${counted(all.jobs, 'job')}, ${number.format(all.retry_amplification)} attempts each`]),
    ...(all === undefined ? [] : [`${number.format(all.given_up + all.dropped)} lost`]),
    ...(service === undefined ? [] : [`${number.format(service.wasted)} served after their client had given up`]),
  ];
  return `${words.join(', ')}.`;
}

export function FigureTiles({ outcome }: { readonly outcome: Outcome }) {
  const { requests, limited, entries, peak_count, limiting_cycles, delayed } = outcome;
  const figures: [name: string, value: string, note: string][] = [
    ['requests', number.format(requests), ''],
    ['limited', number.format(limited), percent(limited, requests)],
    ['entries', number.format(entries), `${counted(limiting_cycles, 'cycle')} limiting`],
    ['peak', number.format(peak_count), delayed === undefined ? 'in a window' : `${number.format(delayed)} delayed`],
  ];
  return (
    <dl class="figures">
      {figures.map(([name, value, note]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            {value}
            <small>{note}</small>
          </dd>
        </div>
      ))}
    </dl>
  );
}

export function Expectations({ outcome: { expectations } }: { readonly outcome: Outcome }) {
  if (expectations.length === 0) return null;
  return (
    <section aria-labelledby="expected">
      <h2 id="expected">Expectations</h2>
      <ul class="expected">
        {expectations.map(({ name, expected, actual, held }) => (
          <li key={name} class={held ? 'held' : 'broken'}>
            <b>{held ? '✓ held' : '✗ not held'}</b> {name}
            <small>
              {expected}; found{' '}
              {actual === null ? 'nothing' : typeof actual === 'number' ? number.format(actual) : actual}
            </small>
          </li>
        ))}
      </ul>
    </section>
  );
}
