// Limits incomplete gRPC calls in number, as bodies under way, and in time; rejects unauthenticated ones before reading the message.
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
import type { Asking } from '../bounds.js';
import type { NodeContext } from '../node-context.js';

type Call = Parameters<ServerInterceptor>[1];
type Refusal = Pick<Parameters<Call['sendStatus']>[0], 'code' | 'details'>;

const LATE: Refusal = {
  code: status.DEADLINE_EXCEEDED,
  details: 'request_timeout: The request was given up. It did not arrive within the time that this node waits.',
};

/** By the head of a call. */
interface Admission {
  /** @throws Failure for a call that may not come */
  callerOf(path: string, metadata: Metadata): Asking['caller'];
  refusalOf(error: unknown): Refusal;
}

/** A hundred descriptors of some entries. With the streams it bounds what one connection can make the node keep: 16 MiB. */
export const MESSAGE_BYTES = 64 << 10;

export class OpenCalls {
  readonly #context: Pick<NodeContext, 'clock' | 'limits' | 'bounds'>;
  readonly #admission: Admission;
  readonly #checking: Subscription;
  /** Who asks, and since when, oldest first. A proxy sends the message with the head: hardly any of its calls is ever here. */
  readonly #open = new Map<Call, { readonly asking: Asking; readonly begunMs: number }>();

  constructor(context: Pick<NodeContext, 'clock' | 'limits' | 'bounds'>, admission: Admission) {
    this.#context = context;
    this.#admission = admission;
    this.#checking = every(context.clock, context.limits.connectionsCheckMs).subscribe(() => this.#endLate());
  }

  readonly interceptor: ServerInterceptor = ({ path }, call) => {
    const close = () => this.#close(call);
    const listener = new ServerListenerBuilder()
      .withOnReceiveMetadata((metadata, next) => {
        try {
          this.#begin(call, this.#admission.callerOf(path, metadata));
        } catch (error) {
          const { code, details } = this.#admission.refusalOf(error);
          const isFull = code === status.UNAVAILABLE;
          return call.sendStatus({ code: isFull ? status.RESOURCE_EXHAUSTED : code, details, metadata: null });
        }
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

  /** @throws Failure `node_overloaded` */
  #begin(call: Call, caller: Asking['caller']): void {
    const { bounds, clock } = this.#context;
    const asking = { caller, ip: call.getPeer().replace(/:\d+$/, '') };
    bounds.openBodyBytes.take(asking, MESSAGE_BYTES);
    this.#open.set(call, { asking, begunMs: clock.monotonicMs() });
  }

  #close(call: Call): void {
    const open = this.#open.get(call);
    if (open !== undefined) this.#context.bounds.openBodyBytes.give(open.asking, MESSAGE_BYTES);
    this.#open.delete(call);
  }

  #endLate(): void {
    const { clock, limits } = this.#context;
    const beforeMs = clock.monotonicMs() - limits.requestTimeoutMs;
    for (const [call, { begunMs }] of this.#open) {
      if (begunMs > beforeMs) return;
      this.#close(call);
      call.sendStatus({ ...LATE, metadata: null });
    }
  }
}
