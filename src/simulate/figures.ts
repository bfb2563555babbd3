// Owns the way from a world that has run to the figures of its outcome: totals, contracts, reactions.
import type { Contract } from '../host/contract.js';
import type { Figures } from '../outcome/run-figures.js';
import type { ContractOutcome, Reaction } from '../outcome/schema.js';
import type { World } from './world.js';

/**
 * @param lastCycle where the run ended: limiting stretches that are still open count up to it
 * @param top how many contracts are listed; totals cover all
 */
export function figuresOf(world: World, lastCycle: number, top: number): Figures {
  const { contracts, names } = world;
  const total = { requests: 0, admitted: 0, limited: 0, entries: 0, restores: 0, limiting_cycles: 0 };
  let limitedContracts = 0;
  let peakCount = 0;
  let peakCycle: number | null = null;
  for (const { tally, gate } of contracts) {
    total.requests += tally.requests;
    total.admitted += tally.admitted;
    total.limited += tally.limited;
    total.entries += tally.entries;
    total.restores += tally.restores;
    total.limiting_cycles += tally.limitingCyclesUntil(lastCycle, gate.admits);
    if (tally.limited > 0) limitedContracts += 1;
    if (
      tally.peakCount > peakCount ||
      (tally.peakCount === peakCount &&
        (tally.peakCycle ?? Number.POSITIVE_INFINITY) < (peakCycle ?? Number.POSITIVE_INFINITY))
    ) {
      peakCount = tally.peakCount;
      peakCycle = tally.peakCycle ?? null;
    }
  }
  const order = contracts.map((_, index) => index);
  order.sort((a, b) => contracts[b]!.tally.limited - contracts[a]!.tally.limited || compareText(names[a]!, names[b]!));
  return {
    contracts: contracts.length,
    contracts_limited: limitedContracts,
    ...total,
    peak_count: peakCount,
    peak_cycle: peakCycle,
    by_contract: order.slice(0, top).map((index) => contractOutcome(world, index, lastCycle)),
    reactions: reactionsOf(world),
  };
}

function contractOutcome({ contracts, names, transitions }: World, index: number, lastCycle: number): ContractOutcome {
  const contract = contracts[index]!;
  const { tally, gate, plan } = contract;
  return {
    id: names[index]!,
    threshold: thresholdOf(contract),
    within: plan.aggregates[0]?.within ?? 0,
    requests: tally.requests,
    admitted: tally.admitted,
    limited: tally.limited,
    entries: tally.entries,
    restores: tally.restores,
    limiting_cycles: tally.limitingCyclesUntil(lastCycle, gate.admits),
    peak_count: tally.peakCount,
    peak_cycle: tally.peakCycle ?? null,
    transitions: [...transitions[index]!],
  };
}

/** Events a window may hold before the gate moves; null where the definition sets no bound. */
export function thresholdOf({ plan }: Contract): number | null {
  const [threshold] = plan.thresholds;
  return threshold === undefined || threshold === Number.POSITIVE_INFINITY ? null : threshold;
}

/** One for each entry: in the model the limiting is seen in the cycle that causes it. */
function reactionsOf({ contracts, names, transitions, lastRequests }: World): Reaction[] {
  const reactions: Reaction[] = [];
  contracts.forEach(({ plan }, index) => {
    const admitting = new Set(plan.states.filter(({ admits }) => admits).map(({ name }) => name));
    let restores = 0;
    let open: Reaction | undefined;
    for (const { cycle, to } of transitions[index]!) {
      if (!admitting.has(to) && open === undefined) {
        open = {
          contract: names[index]!,
          entry_cycle: cycle,
          reaction_cycles: 0,
          restore_cycle: null,
          recovery_cycles: null,
        };
        reactions.push(open);
      } else if (admitting.has(to)) {
        const last = lastRequests[index]![restores];
        restores += 1;
        if (open === undefined) continue;
        Object.assign(open, {
          restore_cycle: cycle,
          recovery_cycles: last === undefined || Number.isNaN(last) ? null : cycle - last,
        });
        open = undefined;
      }
    }
  });
  return reactions.sort((a, b) => a.entry_cycle - b.entry_cycle || compareText(a.contract, b.contract));
}

/** By code unit: the same order on every machine, whatever its language. */
function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
