// Assembles an outcome: figures, expectations, notes, verdict, digest.
import { canonicalJson, sha256Hex } from '../../core/schema/canonical.js';
import { instantText, startOf } from '../../core/time/cycle.js';
import { VERSION } from '../../core/version.js';
import { type Expectation, type FigureSource, judge } from './expectation.js';
import { type Past, stretchValues } from './interval-figures.js';
import type { Outcome, Verdict } from './outcome-schema.js';
import type { Figures, RunFold } from './run-fold.js';

type Facts = 'kind' | 'arm' | 'scenario' | 'seed' | 'cycle_ms' | 'skipped_lines';

export type RunFacts = Pick<Outcome, Facts> &
  Readonly<Record<'first_cycle' | 'last_cycle', number>> &
  Partial<Pick<Outcome, 'question' | 'notes' | 'partial'>>;

const MOST_REACTIONS = 1_000;

/** The run without what is claimed to be the cause, and its name. */
export interface ControlRun {
  readonly name: string;
  readonly outcome: Outcome;
  readonly source: FigureSource;
}

interface Asked {
  readonly expectations: readonly Expectation[];
  readonly control?: ControlRun | undefined;
  /** Number of contracts listed. */
  readonly top: number;
}

/** @param parts what only some runs have: clients, a service, a comparison … @returns with the source of all its figures */
export function assembleOutcome(
  { notes: own = [], ...facts }: RunFacts,
  fold: RunFold,
  { expectations, control, top }: Asked,
  parts: Partial<Outcome> = {},
): { readonly outcome: Outcome; readonly source: FigureSource } {
  const { first_cycle, last_cycle, cycle_ms } = facts;
  const figures = fold.figures(last_cycle, top);
  const past = fold.past(first_cycle, last_cycle);
  const bare = { weir: VERSION, ...facts, ...figures, ...(control && { control: controlFigures(control) }), ...parts };
  const source = figureSource(bare, past);
  const notes = [...own, ...notesOn(figures, past, cycle_ms)];
  const outcome = {
    ...bare,
    reactions: bare.reactions.slice(0, MOST_REACTIONS),
    ...(notes.length > 0 ? { notes } : {}),
    expectations: expectations.map((expectation) => judge(expectation, source, control?.source)),
  };
  return { outcome: sealed({ ...outcome, verdict: verdictOf(outcome) }), source };
}

/**
 * Adds the digest: `sha256:` and SHA-256 over the canonical JSON of what a seed determines. Excluded are the program version,
 * how a log was read, figures of live runs only (times, connections, differences), and runs with other rules.
 */
export function sealed(outcome: Omit<Outcome, 'digest'> & { readonly digest?: string }): Outcome {
  const {
    weir: _weir,
    read: _read,
    live: _live,
    comparison: _comparison,
    compared: _compared,
    digest: _digest,
    ...determined
  } = outcome;
  return { ...outcome, digest: `sha256:${sha256Hex(canonicalJson(determined))}` };
}

/** A difference or an invalid run outweighs the expectations. What holds in part of a run need not hold in all. */
export function verdictOf(run: Pick<Outcome, 'expectations' | 'comparison' | 'partial'>): Verdict {
  const { expectations, comparison, partial } = run;
  if (comparison?.verdict === 'run invalid') return 'invalid';
  if (comparison?.verdict === 'node differs') return 'differs';
  if (!expectations.every(({ held }) => held)) return 'not held';
  if (expectations.length === 0 && comparison === undefined) return 'nothing expected';
  return partial === true ? 'invalid' : 'held';
}

function controlFigures({ name, outcome }: ControlRun): NonNullable<Outcome['control']> {
  const { requests, admitted, limited, entries, restores, limiting_cycles, peak_count, peak_cycle } = outcome;
  const { clients, service, digest } = outcome;
  const figures = { requests, admitted, limited, entries, restores, limiting_cycles, peak_count, peak_cycle };
  return { name, ...figures, ...(clients && { clients }), ...(service && { service }), digest };
}

/** @param outcome with all its reactions */
function figureSource(outcome: Partial<Outcome> & Pick<Figures, 'reactions'>, past: Past): FigureSource {
  const { reactions } = outcome;
  const largest = (values: (number | null)[]) =>
    values.reduce<number | undefined>(
      (most, value) => (value === null ? most : Math.max(most ?? value, value)),
      undefined,
    );
  return {
    values: stretchValues(past),
    whole: (name) => {
      switch (name) {
        case 'reaction_cycles':
          return largest(reactions.map(({ reaction_cycles }) => reaction_cycles));
        case 'recovery_cycles':
          return largest(reactions.map(({ recovery_cycles }) => recovery_cycles));
        case 'first_entry':
          return reactions[0] === undefined ? undefined : reactions[0].entry_cycle - past.firstCycle;
        case 'last_restore': {
          const last = largest(reactions.map(({ restore_cycle }) => restore_cycle));
          return last === undefined ? undefined : last - past.firstCycle;
        }
        default:
          return numberAt(outcome, name);
      }
    },
  };
}

/** A dotted path: `clients.retries` of all clients, `clients.obedient.retries` of one kind. */
function numberAt(outcome: Partial<Outcome>, path: string): number | undefined {
  const [head = '', ...rest] = path.split('.');
  let place: unknown = (outcome as Record<string, unknown>)[head];
  if (head === 'clients') {
    const kinds = outcome.clients ?? [];
    // The last step is a figure, even if a kind of client has its name. Conditions write kinds with underscores.
    const kind = rest.length > 1 ? kinds.find((one) => one.kind.replaceAll('-', '_') === rest[0]) : undefined;
    place = kind ?? kinds[0];
    if (kind !== undefined) rest.shift();
  }
  for (const step of rest) place = (place as Record<string, unknown> | null | undefined)?.[step];
  return typeof place === 'number' ? place : undefined;
}

function notesOn({ by_contract }: Figures, past: Past, cycleMs: number): string[] {
  let longest = { cycles: 0, contract: '', from: 0 };
  by_contract.forEach(({ id, within, rule, transitions }) => {
    // Not every rule counts limited requests.
    if (rule !== undefined) return;
    transitions.forEach(({ cycle, to }, index) => {
      const cycles = (transitions[index + 1]?.cycle ?? past.lastCycle) - cycle;
      if (!past.admits(to) && cycles >= 2 * within && cycles > longest.cycles)
        longest = { cycles, contract: id, from: cycle };
    });
  });
  if (longest.cycles === 0) return [];
  const since =
    past.firstCycle === 0
      ? `${longest.cycles} cycles in one stretch from cycle ${longest.from}`
      : `${Number(((longest.cycles * cycleMs) / 1000).toFixed(1))} s in one stretch from ${instantText(startOf(longest.from, cycleMs))}`;
  return [
    `Sustained overload: contract ${longest.contract} was limiting for ${since}. ` +
      'Every request counts, those that are limited too, so the gate stays shut for as long as the overload lasts.',
  ];
}
