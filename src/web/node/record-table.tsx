// A machine's record as one long table, newest row first. Only visible rows are rendered and only their pages are requested, so that
// ten million rows cost no more than ten.
//
//   scrolled to 3,200 px ─► rows 100 to 112 from the top ─► seq head - 112 to head - 100 ─► page of 100 that holds them
import { useEffect, useRef, useState } from 'preact/hooks';
import { Scrolling } from '../scrolling.js';
import type { RecordRow } from './machine-feed.js';
import { ago, grouped, weir, wordsOf } from './node-client.js';
import { FaultLine } from './parts.js';

const ROW_PX = 36;
/** Browsers draw no taller element; older rows are reached by number. */
const MOST_PX = 8_000_000;
const PAGE = 100;
const SPARE = 6;
const KEPT = 50;

export class RecordPages {
  readonly #slug: string;
  readonly #pages = new Map<number, readonly (RecordRow | undefined)[]>();
  readonly #asked = new Set<number>();

  constructor(slug: string) {
    this.#slug = slug;
  }

  row(seq: number): RecordRow | undefined {
    return this.#pages.get(pageOf(seq))?.[(seq - 1) % PAGE];
  }

  put(row: RecordRow): void {
    const page = pageOf(row.seq);
    const rows = [...(this.#pages.get(page) ?? [])];
    rows[(row.seq - 1) % PAGE] = row;
    this.#pages.delete(page);
    this.#pages.set(page, rows);
    const [eldest] = this.#pages.keys();
    if (this.#pages.size > KEPT) this.#pages.delete(eldest!);
  }

  async load(from: number, to: number): Promise<boolean> {
    let isNew = false;
    for (let page = pageOf(from); page <= pageOf(to); page += 1) {
      const first = Math.max(from, page * PAGE + 1);
      const last = Math.min(to, (page + 1) * PAGE);
      if (this.#asked.has(page) || this.#knows(first, last)) continue;
      this.#asked.add(page);
      try {
        const query = { after_seq: page * PAGE, limit: PAGE };
        const { rows } = await weir.call('readRecord', { params: { slug: this.#slug }, query });
        for (const row of rows) this.put(row);
        isNew ||= rows.length > 0;
      } finally {
        this.#asked.delete(page);
      }
    }
    return isNew;
  }

  #knows(first: number, last: number): boolean {
    for (let seq = first; seq <= last; seq += 1) if (this.row(seq) === undefined) return false;
    return true;
  }
}

function pageOf(seq: number): number {
  return Math.floor((seq - 1) / PAGE);
}

export interface RecordTableProps {
  readonly pages: RecordPages;
  readonly head: number;
  readonly cycle: number;
  readonly cycleMs: number | undefined;
  readonly nameOf: (contractId: string) => string;
}

export function RecordTable({ pages, head, cycle, cycleMs, nameOf }: RecordTableProps) {
  const place = useRef<HTMLElement>(null);
  const dialog = useRef<HTMLDialogElement>(null);
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(0);
  const [, setLoaded] = useState(0);
  const [shown, setShown] = useState<RecordRow>();
  const [fault, setFault] = useState('');
  const before = useRef(head);
  const rows = Math.min(head, Math.floor(MOST_PX / ROW_PX));
  const firstIndex = Math.max(0, Math.floor(top / ROW_PX) - SPARE);
  const behind = Math.min(rows, Math.ceil((top + height) / ROW_PX) + SPARE);
  const [newest, oldest] = [head - firstIndex, head - behind + 1];
  useEffect(() => {
    const element = place.current!;
    const measured = new ResizeObserver(() => setHeight(element.clientHeight));
    measured.observe(element);
    return () => measured.disconnect();
  }, []);
  useEffect(() => {
    // New rows are inserted above; keeps the scroll position of a reader further down.
    const element = place.current!;
    if (element.scrollTop > ROW_PX) element.scrollTop += (head - before.current) * ROW_PX;
    before.current = head;
  }, [head]);
  useEffect(() => {
    if (height === 0 || newest < 1) return;
    pages.load(Math.max(1, oldest), newest).then(
      (isNew) => isNew && setLoaded((loaded) => loaded + 1),
      (error) => setFault(wordsOf(error)),
    );
  }, [newest, oldest, height]);
  const open = (row: RecordRow) => {
    setShown(row);
    dialog.current?.showModal();
  };
  const visible = Array.from({ length: Math.max(0, behind - firstIndex) }, (_, index) => newest - index);
  return (
    <>
      <FaultLine words={fault} />
      <Scrolling
        class="scroll record"
        label="Rows of the record"
        place={place}
        onScroll={() => setTop(place.current!.scrollTop)}
      >
        <table aria-rowcount={head + 1} aria-label="Record">
          <Titles />
          <tbody>
            <Space rows={firstIndex} />
            {visible.map((seq) => (
              <RowLine
                key={seq}
                seq={seq}
                row={pages.row(seq)}
                index={head - seq + 2}
                cycle={cycle}
                cycleMs={cycleMs}
                nameOf={nameOf}
                onOpen={open}
              />
            ))}
            <Space rows={rows - behind} />
          </tbody>
        </table>
      </Scrolling>
      <dialog ref={dialog} aria-labelledby="row-title">
        {shown === undefined ? null : <Proof row={shown} name={nameOf(shown.contract_id ?? '')} />}
        <div class="row">
          <button type="button" onClick={() => dialog.current?.close()}>
            Close
          </button>
        </div>
      </dialog>
    </>
  );
}

function Titles() {
  return (
    <thead>
      <tr aria-rowindex={1}>
        <th scope="col" class="seq n">
          Row
        </th>
        <th scope="col">What happened</th>
        <th scope="col" class="why wide">
          Why
        </th>
        <th scope="col" class="digest wide">
          Proof
        </th>
        <th scope="col" class="when n">
          When
        </th>
      </tr>
    </thead>
  );
}

function Space({ rows }: { readonly rows: number }) {
  return (
    <tr class="space">
      <td ref={(element) => element?.style.setProperty('height', `${Math.max(0, rows) * ROW_PX}px`)} />
    </tr>
  );
}

interface RowLineProps extends Pick<RecordTableProps, 'cycle' | 'cycleMs' | 'nameOf'> {
  readonly seq: number;
  readonly row: RecordRow | undefined;
  readonly index: number;
  readonly onOpen: (row: RecordRow) => void;
}

function RowLine({ seq, row, index, cycle, cycleMs, nameOf, onOpen }: RowLineProps) {
  if (row === undefined)
    return (
      <tr aria-rowindex={index}>
        <td class="n">{grouped(seq)}</td>
        <td>…</td>
      </tr>
    );
  return (
    <tr aria-rowindex={index}>
      <td class="n">
        <button type="button" class="link" onClick={() => onOpen(row)} aria-label={`Row ${grouped(seq)} in full`}>
          {grouped(seq)}
        </button>
      </td>
      <td>{whatOf(row, nameOf)}</td>
      <td class="wide">{row.by ?? row.cause}</td>
      <td class="wide code">{proofOf(row)}</td>
      <td class="n">{ago(row.cycle, Math.max(cycle, row.cycle), cycleMs)}</td>
    </tr>
  );
}

function whatOf(
  { kind, from, to, contract_id: id = '', key, failure, changes = [] }: RecordRow,
  nameOf: (id: string) => string,
): string {
  const of = key === undefined ? nameOf(id) : `${nameOf(id)}, key ${key}`;
  switch (kind) {
    case 'contract_changed':
      return `${changes.map((one) => `${one.what} ${one.from ?? '–'} → ${one.to ?? '–'}`).join(', ')} · ${of}`;
    case 'machine_created':
      return 'machine created';
    case 'contract_created':
      return `created · ${of}`;
    case 'transition':
      return `${from} → ${to} · ${of}`;
    case 'transition_failed':
      return `${from} → ${to ?? ''} refused, ${failure?.code} · ${of}`;
    default:
      return kind.replaceAll('_', ' ');
  }
}

const shownResult = new Intl.NumberFormat('en', {
  maximumSignificantDigits: 4,
  maximumFractionDigits: 2,
  roundingPriority: 'morePrecision',
});

function proofOf({ operator, result, proof_digest: digest }: RecordRow): string {
  if (operator === undefined) return '';
  return `operator ${operator}: ${digest === undefined ? shownResult.format(result ?? Number.NaN) : digest.slice(0, 10)}`;
}

function Proof({ row, name }: { readonly row: RecordRow; readonly name: string }) {
  const facts: [string, string | undefined][] = [
    ['Contract', row.contract_id && `${name} (${row.contract_id})`],
    ['Key', row.key],
    ['From, to', row.from && `${row.from} → ${row.to}`],
    ['Cycle', `${grouped(row.cycle)}, ${row.at}`],
    ['Cause', row.by === undefined ? row.cause : `${row.cause}, by ${row.by}`],
    ['Operator', row.operator && `${row.operator} ${row.operator_version ?? ''}`],
    ['Equation', row.master_equation_block],
    ['Inputs', row.inputs && listed(row.inputs)],
    ['Result', row.result?.toString()],
    ['Substrate', row.substrate && JSON.stringify(row.substrate)],
    ['Proof', row.proof_digest],
    ['Emitted', row.emitted.join(', ') || undefined],
    ['Refused', row.failure && `${row.failure.code}: ${row.failure.detail}`],
    ['Row before', row.previous_hash],
    ['Hash', row.hash],
  ];
  return (
    <>
      <h2 id="row-title">Row {grouped(row.seq)}</h2>
      <dl class="facts">
        {facts.map(([term, text]) =>
          text === undefined ? null : (
            <>
              <dt>{term}</dt>
              <dd class={/^(Proof|Row before|Hash|Equation|Substrate)$/.test(term) ? 'code' : ''}>{text}</dd>
            </>
          ),
        )}
      </dl>
    </>
  );
}

function listed(inputs: Readonly<Record<string, number>>): string {
  return Object.entries(inputs)
    .map(([name, value]) => `${name} = ${value}`)
    .join(', ');
}
