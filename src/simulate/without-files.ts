// Scenarios for other processes, which do not have the files that a scenario names.
import { readDocument } from '../scenario/document.js';
import { FileSource } from '../scenario/file-source.js';
import type { Scenario } from '../scenario/scenario-schema.js';
import { Failure } from '../schema/failure.js';
import type { ReplicationTask } from './replication.js';

/** The scenario with the definition that it names in it: a worker does not have its files. @throws Failure `wrong_usage` for logs */
export function withoutFiles({ path, scenario }: Pick<ReplicationTask, 'path' | 'scenario'>): unknown {
  const { limiter } = scenario as Scenario;
  const { definition } = (limiter ?? {}) as { readonly definition?: unknown };
  const read = (name: string) => readDocument(new FileSource(path).definition(name), name).value;
  const value =
    typeof definition === 'string'
      ? { ...(scenario as object), limiter: { ...limiter, definition: read(definition) } }
      : scenario;
  if (namesFiles(value))
    throw new Failure('wrong_usage', {
      what: 'The scenario cannot be sent to workers.',
      why: `${path} reads a log, which workers do not have.`,
      fix: 'Leave --workers out.',
    });
  return value;
}

/** Whether a scenario names files: a worker reads none, whatever is in its queue. */
export function namesFiles(scenario: unknown): boolean {
  const { arrivals, limiter } = (scenario ?? {}) as { readonly arrivals?: unknown; readonly limiter?: unknown };
  const { definition } = (limiter ?? {}) as { readonly definition?: unknown };
  return typeof definition === 'string' || (Array.isArray(arrivals) && arrivals.some((one) => one?.model === 'log'));
}
