// The page at /m/{slug}: a machine's contracts with their counts, and its record.
import { render } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { AnswerOf } from '../../api/client/api-client.js';
import type { Endpoints } from '../../api/client/route-table.js';
import { useClock } from './clock.js';
import { ContractCard } from './contract-card.js';
import { Course } from './course.js';
import { connecting, Frame, type Status, useSession } from './frame.js';
import { MachineFeed, type RecordRow } from './machine-feed.js';
import { ago, grouped, type ShownContract, some, weir, wordsOf } from './node-client.js';
import { FaultLine, ShownCommand } from './parts.js';
import { RecordPages, RecordTable, type RecordTableProps } from './record-table.js';
import { Verify } from './verify.js';

type Machine = AnswerOf<Endpoints['getMachine']>['machine'];

const SHOWN = 20;

const FEW = 4;

const slug = decodeURIComponent(location.pathname.split('/')[2] ?? '');

function MachinePage() {
  const clock = useClock();
  const session = useSession();
  const [found, setFound] = useState<{ readonly machine: Machine } | { readonly fault: string }>();
  const [status, setStatus] = useState(connecting);
  useEffect(() => {
    if (session.isIn === undefined) return;
    weir.call('getMachine', { params: { slug } }).then(
      ({ machine }) => {
        document.title = `${machine.display_name} · Weir`;
        setFound({ machine });
      },
      (error) => {
        setFound({ fault: wordsOf(error) });
        setStatus({ is: 'lost', words: 'Not found' });
      },
    );
  }, [session.isIn]);
  return (
    <Frame clock={clock} status={status} session={session}>
      {found === undefined ? null : 'fault' in found ? (
        <>
          <h1>{slug}</h1>
          <p class="bad">{found.fault}</p>
        </>
      ) : (
        <MachineView machine={found.machine} cycleMs={clock?.cycleMs} onStatus={setStatus} />
      )}
    </Frame>
  );
}

interface ViewProps {
  readonly machine: Machine;
  readonly cycleMs: number | undefined;
  readonly onStatus: (status: Status) => void;
}

interface Listing {
  readonly search: string;
  readonly isLimitingFirst: boolean;
  /** Last contract of each earlier page. */
  readonly after: readonly string[];
}

function MachineView({ machine, cycleMs, onStatus }: ViewProps) {
  const { display_name, is_public, is_own, created_cycle, contract_count } = machine;
  const pages = useMemo(() => new RecordPages(slug), []);
  const [listing, setListing] = useState<Listing>({ search: '', isLimitingFirst: false, after: [] });
  const { contracts, states, fault } = useContracts(machine, listing);
  const feed = useFeed(machine, contracts, onStatus, (row) => {
    pages.put(row);
    if (row.key === undefined && row.contract_id !== undefined && row.to !== undefined)
      states.set(row.contract_id, row.to);
  });
  const names = useMemo(
    () => new Map(contracts?.map(({ id, name }) => [id, `${name} ${id.slice(0, 6)}`])),
    [contracts],
  );
  const { seq = machine.head.seq, cycle = 0, courses } = feed ?? {};
  return (
    <>
      <div class="row title">
        <h1>
          {display_name} {display_name === slug ? null : <span class="quiet">{slug}</span>}
        </h1>
        <p class="quiet">
          {is_public ? 'Public' : 'Private'} · {some(contract_count, 'contract')} · {some(seq, 'row')} · made{' '}
          {ago(created_cycle, cycle, cycleMs)}
        </p>
      </div>
      <FaultLine words={fault} />
      <div class="row title">
        <h2>Contracts</h2>
        {contract_count <= SHOWN ? null : (
          <ContractPager
            count={contract_count}
            shown={contracts}
            after={listing.after}
            onTurned={(after) => setListing({ ...listing, after })}
          />
        )}
      </div>
      {contract_count < FEW ? null : <ContractSearch listing={listing} onChanged={setListing} />}
      {contracts?.length === 0 ? (
        <p class="quiet">{listing.search === '' ? 'There are none yet.' : 'No contract has this in its name or id.'}</p>
      ) : null}
      {is_own ? (
        <p class="quiet">
          A new one: <ShownCommand words={`deploy ${slug}`} />
        </p>
      ) : null}
      <div class="contracts">
        {contracts?.map((contract) => {
          const course = courses?.get(contract.id) ?? none;
          return (
            <ContractCard
              key={contract.id}
              contract={contract}
              state={states.get(contract.id) ?? contract.currentState}
              course={course}
              cycle={course.last}
              isOwn={is_own}
              cycleMs={cycleMs}
              isFew={contracts.length <= FEW}
            />
          );
        })}
      </div>
      <RecordCard
        pages={pages}
        head={seq}
        cycle={cycle}
        cycleMs={cycleMs}
        nameOf={(id) => names.get(id) ?? id.slice(0, 6)}
      />
    </>
  );
}

function RecordCard(props: RecordTableProps) {
  return (
    <section class="card" aria-labelledby="record-title">
      <div class="row title">
        <h2 id="record-title">Record</h2>
        <div class="row">
          <Verify slug={slug} head={props.head} />
          <a href={`/api/chain/${slug}/state?format=ndjson`} download={`${slug}.ndjson`}>
            Export
          </a>
        </div>
      </div>
      <RecordTable {...props} />
    </section>
  );
}

/** One page of a machine's contracts, and the state of each that was listed so far. */
function useContracts(machine: Machine, { search, isLimitingFirst, after }: Listing) {
  const [contracts, setContracts] = useState<readonly ShownContract[]>();
  const [fault, setFault] = useState('');
  const states = useMemo(() => new Map<string, string>(), []);
  const latest = after.at(-1);
  useEffect(() => {
    const query = {
      limit: SHOWN,
      ...(latest === undefined ? {} : { after: latest }),
      ...(search === '' ? {} : { search }),
      ...(isLimitingFirst ? { sort: 'limiting' as const } : {}),
    };
    let isOver = false;
    weir.call('listContracts', { params: { slug }, query }).then(
      ({ contracts: listed }) => {
        if (isOver) return;
        for (const { id, currentState } of listed) states.set(id, currentState);
        setContracts(listed);
      },
      (error) => setFault(wordsOf(error)),
    );
    return () => {
      isOver = true;
    };
  }, [latest, machine, search, isLimitingFirst]);
  return { contracts, states, fault };
}

/** Follows the contracts; draws at most once a frame. Undefined before the first page. */
function useFeed(
  machine: Machine,
  contracts: readonly ShownContract[] | undefined,
  onStatus: (status: Status) => void,
  onRow: (row: RecordRow) => void,
): MachineFeed | undefined {
  const feed = useRef<MachineFeed>(undefined);
  const [, setDrawn] = useState(0);
  useEffect(() => {
    if (contracts === undefined) return;
    let isDue = false;
    const draw = () => {
      if (isDue) return;
      isDue = true;
      requestAnimationFrame(() => {
        isDue = false;
        onStatus(opened.status);
        setDrawn((drawn) => drawn + 1);
      });
    };
    const from = feed.current?.seq ?? machine.head.seq;
    const ids = contracts.map(({ id }) => id);
    const opened = new MachineFeed(slug, from, ids, onRow, draw);
    feed.current = opened;
    return () => opened.close();
  }, [contracts]);
  return feed.current;
}

interface PagerProps {
  readonly count: number;
  readonly shown: readonly ShownContract[] | undefined;
  readonly after: readonly string[];
  readonly onTurned: (after: readonly string[]) => void;
}

function ContractPager({ count, shown, after, onTurned }: PagerProps) {
  const end = (after.length + 1) * SHOWN;
  return (
    <nav aria-label="Pages of contracts">
      <button type="button" disabled={after.length === 0} onClick={() => onTurned(after.slice(0, -1))}>
        Earlier
      </button>
      <span class="quiet">
        {grouped(after.length * SHOWN + 1)} to {grouped(Math.min(count, end))} of {grouped(count)}
      </span>
      <button
        type="button"
        disabled={end >= count || shown === undefined}
        onClick={() => onTurned([...after, shown!.at(-1)!.id])}
      >
        Later
      </button>
    </nav>
  );
}

interface SearchProps {
  readonly listing: Listing;
  readonly onChanged: (listing: Listing) => void;
}

function ContractSearch({ listing, onChanged }: SearchProps) {
  return (
    <div class="row">
      <label>
        Find by name or id
        <input
          type="search"
          maxlength={256}
          value={listing.search}
          onInput={({ currentTarget }) => onChanged({ ...listing, search: currentTarget.value, after: [] })}
        />
      </label>
      <label class="check">
        <input
          type="checkbox"
          checked={listing.isLimitingFirst}
          onChange={() => onChanged({ ...listing, isLimitingFirst: !listing.isLimitingFirst, after: [] })}
        />
        Limiting first
      </label>
    </div>
  );
}

const none = new Course();

render(<MachinePage />, document.body);
