// A node with the machine `edge`, as gateways find it.
import { type Running, startRunning, type Told } from './running.js';

export interface Edge {
  readonly node: Running;
  /** The key of the owner of the machine. */
  readonly key: string;
  /** Deploys the rate limiter onto it, with a window of one cycle. */
  deploy(parameters: object): Promise<Told>;
}

export async function startEdge(): Promise<Edge> {
  // A cycle longer than the test: counts are those of one cycle.
  const node = await startRunning({ cycleMs: 3_600_000 });
  const key = node.keyOf('owner');
  await node.ask('POST', '/api/chain/state-machines', { key, body: { slug: 'edge' } });
  const deploy: Edge['deploy'] = (parameters) =>
    node.ask('POST', '/api/contracts/templates/rate-limiter/deploy', {
      key,
      body: { slug: 'edge', within: 1, ...parameters },
    });
  return { node, key, deploy };
}
