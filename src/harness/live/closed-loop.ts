// A closed loop, driven by autocannon: a fixed number of connections; on each, an answer triggers the next request.
//
//   connection 1   o────o──o─────o───o      as fast as the target answers: measures throughput, keeps no schedule
//   connection 2   o──o────────o──o──o
import { connect } from 'node:tls';
import autocannon from 'autocannon';
import { Failure } from '../../core/schema/failure.js';
import { cycleOf, startOf } from '../../core/time/cycle.js';
import { Rank } from '../../core/time/rank.js';
import type { Connection } from './connection.js';
import { breakageOf, type Fields, type PoolRequest, type RequestListener } from './http-pool.js';
import type { Sending, Stage } from './sending.js';

/** What a closed loop hides. */
export const CLOSED_LOOP_NOTE =
  'A closed loop: each connection sends its next request when the last one was answered. While the target is slow less is sent, so the latencies leave out the waiting that users at a steady rate would have (coordinated omission). A rate, as --rate 50/s, measures that.';

/** @param connections shared among the origins @throws Failure `node_unreachable` for a certificate that does not hold */
export async function closedLoop(connection: Connection, connections: number): Promise<(stage: Stage) => Sending> {
  await Promise.all([connection.endpoint, ...connection.others].map(checkCertificate));
  return (stage) => sendingOf(stage, connection, connections);
}

function sendingOf(
  { clock, firstCycle, endCycle, inFlight, observer }: Stage,
  connection: Connection,
  connections: number,
): Sending {
  const endMs = startOf(endCycle, clock.cycleMs);
  const running: ReturnType<typeof saturate> = [];
  let isStopped = false;
  let underWay = 0;
  const isOver = () => isStopped || clock.now() >= endMs;
  const drive = {
    isOver,
    send(onEnd: () => void): RequestListener {
      observer.plan(cycleOf(clock.now(), clock.cycleMs), 1);
      underWay += 1;
      return inFlight.adopt(0, () => {
        underWay -= 1;
        onEnd();
        if (underWay === 0 && isOver()) for (const one of running) one.stop();
      });
    },
  };
  return {
    isScheduled: false,
    connections,
    start: () =>
      void clock.agenda.at(startOf(firstCycle, clock.cycleMs), Rank.arrival, () => {
        if (isStopped) return;
        const setupClient = (client: autocannon.Client) => follow(client as unknown as Client, drive);
        const options = { duration: LONGEST_S, sampleInt: SAMPLE_MS, setupClient };
        running.push(...saturate(connection, inFlight.requestOf(0), connections, options));
        for (const one of running) one.catch(() => {});
      }),
    stop: () => {
      isStopped = true;
      if (underWay === 0) for (const one of running) one.stop();
    },
  };
}

/** Longer than any run: each connection ends after its last answer. */
const LONGEST_S = 1e6;
const SAMPLE_MS = 50;

/** autocannon at each origin, which shares the connections. It can be awaited, and stopped before its end. */
export function saturate(
  { endpoint, others, timeoutMs }: Pick<Connection, 'endpoint' | 'others' | 'timeoutMs'>,
  { method, path, headers, body }: PoolRequest,
  connections: number,
  more: Partial<autocannon.Options>,
): (autocannon.Instance & Promise<autocannon.Result>)[] {
  const origins = [endpoint, ...others].map(({ origin }) => origin);
  return origins.map((origin) => {
    const options = {
      url: origin + path,
      method: method as 'POST',
      headers: { ...headers },
      ...(body === undefined ? {} : { body }),
      connections: Math.max(1, Math.floor(connections / origins.length)),
      // The run bounds the time of a request itself.
      timeout: Math.ceil(timeoutMs / 1000) + 1,
    };
    return autocannon({ ...options, ...more }) as unknown as autocannon.Instance & Promise<autocannon.Result>;
  });
}

/** A connection of autocannon, with what its documentation does not name. */
interface Client extends NodeJS.EventEmitter {
  readonly reqsMade: number;
  /** It ends before it would send more. */
  responseMax: number | undefined;
}

interface Drive {
  readonly isOver: () => boolean;
  /** A request goes out now. @param onEnd its answer has come, or is given up */
  readonly send: (onEnd: () => void) => RequestListener;
}

function follow(client: Client, { isOver, send }: Drive): void {
  let open: RequestListener | undefined;
  let status = 0;
  let fields: Fields = {};
  let chunks: Buffer[] = [];
  /** What was sent after an answer that closes its connection is sent again on the next one. */
  let isClosing = false;
  const retire = () => {
    client.responseMax = client.reqsMade;
  };
  client.on('request', () => {
    chunks = [];
    if (open !== undefined && isClosing) {
      isClosing = false;
      return;
    }
    open?.broke({ kind: 'closed', words: 'It closed the connection without an answer.' });
    if (isOver()) return;
    open = send(() => {
      open = undefined;
      if (isOver()) retire();
    });
  });
  client.on('headers', (head: { readonly statusCode: number; readonly headers: readonly string[] }) => {
    status = head.statusCode;
    fields = fieldsOf(head.headers);
  });
  client.on('body', (chunk: Buffer) => void chunks.push(chunk));
  client.on('response', () => {
    const body = Buffer.concat(chunks);
    isClosing = fields['connection'] === 'close';
    open?.answered({ status, fields, body: body.toString(), bytes: body.length });
    if (isOver()) retire();
  });
  client.on('connError', (error: Error) => {
    const breakage = breakageOf(error);
    if (!isClosing) open?.broke(breakage);
    if (breakage.kind === 'refused') retire();
  });
}

/** @param raw names and values in turn */
function fieldsOf(raw: readonly string[]): Fields {
  const fields: Record<string, string | string[]> = {};
  for (let at = 0; at < raw.length; at += 2) {
    const name = raw[at]!.toLowerCase();
    const before = fields[name];
    fields[name] = before === undefined ? raw[at + 1]! : [before, raw[at + 1]!].flat();
  }
  return fields;
}

/** autocannon takes any certificate. @throws Failure `node_unreachable` for one that does not hold */
async function checkCertificate({ origin }: Pick<Connection['endpoint'], 'origin'>): Promise<void> {
  const { protocol, hostname, port } = new URL(origin);
  if (protocol !== 'https:') return;
  await new Promise<void>((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port || 443), servername: hostname }, () => {
      socket.destroy();
      resolve();
    });
    socket.on('error', (cause) =>
      reject(
        new Failure('node_unreachable', {
          what: `${origin} cannot be reached safely.`,
          why: cause.message,
          fix: 'Give the address of its certificate, or its authority in NODE_EXTRA_CA_CERTS.',
          cause,
        }),
      ),
    );
  });
}
