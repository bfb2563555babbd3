// The page at /: the most active machines, the node's health, and the machines of the logged-in user.
import { render } from 'preact';
import { useState } from 'preact/hooks';
import type { AnswerOf } from '../../api/client/api-client.js';
import type { Endpoints } from '../../api/client/route-table.js';
import { WINDOWS } from '../../api/windows.js';
import { useAnswer, useClock, useEvery } from './clock.js';
import { connecting, Frame, live, useSession } from './frame.js';
import { ago, grouped, lasting, some, weir, wordsOf } from './node-client.js';
import { NetworkNodes, NodeHealth } from './node-health.js';
import { FaultLine, ShownCommand } from './parts.js';

type Active = AnswerOf<Endpoints['listActive']>;
type OwnMachine = AnswerOf<Endpoints['listMachines']>['machines'][number];

const REFRESH_MS = 1_000;
const SHOWN = 20;

function Home() {
  const clock = useClock();
  const session = useSession();
  const [status, setStatus] = useState(connecting);
  const [window, setWindow] = useState<number>(WINDOWS[0]);
  const [active, setActive] = useState<Active>();
  useEvery(
    REFRESH_MS,
    async () => {
      try {
        setActive(await weir.call('listActive', { query: { cycles: window, limit: SHOWN } }));
        setStatus(live);
      } catch (error) {
        setStatus({ is: 'lost', words: `The node does not answer: ${wordsOf(error)}` });
      }
    },
    window,
  );
  return (
    <Frame clock={clock} status={status} session={session}>
      <h1>Machines</h1>
      <div class="columns">
        <div>
          {session.isIn ? <OwnMachines /> : null}
          <section class="card" aria-labelledby="active-title">
            <div class="row title">
              <h2 id="active-title">Public machines, active or limiting</h2>
              <fieldset class="row chips">
                <legend>Ranked by transitions within the last</legend>
                {WINDOWS.map((cycles) => (
                  <label key={cycles} title={some(cycles, 'cycle')}>
                    <input
                      type="radio"
                      name="window"
                      value={cycles}
                      checked={window === cycles}
                      onChange={() => setWindow(cycles)}
                    />
                    <span>{lasting(cycles, clock?.cycleMs)}</span>
                  </label>
                ))}
              </fieldset>
            </div>
            {active === undefined ? null : <Ranking active={active} cycleMs={clock?.cycleMs} />}
          </section>
        </div>
        <aside>
          <NodeHealth />
          <NetworkNodes cycleMs={clock?.cycleMs} />
        </aside>
      </div>
    </Frame>
  );
}

interface RankingProps {
  readonly active: Active;
  readonly cycleMs: number | undefined;
}

function Ranking({ active: { machines, cycle, window_cycles }, cycleMs }: RankingProps) {
  if (machines.length === 0)
    return (
      <p class="quiet" id="empty">
        No public machine is limiting, or has moved within the last {lasting(window_cycles, cycleMs)}.
      </p>
    );
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">Machine</th>
          <th scope="col" class="wide">
            Activity
          </th>
          {WINDOWS.map((cycles) => (
            <th scope="col" class="n" key={cycles} title={some(cycles, 'cycle')}>
              {lasting(cycles, cycleMs)}
            </th>
          ))}
          <th scope="col" class="n wide">
            Last moved
          </th>
        </tr>
      </thead>
      <tbody id="machines">
        {machines.map((machine) => (
          <tr key={machine.slug}>
            <th scope="row">
              <a href={`/m/${machine.slug}`}>{machine.display_name}</a>
              <Now name={machine.display_name === machine.slug ? undefined : machine.slug} {...machine} />
            </th>
            <td class="wide">
              <Spark values={machine.stretches} />
            </td>
            {machine.last.map((transitions, index) => (
              <td class="n" key={WINDOWS[index]}>
                {grouped(transitions)}
              </td>
            ))}
            <td class="n wide">
              {machine.last_transition_cycle === undefined ? '–' : ago(machine.last_transition_cycle, cycle, cycleMs)}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

interface NowProps {
  readonly name?: string | undefined;
  readonly contracts: number;
  readonly limiting?: number;
  readonly keyed?: OwnMachine['keyed'];
}

function Now({ name, contracts, limiting, keyed }: NowProps) {
  const ofContracts =
    limiting === undefined
      ? some(contracts, 'contract')
      : limiting === 0
        ? `${some(contracts, 'contract')}, none limiting`
        : `${grouped(limiting)} of ${some(contracts, 'contract')} ${limiting === 1 ? 'is' : 'are'} limiting`;
  const ofKeys = keyed && `${grouped(keyed.limited)} of ${some(keyed.keys, 'key')} limiting`;
  return (
    <div class={`doing ${limiting ? 'bad' : 'good'}`}>
      {[name, ofContracts, ofKeys].filter((words) => words !== undefined).join(' · ')}
    </div>
  );
}

const [WIDTH, HEIGHT] = [120, 24];

function Spark({ values }: { readonly values: readonly number[] }) {
  const most = Math.max(1, ...values);
  const step = WIDTH / values.length;
  const bars = values.map((value, index) => {
    const height = value === 0 ? 0 : Math.max(2, (value / most) * HEIGHT);
    return height === 0 ? '' : `M${index * step} ${HEIGHT}v${-height}h${step - 1}v${height}z`;
  });
  return (
    <svg class="spark" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
      <path d={bars.join('')} />
    </svg>
  );
}

function OwnMachines() {
  const [answer, fault] = useAnswer(5 * REFRESH_MS, () =>
    weir.call('listMachines', { query: { own: true, sort: 'limiting' } }),
  );
  const machines = answer?.machines;
  return (
    <section class="card" aria-labelledby="own-title">
      <h2 id="own-title">Your machines</h2>
      <FaultLine words={fault} />
      <ul class="plain" id="own">
        {machines?.map((machine) => (
          <li key={machine.slug}>
            <span>
              <a href={`/m/${machine.slug}`}>{machine.display_name}</a>{' '}
              <span class="quiet">{machine.is_public ? 'public' : 'private'}</span>
            </span>
            <Now {...machine} contracts={machine.contract_count} />
          </li>
        ))}
      </ul>
      <p class="quiet">
        {machines?.length === 0 ? 'None yet. ' : ''}A new one: <ShownCommand words="machine create <machine>" />
      </p>
    </section>
  );
}

render(<Home />, document.body);
