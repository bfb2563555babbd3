// The shape of audit rows and of the checkpoints of their chain.
//
// Field names are those of the HTTP API and of exported records: a row is hashed, stored, served and exported in this shape.

export type RowKind =
  | 'machine_created'
  | 'contract_created'
  | 'contract_changed'
  | 'contract_deleted'
  | 'machine_deleted'
  | 'transition'
  | 'transition_failed'
  | 'admin_action'
  | 'rows_lost';

export type AdminAction = 'key_made' | 'key_rotated' | 'key_revoked';

/** What of a contract can change. `rule`, `definition` and `candidate` are texts: canonical JSON, or its digest where that is long. */
export type ChangedField =
  | 'name'
  | 'threshold'
  | 'within'
  | 'near_limit'
  | 'rule'
  | 'shadow'
  | 'definition'
  | 'candidate';

/** One value of a contract that changed. `from` or `to` is absent where there was or is none. */
export interface ValueChange {
  readonly what: ChangedField;
  readonly from?: string | number | boolean;
  readonly to?: string | number | boolean;
}

/** Why a row was written: a trigger of the contract, a person or program over the API, or the node itself. */
type Cause = 'trigger' | 'manual' | 'system';

export const GENESIS = '0'.repeat(64);

/** A row before it is linked into the chain of its machine. Fields that do not apply are absent, never null. */
export interface AuditEntry {
  readonly machine: string;
  readonly cycle: number;
  /** ISO 8601 in UTC with milliseconds. */
  readonly at: string;
  readonly kind: RowKind;
  readonly contract_id?: string;
  /** Of a contract with keys: the key that moved, or its keyed hash, as `keyed` of the contract says. */
  readonly key?: string;
  readonly from?: string;
  readonly to?: string;
  readonly operator?: string;
  readonly operator_version?: string;
  readonly inputs?: Readonly<Record<string, number>>;
  readonly result?: number;
  readonly master_equation_block?: string;
  readonly proof_digest?: string;
  /** The substrate operator, which always runs beside the operator of the transition: its inputs and result. */
  readonly substrate?: {
    readonly operator: string;
    readonly inputs: Readonly<Record<string, number>>;
    readonly result: number;
  };
  /** For `transition_failed`: the code and the message of the failure. */
  readonly failure?: { readonly code: string; readonly detail: string };
  readonly cause: Cause;
  /** Id of the key that asked for what the row says; absent for what the node or a trigger did. */
  readonly by?: string;
  readonly emitted: readonly string[];
  /** For `contract_created` and `contract_changed`: SHA-256 over the canonical JSON of the definition, as it is from this row on. */
  readonly definition_digest?: string;
  /** For `contract_created`: the name that its owner gave it. */
  readonly name?: string;
  /** For `contract_changed`: its values before and after. */
  readonly changes?: readonly ValueChange[];
  /**
   * For `contract_changed`: the states that it may be in from now on, the initial one first. A key in any other state is in the initial one.
   */
  readonly states?: readonly string[];
  /** For `contract_changed`: from this row on it and all its keys are in the initial state. */
  readonly resets?: true;
  /** For `contract_changed`: what of its counts could not be kept, in a sentence. */
  readonly forgotten?: string;
  readonly keyed?: {
    readonly max_keys: number;
    readonly idle_cycles: number;
    readonly overflow: 'refuse' | 'share';
    readonly store_keys: 'plain' | 'hashed';
  };
  /** For `admin_action`: what was done, to which key, and for a rotation the key that follows it. Never a secret. */
  readonly action?: AdminAction;
  readonly key_id?: string;
  readonly next_key_id?: string;
  /** What the new key may do, on which machine alone, and until when (ISO 8601). */
  readonly scopes?: readonly string[];
  readonly only_machine?: string;
  readonly expires_at?: string;
  /** Of a record that several nodes write: the public key of the node that linked the row, in base64. */
  readonly signed_by?: string;
  /** For `rows_lost`: the rows from this one's seq up to that were acknowledged once, and this record goes on without them. */
  readonly lost_to_seq?: number;
}

export interface AuditRow extends AuditEntry {
  /** Starts at 1, without gaps. */
  readonly seq: number;
  readonly previous_hash: string;
  /** SHA-256, lower-case hex, over the canonical JSON (RFC 8785) of the row without this field and `signature`. */
  readonly hash: string;
  /** Where `signed_by` is: Ed25519 by that key over the hash, base64. */
  readonly signature?: string;
}

/** Bytes of a row as JSON; some less where its texts are not ASCII. */
export function bytesOfRow(row: AuditRow): number {
  return JSON.stringify(row).length;
}

/** A signed statement of the node that its chain reached this row: an export that ends earlier is incomplete. */
export interface Checkpoint {
  readonly machine: string;
  readonly seq: number;
  readonly hash: string;
  readonly cycle: number;
  /** Ed25519 over the canonical JSON of the other four fields, base64. */
  readonly signature: string;
}

/** A signed statement of the node that it removed the first rows of a record, which begins with this in their place. */
export interface Cut {
  readonly machine: string;
  /** Rows 1 to this one were removed. */
  readonly removed_to_seq: number;
  /** Hash of that row: the first that is left names it as its previous one. */
  readonly removed_hash: string;
  /** When they were removed, ISO 8601 in UTC with milliseconds. */
  readonly at: string;
  readonly cycle: number;
  /** Ed25519 over the canonical JSON of the other five fields, base64. */
  readonly signature: string;
}
