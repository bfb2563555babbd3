// Sliders, choices, the rules to compare with, and the clients' back-off.
import { useRef } from 'preact/hooks';
import { backingOff, type Controls, comparing, policies, rules, type Slider, slid } from './controls.js';

interface SlidersProps {
  readonly controls: Controls;
  readonly onEdit: (edit: (text: string) => string) => void;
}

export function Sliders({ controls, onEdit }: SlidersProps) {
  const { sliders, backoff, takesBackoff, compared, takesRules } = controls;
  const groups = ['Requests', 'Limiter', 'Clients', 'Service'] as const;
  const of = (group: Slider['group']) => sliders.filter((slider) => slider.group === group);
  return (
    <form class="sliders" onSubmit={(event) => event.preventDefault()}>
      {groups.map(
        (group) =>
          (of(group).length > 0 || (group === 'Clients' && takesBackoff)) && (
            <fieldset key={group}>
              <legend>{group}</legend>
              {of(group).map((slider) => (
                <Slide
                  key={slider.path.join('/')}
                  slider={slider}
                  onValue={(value) => onEdit((text) => slid(text, slider, value))}
                />
              ))}
              {group === 'Limiter' && takesRules && (
                <fieldset class="row rules chips">
                  <legend>other rules over it</legend>
                  {rules.map((name) => (
                    <label key={name}>
                      <input
                        type="checkbox"
                        checked={compared.includes(name)}
                        onChange={({ currentTarget: { checked } }) =>
                          onEdit((text) =>
                            comparing(text, checked ? [...compared, name] : compared.filter((one) => one !== name)),
                          )
                        }
                      />
                      <span>{name}</span>
                    </label>
                  ))}
                </fieldset>
              )}
              {group === 'Clients' && takesBackoff && (
                <Select
                  label="back-off"
                  chosen={backoff ?? ''}
                  options={[
                    ['', 'no retries'],
                    ...policies.map((policy) => [policy, policy.replace('_', ' ')] as const),
                  ]}
                  onChoose={(value) => onEdit((text) => backingOff(text, value === '' ? undefined : value))}
                />
              )}
            </fieldset>
          ),
      )}
    </form>
  );
}

interface SelectProps {
  readonly label: string;
  /** Undefined: the first, until another is chosen. */
  readonly chosen?: string;
  readonly options: readonly (readonly [value: string, words: string])[];
  readonly onChoose: (value: string) => void;
}

export function Select({ label, chosen, options, onChoose }: SelectProps) {
  return (
    <label class="row choice">
      <span>{label}</span>
      <select value={chosen} onChange={({ currentTarget }) => onChoose(currentTarget.value)}>
        {options.map(([value, words]) => (
          <option key={value} value={value}>
            {words}
          </option>
        ))}
      </select>
    </label>
  );
}

export function Slide({ slider, onValue }: { readonly slider: Slider; readonly onValue: (value: number) => void }) {
  const { label, value, unit, isWhole } = slider;
  const most = useRef(0);
  // The maximum stays fixed during a drag, or it would run away from the pointer.
  if (value > most.current) most.current = roundUp(4 * value);
  if (most.current === 0) most.current = 10 * (slider.by ?? 1);
  const step = slider.by ?? (isWhole ? 1 : roundUp(most.current / 400));
  const words = `${value}${unit === '' ? '' : unit.startsWith(' ') ? unit : ` ${unit}`}`;
  const id = `slider-${slider.path.join('-')}`;
  return (
    <div class="slide">
      <label for={id}>{label}</label>
      <output for={id}>{words}</output>
      <input
        id={id}
        type="range"
        min={/^(threshold|within|count|servers|max_attempts|base|for)$/.test(String(slider.path.at(-1))) ? step : 0}
        max={most.current}
        step={step}
        value={value}
        aria-valuetext={words}
        onInput={({ currentTarget }) => onValue(Number(currentTarget.valueAsNumber.toFixed(6)))}
      />
    </div>
  );
}

/** Rounds up to 1, 2, 5, 10, 20, … */
function roundUp(value: number): number {
  let unit = 1;
  while (unit < value) unit *= 10;
  while (unit / 10 >= value) unit /= 10;
  const found = [0.2, 0.5, 1].find((share) => share * unit >= value * (1 - 1e-9)) ?? 1;
  return Number((found * unit).toPrecision(3));
}
