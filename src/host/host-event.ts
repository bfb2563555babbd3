// Owns what a host tells the world, always after it is durable: rows of the record, emitted events, contracts that failed.
import type { AuditRow } from '../record/row.js';

export type Happening =
  | { readonly kind: 'row'; readonly row: AuditRow }
  | {
      readonly kind: 'emitted';
      /** The name that the definition gives, for example rate_limited. */
      readonly event: string;
      readonly machine: string;
      readonly contractId: string;
      readonly cycle: number;
      readonly count: number;
      /** Seq of the transition's row. */
      readonly seq: number;
    }
  | {
      readonly kind: 'contract_failed';
      readonly machine: string;
      readonly contractId: string;
      readonly cycle: number;
      readonly error: unknown;
    };
