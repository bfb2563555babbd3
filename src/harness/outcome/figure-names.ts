// Names of figures in conditions, derived from the outcome schema so that none is missing.
import type { TSchema } from 'typebox';
import { ClientFigures, CostFigures, LiveFigures, Quantiles, ServiceFigures } from './outcome-schema.js';

export const stretchFigures = [
  'requests',
  'admitted',
  'limited',
  'entries',
  'restores',
  'limiting_cycles',
  'peak_count',
] as const;
export type StretchFigure = (typeof stretchFigures)[number];

const runFigures = [
  'contracts',
  'contracts_limited',
  'peak_cycle',
  'reaction_cycles',
  'recovery_cycles',
  'first_entry',
  'last_restore',
  'skipped_lines',
  'delayed',
  'without_place.requests',
  'without_place.limited',
  ...namesOf(Quantiles).map((name) => `delay_ms.${name}`),
];

const clientFigures = namesOf(ClientFigures);
const partFigures = [
  ...namesOf(ServiceFigures).map((name) => `service.${name}`),
  ...namesOf(CostFigures).map((name) => `costs.${name}`),
  ...namesOf(LiveFigures).map((name) => `live.${name}`),
];

/** Phases have user-defined names. */
const openPrefixes = ['live.by_decision.', 'live.by_phase.'];

/** Names in conditions on the whole run: `clients.retries` of all clients, `clients.<kind>.retries` of one kind. */
export function wholeFigures(kinds: readonly string[]): { names: string[]; prefixes: string[] } {
  const owners = ['clients', ...kinds.map((kind) => `clients.${kind}`)];
  return {
    names: [
      ...stretchFigures,
      ...runFigures,
      ...owners.flatMap((owner) => clientFigures.map((name) => `${owner}.${name}`)),
      ...partFigures,
    ],
    prefixes: openPrefixes,
  };
}

function namesOf({ properties }: { readonly properties: Readonly<Record<string, TSchema>> }): string[] {
  return Object.entries(properties).flatMap(([name, schema]) => {
    const { type, anyOf = [] } = schema as { readonly type?: string; readonly anyOf?: readonly TSchema[] };
    if (type === 'integer' || type === 'number') return [name];
    return anyOf.includes(Quantiles) ? namesOf(Quantiles).map((figure) => `${name}.${figure}`) : [];
  });
}
