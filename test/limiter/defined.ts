// Definitions with states of their own.
import type { ContractDefinition } from '../../src/limiter/definition.js';

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
