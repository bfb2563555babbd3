// The page at /m/{slug}: a machine's contracts with their counts, its record, and its owner's forms.
import { render } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { AnswerOf } from '../../client/api-client.js';
import type { Endpoints } from '../../client/route-table.js';
import { useClock } from './clock.js';
import { ContractCard } from './contract-card.js';
import { Course } from './course.js';
import { connecting, Frame, type Status, useSession } from './frame.js';
import { MachineFeed } from './machine-feed.js';
import { grouped, type ShownContract, some, weir, wordsOf } from './node-client.js';
import { OwnerForms } from './owner-forms.js';
import { FaultLine } from './parts.js';
import { RecordPages, RecordTable } from './record-table.js';
import { Verify } from './verify.js';

type Machine = AnswerOf<Endpoints['getMachine']>['machine'];

const SHOWN = 20;

const FEW = 4;

const slug = decodeURIComponent(location.pathname.split('/')[2] ?? '');

function MachinePage() {
  const clock = useClock();
  const session = useSession();
  const [found, setFound] = useState<{ readonly machine: Machine } | { readonly fault: string }>();
  const [asked, setAsked] = useState(0);
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
  }, [session.isIn, asked]);
  return (
    <Frame clock={clock} status={status} session={session}>
      {found === undefined ? null : 'fault' in found ? (
        <>
          <h1>{slug}</h1>
          <p class="bad">{found.fault}</p>
        </>
      ) : (
        <MachineView
          machine={found.machine}
          cycleMs={clock?.cycleMs}
          onStatus={setStatus}
          onChanged={() => setAsked(asked + 1)}
        />
      )}
    </Frame>
  );
}

interface ViewProps {
  readonly machine: Machine;
  readonly cycleMs: number | undefined;
  readonly onStatus: (status: Status) => void;
  readonly onChanged: () => void;
}

function MachineView({ machine, cycleMs, onStatus, onChanged }: ViewProps) {
  const { display_name, is_public, is_own, created_cycle, contract_count } = machine;
  const pages = useMemo(() => new RecordPages(slug), []);
  const [after, setAfter] = useState<readonly string[]>([]);
  const [contracts, setContracts] = useState<readonly ShownContract[]>();
  const [search, setSearch] = useState('');
  const [isSorted, setIsSorted] = useState(false);
  const [fault, setFault] = useState('');
  const feed = useRef<MachineFeed>(undefined);
  const [, setDrawn] = useState(0);
  const states = useMemo(() => new Map<string, string>(), []);
  const latest = after.at(-1);
  useEffect(() => {
    const query = {
      limit: SHOWN,
      ...(latest === undefined ? {} : { after: latest }),
      ...(search === '' ? {} : { search }),
      ...(isSorted ? { sort: 'limiting' as const } : {}),
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
  }, [latest, machine, search, isSorted]);
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
    const opened = new MachineFeed(
      slug,
      feed.current?.seq ?? machine.head.seq,
      contracts.map(({ id }) => id),
      (row) => {
        pages.put(row);
        if (row.key === undefined && row.contract_id !== undefined && row.to !== undefined)
          states.set(row.contract_id, row.to);
      },
      draw,
    );
    feed.current = opened;
    return () => opened.close();
  }, [contracts]);
  const names = useMemo(
    () => new Map(contracts?.map(({ id, name }) => [id, `${name} ${id.slice(0, 6)}`])),
    [contracts],
  );
  const { seq = machine.head.seq, cycle = 0, courses } = feed.current ?? {};
  return (
    <>
      <div class="row title">
        <h1>
          {display_name} {display_name === slug ? null : <span class="quiet">{slug}</span>}
        </h1>
        <p class="quiet">
          {is_public ? 'Public' : 'Private'} · {some(contract_count, 'contract')} · {some(seq, 'row')} · since cycle{' '}
          {grouped(created_cycle)}
        </p>
      </div>
      {is_own && contracts !== undefined ? (
        <OwnerForms slug={slug} contracts={contracts} onChanged={onChanged} />
      ) : null}
      <FaultLine words={fault} />
      <div class="row title">
        <h2>Contracts</h2>
        {contract_count <= SHOWN ? null : (
          <nav aria-label="Pages of contracts">
            <button type="button" disabled={after.length === 0} onClick={() => setAfter(after.slice(0, -1))}>
              Earlier
            </button>
            <span class="quiet">
              {grouped(after.length * SHOWN + 1)} to {grouped(Math.min(contract_count, (after.length + 1) * SHOWN))} of{' '}
              {grouped(contract_count)}
            </span>
            <button
              type="button"
              disabled={(after.length + 1) * SHOWN >= contract_count || contracts === undefined}
              onClick={() => setAfter([...after, contracts!.at(-1)!.id])}
            >
              Later
            </button>
          </nav>
        )}
      </div>
      {contract_count < FEW ? null : (
        <div class="row">
          <label>
            Find by name or id
            <input
              type="search"
              maxlength={256}
              value={search}
              onInput={(event) => {
                setAfter([]);
                setSearch(event.currentTarget.value);
              }}
            />
          </label>
          <label class="check">
            <input
              type="checkbox"
              checked={isSorted}
              onChange={() => {
                setAfter([]);
                setIsSorted(!isSorted);
              }}
            />
            Limiting first
          </label>
        </div>
      )}
      {contracts?.length === 0 ? (
        <p class="quiet">{search === '' ? 'There are none yet.' : 'No contract has this in its name or id.'}</p>
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
      <section class="card" aria-labelledby="record-title">
        <div class="row title">
          <h2 id="record-title">Record</h2>
          <div class="row">
            <Verify slug={slug} head={seq} />
            <a href={`/api/chain/${slug}/state?format=ndjson`} download={`${slug}.ndjson`}>
              Export
            </a>
          </div>
        </div>
        <RecordTable pages={pages} head={seq} cycle={cycle} nameOf={(id) => names.get(id) ?? id.slice(0, 6)} />
      </section>
    </>
  );
}

const none = new Course();

render(<MachinePage />, document.body);
