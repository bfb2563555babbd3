// The state of every actor of a run, and what it waits for.
import { cycleOf, startOf } from '../../core/time/cycle.js';
import type { Client } from '../clients/client.js';
import type { SimulatedClients } from './simulated-clients.js';
import type { World } from './world.js';

export interface ActorState {
  readonly actor: string;
  readonly state: string;
  readonly waiting: string;
}

export function actorStates(world: World, clients: SimulatedClients | undefined): ActorState[] {
  const contracts = world.contracts.map((contract, index) => {
    // A contract without requests is still in the cycle of its last one.
    contract.advance(world.clock.cycle());
    const { wakeMs } = contract;
    const waiting = wakeMs === Number.POSITIVE_INFINITY ? '' : `wakes at cycle ${cycleOf(wakeMs, world.clock.cycleMs)}`;
    return {
      actor: `contract ${world.run.names[index]}`,
      state: `${contract.state}, count ${contract.gate.count}`,
      waiting,
    };
  });
  const ofClients = [...(clients?.population.clients() ?? [])].map((client) => ({
    actor: client.id,
    state: client.state.at,
    waiting: [...heldIn(client.state), ...alarmOf(client, world.clock.cycleMs)].join(', '),
  }));
  return [...contracts, ...ofClients];
}

function heldIn(state: object): string[] {
  return Object.entries(state).flatMap(([name, value]: [string, unknown]) => {
    if (name === 'at') return [];
    if (typeof value === 'number' || typeof value === 'boolean') return [`${name} ${value}`];
    const { size, job, attempts } = (value ?? {}) as { size?: number; job?: { number: number }; attempts?: number };
    if (typeof size === 'number') return [`${name} ${size}`];
    return name === 'task' && job !== undefined ? [`job ${job.number} after attempt ${attempts}`] : [];
  });
}

function alarmOf({ alarmMs }: Client, cycleMs: number): string[] {
  if (alarmMs === undefined) return [];
  const cycle = cycleOf(alarmMs, cycleMs);
  return [`wakes at cycle ${cycle} + ${Math.round(alarmMs - startOf(cycle, cycleMs))} ms`];
}
