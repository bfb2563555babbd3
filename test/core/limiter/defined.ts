// Definitions with states of their own.
import type { ContractDefinition } from '../../../src/core/limiter/definition.js';

type Move = ContractDefinition['transitions'][number];

interface Other extends Partial<Move> {
  readonly event?: string;
  readonly within?: number;
}

/** A move at a count: of requests, and in ten cycles, if nothing else is said. */
export function move(from: string, to: string, condition: string, other: Other = {}): Move {
  const { event = 'request', within = 10, ...others } = other;
  const trigger = { kind: 'on_aggregate' as const, event, aggregate: 'count' as const, within, condition };
  return { from, to, operator: 'KO42', trigger, ...others };
}

export function defined(name: string, states: ContractDefinition['states'], transitions: Move[]): ContractDefinition {
  return { name, version: '1.0', states, transitions };
}

/** As XState's tools write it: after limiting, half of the threshold for as long as more than one request is in the window. */
export const probation = {
  id: 'probation',
  initial: 'open',
  states: {
    open: {
      tags: ['admits'],
      on: { request: { guard: countOf('count > 3'), target: 'shut', actions: emit('closed') } },
    },
    shut: { on: { request: { guard: countOf('count <= 1'), target: 'probation' }, move: 'open' } },
    probation: {
      tags: ['admits'],
      on: {
        request: [
          { guard: countOf('count > 2'), target: 'shut' },
          { guard: countOf('count == 0'), target: 'open', actions: emit('opened') },
        ],
      },
    },
  },
};

/** The guard of a drawn machine. */
export function countOf(condition: string) {
  return { type: 'countIn', params: { within: 2, condition } };
}

function emit(event: string) {
  return { type: 'emit', params: { event } };
}
