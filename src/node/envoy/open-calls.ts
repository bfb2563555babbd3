// Limits incomplete gRPC calls in number and time; rejects unauthenticated ones before reading the message.
//
//   head ─► may it? ─► open ─► message ─► end ─► handled
//             └ refused  └ too many, or too long: given up
import {
  type Metadata,
  ServerInterceptingCall,
  type ServerInterceptor,
  ServerListenerBuilder,
  status,
} from '@grpc/grpc-js';
import type { Subscription } from 'rxjs';
import { every } from '../../core/time/cycles.js';
import type { NodeContext } from '../node-context.js';

type Call = Parameters<ServerInterceptor>[1];
type Refusal = Pick<Parameters<Call['sendStatus']>[0], 'code' | 'details'>;

/** Over all connections. A proxy sends the message with the head: hardly any of its calls is ever seen open. */
const MOST_OPEN = 4_096;

const LATE: Refusal = {
  code: status.DEADLINE_EXCEEDED,
  details: 'request_timeout: The request was given up. It did not arrive within the time that this node waits.',
};
const TOO_MANY: Refusal = {
  code: status.RESOURCE_EXHAUSTED,
  details: `node_overloaded: The request was refused. ${MOST_OPEN} others have not come as a whole yet.`,
};

export class OpenCalls {
  readonly #context: Pick<NodeContext, 'clock' | 'limits'>;
  readonly #refusalOf: (path: string, metadata: Metadata) => Refusal | undefined;
  readonly #checking: Subscription;
  /** When each began, oldest first. */
  readonly #open = new Map<Call, number>();

  /** @param refusalOf decides by the head of a call; undefined: it may come */
  constructor(
    context: Pick<NodeContext, 'clock' | 'limits'>,
    refusalOf: (path: string, metadata: Metadata) => Refusal | undefined,
  ) {
    this.#context = context;
    this.#refusalOf = refusalOf;
    this.#checking = every(context.clock, context.limits.connectionsCheckMs).subscribe(() => this.#endLate());
  }

  readonly interceptor: ServerInterceptor = ({ path }, call) => {
    const close = () => void this.#open.delete(call);
    const listener = new ServerListenerBuilder()
      .withOnReceiveMetadata((metadata, next) => {
        const refusal = this.#open.size >= MOST_OPEN ? TOO_MANY : this.#refusalOf(path, metadata);
        if (refusal !== undefined) return call.sendStatus({ ...refusal, metadata: null });
        this.#open.set(call, this.#context.clock.monotonicMs());
        next(metadata);
      })
      .withOnReceiveHalfClose((next) => {
        close();
        next();
      })
      .withOnCancel(close)
      .build();
    return new ServerInterceptingCall(call, { start: (next) => next(listener) });
  };

  close(): void {
    this.#checking.unsubscribe();
  }

  #endLate(): void {
    const { clock, limits } = this.#context;
    const beforeMs = clock.monotonicMs() - limits.requestTimeoutMs;
    for (const [call, begunMs] of this.#open) {
      if (begunMs > beforeMs) return;
      this.#open.delete(call);
      call.sendStatus({ ...LATE, metadata: null });
    }
  }
}
