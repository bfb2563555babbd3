// The old limits written for another product, and what stays different: read again, paired with the old ones, and run over the same log.
import type { LimitChange } from './diff-answer.js';
import type { GatewayLimits } from './found.js';
import { limitChanges } from './limit-changes.js';
import type { LimitDiff } from './limit-diff.js';
import { fittingLimits } from './limit-rule.js';
import { limitersInFiles } from './limits-in.js';
import { type Dialect, type WrittenLimits, writtenIn } from './written-limits.js';
import { envoyGateway, kgateway, traefik } from './written-objects.js';
import { haproxy, nginx } from './written-text.js';

export interface LimitMove extends WrittenLimits {
  readonly as: string;
  readonly limits: GatewayLimits;
  readonly changes: readonly LimitChange[];
  /** Undefined without a log. */
  readonly traffic: LimitDiff | undefined;
}

const dialects: Readonly<Record<string, Dialect>> = {
  traefik,
  'envoy-gateway': envoyGateway,
  kgateway,
  nginx,
  haproxy,
};

/** @param as the name of a product @param replicas instances of the gateway, and of that which takes its place */
export async function moveTo(
  as: string,
  old: GatewayLimits,
  replicas: number,
  judge: (fresh: GatewayLimits) => Promise<LimitDiff | undefined>,
): Promise<LimitMove> {
  const written = writtenIn(dialects[as]!, old, replicas);
  const limits = fittingLimits(limitersInFiles([{ name: dialects[as]!.file, text: written.text }], replicas));
  return { ...written, as, limits, changes: limitChanges(old, limits), traffic: await judge(limits) };
}
