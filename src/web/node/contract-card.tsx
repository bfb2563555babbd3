// One contract of a machine: its state, its count against the threshold as it moves, what it admitted and limited, its diagram.
import { useEffect, useRef, useState } from 'preact/hooks';
import { type LiveChart, liveChart } from '../live-chart.js';
import { type Course, IN_VIEW } from './course.js';
import { Keys } from './keys.js';
import { type Contract, figures, some, weir, wordsOf } from './node-client.js';
import { Scrolling } from './scrolling.js';
import { StateDiagram, type StateMachine } from './state-diagram.js';

interface CardProps {
  readonly contract: Contract;
  readonly state: string;
  readonly course: Course;
  /** The last cycle of the course: what the card is drawn again for. */
  readonly cycle: number | undefined;
  readonly isOwn: boolean;
  /** Whether there are so few that each shows its diagram. */
  readonly isFew: boolean;
}

export function ContractCard({ contract, state, course, cycle, isOwn, isFew }: CardProps) {
  const { id, name, threshold, within, rule, keyed, shadow } = contract;
  const isLimiting = course.now('limiting') === 1;
  const unknown = course.unknown().reduce((sum, [from, to]) => sum + to - from + 1, 0);
  const words = [
    rule,
    shadow ? 'shadow, admits all' : undefined,
    keyed && 'each key is counted for itself',
    unknown === 0 ? undefined : `${some(unknown, 'cycle')} not seen, hatched`,
  ];
  const mainName = keyed === undefined ? 'count' : 'limited_keys';
  return (
    <article class="card contract" aria-labelledby={`name-${id}`}>
      <div class="title">
        <h3 id={`name-${id}`}>
          {name} <span class="code quiet">{id}</span>
        </h3>
        <span class={`pill ${isLimiting ? 'limits' : 'admits'}`}>{state}</span>
      </div>
      <dl class="figures">
        <div>
          <dt>
            {keyed !== undefined
              ? 'Keys limited'
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
          <dt>Admitted</dt>
          <dd>
            <b>{shown(course.now('admitted'))}</b> <span class="quiet">{shown(course.sum('admitted'))} in view</span>
          </dd>
        </div>
        <div>
          <dt>Limited</dt>
          <dd class={(course.now('limited') ?? 0) > 0 ? 'bad' : ''}>
            <b>{shown(course.now('limited'))}</b> <span class="quiet">{shown(course.sum('limited'))} in view</span>
          </dd>
        </div>
      </dl>
      {words.some((word) => word !== undefined) ? (
        <p class="quiet">{words.filter((word) => word !== undefined).join(' · ')}</p>
      ) : null}
      <CourseChart
        course={course}
        cycle={cycle}
        threshold={keyed === undefined ? threshold : undefined}
        of={mainName}
        name={name}
      />
      <div class="folds">
        <Figures course={course} />
        <Diagram contract={contract} state={state} isOpen={isFew} />
        {keyed === undefined ? null : <Keys contract={contract} isOwn={isOwn} />}
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
  readonly name: string;
}

function CourseChart({ course, cycle, threshold, of, name }: ChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const chart = useRef<LiveChart>(undefined);
  useEffect(() => {
    const made = liveChart(place.current!, threshold, IN_VIEW);
    chart.current = made;
    return () => made.close();
  }, [course]);
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
      unknown: course.unknown(),
      entries: starts('entries'),
      restores: starts('restores'),
    });
  }, [course, cycle]);
  const against = threshold === undefined ? '' : ` against the threshold of ${figures(threshold)}`;
  const label = `${of === 'count' ? 'Count' : 'Limited keys'} of ${name} over the last ${IN_VIEW} cycles${against}, with the requests admitted and limited. The figures follow.`;
  return <div class="chart" ref={place} role="img" aria-label={label} />;
}

/** The same as the chart, to be read. */
function Figures({ course }: { readonly course: Course }) {
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
              <th scope="col" class="number">
                Count
              </th>
              <th scope="col" class="number">
                Admitted
              </th>
              <th scope="col" class="number">
                Limited
              </th>
              <th scope="col">Requests are</th>
            </tr>
          </thead>
          <tbody>
            {cycles.map((index) => (
              <tr key={course.first + index}>
                <th scope="row">{course.first + index}</th>
                <td class="number">{shown(course.of('count')[index])}</td>
                <td class="number">{shown(course.of('admitted')[index])}</td>
                <td class="number">{shown(course.of('limited')[index])}</td>
                <td>
                  {course.of('limiting')[index] === null
                    ? 'not seen'
                    : course.of('limiting')[index] === 1
                      ? 'limited'
                      : 'admitted'}
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
