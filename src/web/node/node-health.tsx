// Health and capacity of the node, and the nodes of its network.
import { useRef, useState } from 'preact/hooks';
import type { AnswerOf } from '../../api/client/api-client.js';
import type { Endpoints } from '../../api/client/route-table.js';
import { useAnswer, useEvery } from './clock.js';
import { cyclesInWords, grouped, some, weir } from './node-client.js';
import { FaultLine } from './parts.js';

const REFRESH_MS = 5_000;

interface Health {
  readonly words: string;
  readonly isWell: boolean;
}

export function NodeHealth() {
  const [health, setHealth] = useState<Health>();
  const [limits, setLimits] = useState<AnswerOf<Endpoints['listLimits']>>();
  const [identity, setIdentity] = useState<AnswerOf<Endpoints['publicKey']>>();
  useEvery(REFRESH_MS, async () => {
    try {
      setHealth(await readHealth());
      setLimits(await weir.call('listLimits'));
      if (identity === undefined) setIdentity(await weir.call('publicKey'));
    } catch {
      setHealth({ words: 'does not answer', isWell: false });
    }
  });
  return (
    <section class="card" aria-labelledby="node-title">
      <h2 id="node-title">This node</h2>
      <dl class="facts">
        <dt>Health</dt>
        <dd class={health?.isWell === false ? 'doing bad' : 'doing good'} id="health">
          {health?.words ?? '–'}
        </dd>
        <dt>Version</dt>
        <dd id="version">{identity?.version ?? '–'}</dd>
        <dt>Key</dt>
        <dd id="fingerprint" class="code">
          {identity?.fingerprint ?? '–'}
        </dd>
      </dl>
      {limits === undefined ? null : (
        <dl class="rooms">
          {boundsIn(limits).map(({ name, used, on_node, refused }) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>
                {grouped(used)} <span class="quiet">of {grouped(on_node)}</span>
                {refused === 0 ? null : <span class="doing bad">, {grouped(refused)} refused</span>}
              </dd>
              <dd class="bar">
                <meter min={0} max={on_node} value={used} aria-label={`${name} in use`} />
              </dd>
            </div>
          ))}
        </dl>
      )}
      <nav aria-label="API">
        <a href="/api/endpoints">Routes</a>
        <a href="/api/openapi.json">OpenAPI</a>
      </nav>
    </section>
  );
}

/** The bounds of the whole node, with what is used of each now or within its window. */
function boundsIn(limits: AnswerOf<Endpoints['listLimits']>) {
  return Object.entries(limits).flatMap(([name, bound]) => {
    if (typeof bound !== 'object' || !('on_node' in bound)) return [];
    const left = 'free_on_node' in bound ? bound.free_on_node : bound.left_on_node;
    const { on_node, refused } = bound;
    return [{ name: name.replaceAll('_', ' ').replace(/kib$/, 'KiB'), on_node, refused, used: on_node - left }];
  });
}

type NetworkNode = AnswerOf<Endpoints['listNodes']>['nodes'][number];

export function NetworkNodes({ cycleMs }: { readonly cycleMs: number | undefined }) {
  const known = useRef<AnswerOf<Endpoints['listNodes']>>(undefined);
  const isAlone = known.current?.nodes.length === 0;
  const [found, fault] = useAnswer(REFRESH_MS, async () => {
    if (!isAlone) known.current = await weir.call('listNodes');
    return known.current!;
  });
  if (found === undefined || isAlone) return null;
  const { nodes, cycle } = found;
  const up = nodes.filter(({ is_up }) => is_up).length;
  return (
    <section class="card" aria-labelledby="network-title">
      <h2 id="network-title">The network</h2>
      <p class="quiet">
        {grouped(up)} of {some(nodes.length, 'node')} up
      </p>
      <FaultLine words={fault} />
      <ul class="plain" id="nodes">
        {nodes.map((node) => (
          <NetworkNodeRow key={node.fingerprint} node={node} cycle={cycle} cycleMs={cycleMs} />
        ))}
      </ul>
    </section>
  );
}

interface NodeRowProps {
  readonly node: NetworkNode;
  readonly cycle: number;
  readonly cycleMs: number | undefined;
}

function NetworkNodeRow({ node, cycle, cycleMs }: NodeRowProps) {
  const { address, fingerprint, is_this, is_up, since_cycle, clock_offset_ms: offset } = node;
  const since = cyclesInWords(Math.max(0, cycle - since_cycle), cycleMs);
  return (
    <li>
      <span>
        <b>{address?.replace(/^https?:\/\//, '') ?? 'node'}</b> {is_this ? <span class="quiet">this node</span> : null}
      </span>
      <span class={is_up ? 'doing good' : 'doing bad'}>
        {is_up ? 'up' : 'away'} {since === '' ? '' : `for ${since}`}
      </span>
      <span class="quiet">
        clock {offset < 0 ? '−' : '+'}
        {grouped(Math.abs(offset))} ms
      </span>
      <span class="code quiet">{fingerprint}</span>
    </li>
  );
}

const healthWords: Readonly<Record<string, string>> = {
  live: 'OK',
  disk_full: 'its disk is full: it decides nothing until there is room',
  draining: 'it is shutting down',
};

async function readHealth(): Promise<Health> {
  const answer = (await (await fetch('/healthz', { cache: 'no-store' })).json()) as {
    readonly status: string;
    readonly detail?: string;
  };
  return { words: healthWords[answer.status] ?? answer.detail ?? answer.status, isWell: answer.status === 'live' };
}
