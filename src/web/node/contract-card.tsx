// One contract of a machine: its state, its count against the threshold as it moves, what it admitted and limited, its diagram.
import { useEffect, useRef, useState } from 'preact/hooks';
import { COURSE_CYCLES, type NumberColumn } from '../../api/course.js';
import { type LiveChart, liveChart } from '../live-chart.js';
import { CandidateRows } from './candidate.js';
import type { Course, StateSeen } from './course.js';
import { KeyRows } from './keys.js';
import { figures, type ShownContract, some, weir, wordsOf } from './node-client.js';
import { Scrolling } from './scrolling.js';
import { StateDiagram, type StateMachine } from './state-diagram.js';

interface CardProps {
  readonly contract: ShownContract;
  readonly state: string;
  readonly course: Course;
  /** The last cycle of the course: what the card is drawn again for. */
  readonly cycle: number | undefined;
  readonly isOwn: boolean;
  /** Length of a cycle; undefined until the clock has been read. */
  readonly cycleMs: number | undefined;
  /** Whether there are so few that each shows its diagram. */
  readonly isFew: boolean;
}

export function ContractCard({ contract, state, course, cycle, isOwn, cycleMs, isFew }: CardProps) {
  const { id, name, threshold, within, rule, keyed, shadow } = contract;
  const [keys, limitedKeys] = [
    course.now('keys') ?? keyed?.keys ?? 0,
    course.now('limited_keys') ?? keyed?.limited ?? 0,
  ];
  const isLimiting = course.now('limiting') === null ? limitedKeys > 0 : course.now('limiting') === 1;
  // The state of a contract with keys is that of the keys without a place: what counts is how many of its keys limit.
  const doing = keyed === undefined ? state : `${figures(limitedKeys)} of ${some(keys, 'key')} limiting`;
  const unknown = course.unknown().reduce((sum, [from, to]) => sum + to - from + 1, 0);
  const words = [
    rule,
    shadow ? 'shadow, admits all' : undefined,
    keyed && 'each key is counted separately',
    unknown === 0 ? undefined : `${some(unknown, 'cycle')} unknown, hatched`,
  ];
  const mainName = keyed === undefined ? 'count' : 'limited_keys';
  return (
    <article class="card contract" aria-labelledby={`name-${id}`}>
      <div class="title">
        <h3 id={`name-${id}`}>
          {name} <span class="code quiet">{id}</span>
        </h3>
        <span class={`pill ${isLimiting ? 'limits' : 'admits'}`}>{doing}</span>
      </div>
      <dl class="counts">
        <div>
          <dt>
            {keyed !== undefined
              ? 'Keys limiting'
              : within === undefined
                ? 'Count'
                : `Count in ${some(within, 'cycle')}`}
          </dt>
          <dd>
            <b>{shown(course.now(mainName))}</b>
            {keyed === undefined && threshold !== undefined ? (
              <span class="quiet"> of {figures(threshold)}</span>
            ) : null}
            {keyed === undefined ? null : <span class="quiet"> of {shown(course.now('keys'))}</span>}
          </dd>
        </div>
        <div>
          <dt>Admitted in the last cycle</dt>
          <dd>
            <b>{shown(course.now('admitted'))}</b> <span class="quiet">{shown(course.sum('admitted'))} in chart</span>
          </dd>
        </div>
        <div>
          <dt>Limited in the last cycle</dt>
          <dd class={(course.now('limited') ?? 0) > 0 ? 'bad' : ''}>
            <b>{shown(course.now('limited'))}</b> <span class="quiet">{shown(course.sum('limited'))} in chart</span>
          </dd>
        </div>
        {contract.candidate === undefined ? null : (
          <div>
            <dt>Candidate would limit</dt>
            <dd>
              <b>{shown(course.now('would_limit'))}</b>{' '}
              <span class="quiet">{shown(course.sum('would_limit'))} in chart</span>
            </dd>
          </div>
        )}
      </dl>
      {words.some((word) => word !== undefined) ? (
        <p class="quiet">{words.filter((word) => word !== undefined).join(' · ')}</p>
      ) : null}
      <CourseChart
        course={course}
        cycle={cycle}
        threshold={keyed === undefined ? threshold : undefined}
        of={mainName}
        unit={
          keyed !== undefined
            ? 'keys limiting'
            : within === undefined
              ? 'used up'
              : `requests in ${some(within, 'cycle')}`
        }
        name={name}
        cycleMs={cycleMs}
      />
      <Legend course={course} of={mainName} hasThreshold={keyed === undefined && threshold !== undefined} />
      <div class="folds">
        <Figures course={course} isKeyed={keyed !== undefined} />
        <Diagram contract={contract} state={state} isOpen={isFew} />
        {keyed === undefined ? null : <KeyRows contract={contract} isOwn={isOwn} />}
        {contract.candidate === undefined ? null : <CandidateRows contract={contract} isOwn={isOwn} />}
      </div>
    </article>
  );
}

function shown(value: number | null | undefined): string {
  return value === null || value === undefined ? '–' : figures(value);
}

interface ChartProps {
  readonly course: Course;
  readonly cycle: number | undefined;
  readonly threshold: number | undefined;
  readonly of: 'count' | 'limited_keys';
  readonly unit: string;
  readonly name: string;
  readonly cycleMs: number | undefined;
}

function CourseChart({ course, cycle, threshold, of, unit, name, cycleMs }: ChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const chart = useRef<LiveChart>(undefined);
  useEffect(() => {
    const made = liveChart(place.current!, { threshold, unit, inView: COURSE_CYCLES, cycleMs });
    chart.current = made;
    return () => made.close();
  }, [course, cycleMs]);
  useEffect(() => {
    if (course.length === 0) return;
    const starts = (column: 'entries' | 'restores') =>
      course.of(column).flatMap((value, index) => (value === null || value === 0 ? [] : [course.first + index]));
    chart.current?.show({
      cycles: Array.from({ length: course.length }, (_, index) => course.first + index),
      count: course.of(of),
      admitted: course.of('admitted'),
      limited: course.of('limited'),
      shaded: course.stretches('limiting'),
      states: of === 'count' ? colouredStates(course) : [],
      unknown: course.unknown(),
      entries: starts('entries'),
      restores: starts('restores'),
    });
  }, [course, cycle, cycleMs]);
  const against = threshold === undefined ? '' : ` against the threshold of ${figures(threshold)}`;
  const label = `${of === 'count' ? 'Count' : 'Limited keys'} of ${name} over the last ${COURSE_CYCLES} cycles${against}, with the requests admitted and limited. The figures follow.`;
  return <div class="chart" ref={place} role="img" aria-label={label} />;
}

/** Each state that was seen, with its colour: two families, of states that admit and of those that do not. */
function colouredStates(course: Course): readonly (StateSeen & { readonly colour: string })[] {
  const next = { admits: 0, limits: 0 };
  return course.statesSeen().map((seen) => {
    const family = seen.admits ? 'admits' : 'limits';
    next[family] += 1;
    return { ...seen, colour: `${family}-${Math.min(next[family], STATE_COLOURS)}` };
  });
}

/** Colours of each family; further states share the last. */
const STATE_COLOURS = 5;

interface LegendProps {
  readonly course: Course;
  readonly of: 'count' | 'limited_keys';
  readonly hasThreshold: boolean;
}

/** What the lines, bars, marks and colours of the chart mean; of those that may be absent, what is in it. */
function Legend({ course, of, hasThreshold }: LegendProps) {
  const isSeen = (column: NumberColumn) => course.of(column).some((value) => value !== null && value > 0);
  const states = of === 'count' ? colouredStates(course).filter(({ stretches }) => stretches.length > 0) : [];
  const signs: [sign: string, words: string, colour?: string][] = [
    ['line', of === 'count' ? 'count' : 'keys limiting'],
    ...(hasThreshold ? ([['dashes', 'threshold']] as [string, string][]) : []),
    ['bar', 'admitted', 'link-pale'],
    ['bar', 'limited', 'bad'],
    ...(isSeen('limiting') ? ([['shade', 'limiting']] as [string, string][]) : []),
    ...(isSeen('entries') ? ([['down', 'entry']] as [string, string][]) : []),
    ...(isSeen('restores') ? ([['up', 'restore']] as [string, string][]) : []),
    ...(course.unknown().length > 0 ? ([['hatch', 'unknown']] as [string, string][]) : []),
    ...states.map(({ name, colour }): [string, string, string] => ['state', `state ${name}`, colour]),
  ];
  return (
    <ul class="legend" aria-hidden="true">
      {signs.map(([sign, words, colour]) => (
        <li key={words}>
          <span class={`sign ${sign}`} style={colour === undefined ? undefined : `--sign:var(--${colour})`} />
          {words}
        </li>
      ))}
    </ul>
  );
}

function Figures({ course, isKeyed }: { readonly course: Course; readonly isKeyed: boolean }) {
  const [isOpen, setIsOpen] = useState(false);
  const cycles = isOpen ? Array.from({ length: course.length }, (_, index) => course.length - 1 - index) : [];
  return (
    <details onToggle={(event) => setIsOpen((event.currentTarget as HTMLDetailsElement).open)}>
      <summary>Figures, cycle by cycle</summary>
      <Scrolling class="scrolls" label="Figures, cycle by cycle">
        <table>
          <thead>
            <tr>
              <th scope="col">Cycle</th>
              {isKeyed ? null : (
                <th scope="col" class="number">
                  Count
                </th>
              )}
              <th scope="col" class="number">
                Admitted
              </th>
              <th scope="col" class="number">
                Limited
              </th>
              <th scope="col">{isKeyed ? 'Keys limiting at its end' : 'State at its end'}</th>
            </tr>
          </thead>
          <tbody>
            {cycles.map((index) => (
              <tr key={course.first + index}>
                <th scope="row">{course.first + index}</th>
                {isKeyed ? null : <td class="number">{shown(course.of('count')[index])}</td>}
                <td class="number">{shown(course.of('admitted')[index])}</td>
                <td class="number">{shown(course.of('limited')[index])}</td>
                <td>
                  {course.of('limiting')[index] === null
                    ? 'unknown'
                    : isKeyed
                      ? `${shown(course.of('limited_keys')[index])} of ${shown(course.of('keys')[index])}`
                      : course.states[index]}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scrolling>
    </details>
  );
}

interface DiagramProps extends Pick<CardProps, 'contract' | 'state'> {
  readonly isOpen: boolean;
}

function Diagram({ contract: { machine: slug, id }, state, isOpen }: DiagramProps) {
  const [isWanted, setIsWanted] = useState(isOpen);
  const [machine, setMachine] = useState<StateMachine>();
  const [fault, setFault] = useState('');
  useEffect(() => {
    if (!isWanted) return;
    weir.call('showStateMachine', { params: { slug, contract_id: id } }).then(
      (shown) => setMachine(shown.machine),
      (error) => setFault(wordsOf(error)),
    );
  }, [isWanted]);
  return (
    <details open={isOpen} onToggle={(event) => setIsWanted((event.currentTarget as HTMLDetailsElement).open)}>
      <summary>States</summary>
      {fault === '' ? null : <p class="fault">{fault}</p>}
      {machine === undefined ? null : <StateDiagram machine={machine} state={state} />}
    </details>
  );
}
