// One contract of a machine: state, moving count against the threshold, decisions, diagram.
import { useEffect, useRef, useState } from 'preact/hooks';
import type { AnswerOf } from '../../api/client/api-client.js';
import type { Endpoints } from '../../api/client/route-table.js';
import { HISTORY_CYCLES, type NumberColumn } from '../../api/contract-history.js';
import { type LiveChart, liveChart } from '../live-chart.js';
import { type Arrow, type DrawnState, StateDiagram } from '../state-diagram.js';
import { CandidateRows } from './candidate.js';
import type { Course } from './course.js';
import { type CourseShape, courseChart } from './course-chart.js';
import { KeyList } from './keys.js';
import { grouped, lasting, type ShownContract, some, weir, wordsOf } from './node-client.js';
import { FaultLine, Fold, ScrollingTable, ShownCount } from './parts.js';

interface CardProps {
  readonly contract: ShownContract;
  readonly state: string;
  readonly course: Course;
  readonly cycle: number | undefined;
  readonly isOwn: boolean;
  readonly cycleMs: number | undefined;
  readonly isFew: boolean;
}

export function ContractCard({ contract, state, course, cycle, isOwn, cycleMs, isFew }: CardProps) {
  const { id, name, threshold, within, keyed } = contract;
  const [keys, limitedKeys] = [
    course.now('keys') ?? keyed?.keys ?? 0,
    course.now('limited_keys') ?? keyed?.limited ?? 0,
  ];
  const isLimiting = course.now('limiting') === null ? limitedKeys > 0 : course.now('limiting') === 1;
  // With keys, the state covers only keys that did not fit into the table, so the number of limiting keys is shown.
  const doing = keyed === undefined ? state : `${grouped(limitedKeys)} of ${some(keys, 'key')} limiting`;
  const mainName = keyed === undefined ? 'count' : 'limited_keys';
  return (
    <article class="card contract" aria-labelledby={`name-${id}`}>
      <div class="row title">
        <h3 id={`name-${id}`}>
          {name} <span class="code quiet">{id}</span>
        </h3>
        <span class={`doing ${isLimiting ? 'bad' : 'good'}`}>{doing}</span>
      </div>
      <Counts contract={contract} course={course} cycleMs={cycleMs} />
      <Kind contract={contract} course={course} cycleMs={cycleMs} />
      <CourseChart
        course={course}
        cycle={cycle}
        threshold={keyed === undefined ? threshold : undefined}
        of={mainName}
        unit={
          keyed !== undefined
            ? 'Keys limiting'
            : within === undefined
              ? 'Use of the limit'
              : `Requests in ${lasting(within, cycleMs)}`
        }
        name={name}
        cycleMs={cycleMs}
      />
      <div class="row">
        <Figures course={course} isKeyed={keyed !== undefined} name={`${name} ${id}`} />
        <Fold title="States" isOpen={isFew}>
          {() => (
            <Diagram
              contract={contract}
              state={state}
              keys={keyed && { all: keys, limiting: limitedKeys }}
              doing={doing}
            />
          )}
        </Fold>
        {keyed !== undefined && isOwn ? (
          <Fold title="Keys">{() => <KeyList contract={contract} cycleMs={cycleMs} />}</Fold>
        ) : null}
        {contract.candidate === undefined ? null : <CandidateRows contract={contract} isOwn={isOwn} />}
      </div>
    </article>
  );
}

type CountsProps = Pick<CardProps, 'contract' | 'course' | 'cycleMs'>;

function Counts({ contract: { threshold, within, keyed, candidate }, course, cycleMs }: CountsProps) {
  const ofKeys = { name: 'Keys limiting', value: course.now('limited_keys'), of: shown(course.now('keys')) };
  const ofOne = {
    name: within === undefined ? 'Count' : `Count in ${lasting(within, cycleMs)}`,
    value: course.now('count'),
    of: threshold === undefined ? undefined : grouped(threshold),
  };
  const { name, value, of } = keyed === undefined ? ofOne : ofKeys;
  return (
    <dl class="figures">
      <ShownCount name={name} value={shown(value)} beside={of === undefined ? undefined : `of ${of}`} />
      <ShownCount
        name={`Admitted in ${lasting(1, cycleMs)}`}
        value={shown(course.now('admitted'))}
        beside={`${shown(course.sum('admitted'))} in chart`}
      />
      <ShownCount
        name={`Limited in ${lasting(1, cycleMs)}`}
        value={shown(course.now('limited'))}
        beside={`${shown(course.sum('limited'))} in chart`}
        isBad={(course.now('limited') ?? 0) > 0}
      />
      {candidate === undefined ? null : (
        <ShownCount
          name="Candidate would limit"
          value={shown(course.now('would_limit'))}
          beside={`${shown(course.sum('would_limit'))} in chart`}
        />
      )}
    </dl>
  );
}

function Kind({ contract: { rule, shadow, keyed }, course, cycleMs }: CountsProps) {
  const unknown = course.unknown().reduce((sum, [from, to]) => sum + to - from + 1, 0);
  const words = [
    rule,
    shadow ? 'shadow, admits all' : undefined,
    keyed && 'each key is counted separately',
    unknown === 0 ? undefined : `${lasting(unknown, cycleMs)} unknown, hatched`,
  ].filter((word) => word !== undefined);
  return words.length === 0 ? null : <p class="quiet">{words.join(' · ')}</p>;
}

function shown(value: number | null | undefined): string {
  return value === null || value === undefined ? '–' : grouped(value);
}

interface ChartProps extends Omit<CourseShape, 'cycleMs'> {
  readonly course: Course;
  readonly cycle: number | undefined;
  readonly name: string;
  readonly cycleMs: number | undefined;
}

function CourseChart({ course, cycle, threshold, of, unit, name, cycleMs }: ChartProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const chart = useRef<LiveChart>(undefined);
  useEffect(() => {
    const made = liveChart(canvas.current!);
    chart.current = made;
    return () => made.close();
  }, [course]);
  useEffect(() => {
    if (course.length > 0 && cycleMs !== undefined)
      chart.current?.show(courseChart(course, { of, unit, threshold, cycleMs }));
  }, [course, cycle, cycleMs]);
  const against = threshold === undefined ? '' : ` against the threshold of ${grouped(threshold)}`;
  const label = `${of === 'count' ? 'Count' : 'Limited keys'} of ${name} over the last ${lasting(HISTORY_CYCLES, cycleMs)}${against}, with the requests admitted and limited. The figures follow.`;
  return (
    <div class="chart course">
      <canvas ref={canvas} role="img" aria-label={label} />
    </div>
  );
}

interface FiguresProps extends Pick<ChartProps, 'course' | 'name'> {
  readonly isKeyed: boolean;
}

function Figures({ course, isKeyed, name }: FiguresProps) {
  const at = (name: NumberColumn, index: number) => shown(course.of(name)[index]);
  const stateAt = (index: number) =>
    course.of('limiting')[index] === null
      ? 'unknown'
      : isKeyed
        ? `${at('limited_keys', index)} of ${at('keys', index)}`
        : course.states[index];
  return (
    <Fold title="Figures, cycle by cycle">
      {() => (
        <ScrollingTable
          label={`${name}, cycle by cycle`}
          columns={[
            ['Cycle'],
            ...(isKeyed ? [] : [['Count', 'n'] as const]),
            ['Admitted', 'n'],
            ['Limited', 'n'],
            [isKeyed ? 'Keys limiting at its end' : 'State at its end'],
          ]}
          rows={Array.from({ length: course.length }, (_, age) => {
            const index = course.length - 1 - age;
            const count = isKeyed ? [] : [at('count', index)];
            return [course.first + index, ...count, at('admitted', index), at('limited', index), stateAt(index)];
          })}
        />
      )}
    </Fold>
  );
}

interface DiagramProps extends Pick<CardProps, 'contract' | 'state'> {
  readonly keys: KeysByState | undefined;
  readonly doing: string;
}

interface KeysByState {
  readonly all: number;
  readonly limiting: number;
}

function Diagram({ contract: { machine: slug, id }, state, keys, doing }: DiagramProps) {
  const [machine, setMachine] = useState<StateMachine>();
  const [fault, setFault] = useState('');
  useEffect(() => {
    weir.call('showStateMachine', { params: { slug, contract_id: id } }).then(
      (answer) => setMachine(answer.machine),
      (error) => setFault(wordsOf(error)),
    );
  }, []);
  if (machine === undefined) return <FaultLine words={fault} />;
  const states = Object.entries(machine.states).map(([name, config]) => ({
    name,
    admits: isAdmitting(config as StateConfig),
  }));
  return (
    <StateDiagram
      states={keys === undefined ? states : withKeys(states, keys)}
      arrows={arrowsOf(machine)}
      at={keys === undefined ? state : undefined}
      label={`${machine.id}: ${doing}`}
    />
  );
}

/** Only whether a key is limiting is known: where several states share that, none has a number of its own. */
function withKeys(states: readonly DrawnState[], { all, limiting }: KeysByState): readonly DrawnState[] {
  return states.map((one) => {
    const isAlone = states.filter(({ admits }) => admits === one.admits).length === 1;
    return isAlone ? { ...one, keys: one.admits ? all - limiting : limiting } : one;
  });
}

type StateMachine = AnswerOf<Endpoints['showStateMachine']>['machine'];

interface StateConfig {
  readonly tags?: readonly string[];
  readonly on?: Readonly<Record<string, readonly TransitionConfig[]>>;
}

interface TransitionConfig {
  readonly target?: string;
  readonly description?: string;
  readonly actions?: readonly (string | { readonly type: string; readonly params?: { readonly event?: string } })[];
}

const isAdmitting = ({ tags = [] }: StateConfig) => tags.includes('admits');

function arrowsOf({ states }: StateMachine): readonly Arrow[] {
  const found = new Map<string, Arrow>();
  for (const [from, config] of Object.entries(states)) {
    const { on = {} } = config as StateConfig;
    // Count transitions come first; the same transition by hand adds nothing.
    for (const event of ['aggregate', 'move']) {
      for (const { target: to, description = '', actions = [] } of on[event] ?? []) {
        if (to === undefined) continue;
        const known = found.get(`${from} ${to}`);
        if (event === 'move' && known !== undefined) continue;
        const emits = actions.flatMap((action) => (typeof action === 'object' && action.params?.event) || []);
        const words = emits.length === 0 ? description : `${description}, emits ${emits.join(', ')}`;
        found.set(`${from} ${to}`, { from, to, words: [...(known?.words ?? []), words] });
      }
    }
  }
  return [...found.values()];
}
