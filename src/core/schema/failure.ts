// The catalogue of failures: every error that a person, a file, a peer or a disk can cause, in one shape.
// An error that only our own code can cause is a Bug, not a Failure.

/** The HTTP status, the exit code of the command, and a title that never changes. */
interface Kind {
  readonly status: number;
  readonly exit: number;
  readonly title: string;
}

const kinds = {
  invalid_json: { status: 400, exit: 2, title: 'The text is not valid JSON' },
  invalid_yaml: { status: 400, exit: 2, title: 'The text is not valid YAML' },
  invalid_input: { status: 400, exit: 2, title: 'The input does not fit its schema' },
  invalid_definition: { status: 400, exit: 2, title: 'The contract definition does not fit its schema' },
  invalid_expression: { status: 400, exit: 2, title: 'The condition cannot be read' },
  unsupported_media_type: { status: 415, exit: 2, title: 'The content type is not supported' },
  body_too_large: { status: 413, exit: 2, title: 'The body is too large' },
  wrong_usage: { status: 400, exit: 2, title: 'The command cannot be understood' },
  unreadable_file: { status: 400, exit: 2, title: 'The file cannot be read' },
  unsafe_permissions: { status: 503, exit: 2, title: 'Others may read or change files of this program' },
  unwritable_folder: { status: 400, exit: 2, title: 'The folder cannot be written' },
  unknown_format: { status: 400, exit: 2, title: 'The format is not known' },
  package_missing: { status: 503, exit: 2, title: 'A package is not installed' },
  no_requests: { status: 400, exit: 2, title: 'Nothing in the input is a request' },

  malformed_request: { status: 400, exit: 2, title: 'The request is not valid HTTP' },
  request_timeout: { status: 408, exit: 5, title: 'The request took too long to arrive' },
  headers_too_large: { status: 431, exit: 2, title: 'The headers are too large' },

  operator_not_registered: { status: 422, exit: 2, title: 'The operator is not registered' },
  definition_unsound: { status: 422, exit: 2, title: 'The contract definition cannot run' },

  event_too_old: { status: 422, exit: 2, title: 'The event is older than the window' },
  event_in_future: { status: 422, exit: 2, title: 'The event lies in the future' },
  idempotency_key_reused: { status: 422, exit: 2, title: 'The idempotency key belongs to another request' },
  unknown_event_type: { status: 422, exit: 2, title: 'No contract listens to this kind of event' },
  no_transition: { status: 409, exit: 1, title: 'There is no such transition from the current state' },
  condition_failed: { status: 422, exit: 1, title: 'The condition of the transition is false' },
  compute_failed: { status: 422, exit: 1, title: 'The operator could not compute a result' },
  prove_failed: { status: 422, exit: 1, title: 'The operator could not prove its result' },
  verify_failed: { status: 422, exit: 1, title: 'The proof of the result does not hold' },
  not_on_network: { status: 409, exit: 2, title: 'A network of nodes does not do this' },
  no_candidate: { status: 409, exit: 2, title: 'The contract has no candidate' },
  contract_failed: { status: 503, exit: 70, title: 'The contract stopped after an error of its own' },
  key_missing: { status: 422, exit: 2, title: 'The contract counts by key, and the event has none' },
  too_many_keys: { status: 429, exit: 1, title: 'The contract has no place for another key' },

  machine_not_found: { status: 404, exit: 2, title: 'There is no such machine' },
  machine_deleted: { status: 410, exit: 2, title: 'The machine was deleted' },
  contract_not_found: { status: 404, exit: 2, title: 'There is no such contract' },
  template_not_found: { status: 404, exit: 2, title: 'There is no such template' },
  operator_not_found: { status: 404, exit: 2, title: 'There is no such operator' },
  route_not_found: { status: 404, exit: 2, title: 'There is no such route' },
  method_not_allowed: { status: 405, exit: 2, title: 'The route does not take this method' },
  name_taken: { status: 409, exit: 2, title: 'The name of the contract is taken' },
  slug_taken: { status: 409, exit: 2, title: 'The slug is taken' },
  credential_missing: { status: 401, exit: 2, title: 'A credential is needed' },
  credential_invalid: { status: 401, exit: 2, title: 'The credential is not valid' },
  mint_off: { status: 403, exit: 2, title: 'The node mints no free keys' },
  scope_missing: { status: 403, exit: 2, title: 'The key may not do this' },
  gate_header_unusable: { status: 403, exit: 2, title: 'A header that the gate reads is missing or cannot be read' },
  owner_not_found: { status: 404, exit: 2, title: 'There is no such owner' },
  key_not_found: { status: 404, exit: 2, title: 'There is no such key' },
  host_refused: { status: 421, exit: 2, title: 'The node does not answer to this name' },
  cross_site_refused: { status: 403, exit: 2, title: 'The request comes from another site' },
  not_owner: { status: 403, exit: 2, title: 'The machine belongs to another owner' },
  too_many_requests: { status: 429, exit: 1, title: 'Too many requests' },
  limit_reached: { status: 422, exit: 2, title: 'A limit of this node is reached' },

  record_broken: { status: 409, exit: 1, title: 'The record does not hold' },
  key_changed: { status: 409, exit: 1, title: 'The key of the node has changed' },
  key_unproved: { status: 409, exit: 1, title: 'The node does not prove that it has its key' },

  // 74 is EX_IOERR of sysexits: an I/O error, not an internal one.
  store_failed: { status: 503, exit: 74, title: 'The node cannot store' },
  disk_full: { status: 503, exit: 74, title: 'The disk is full' },
  store_away: { status: 503, exit: 5, title: 'The store of the node cannot be asked now' },
  store_unfit: { status: 503, exit: 2, title: 'Redis is not set up to keep what it acknowledges' },
  store_locked: { status: 503, exit: 2, title: 'Another process has this data folder open' },
  store_other_version: { status: 503, exit: 2, title: 'Another version of this program wrote the database' },
  store_damaged: { status: 503, exit: 2, title: 'The database file is damaged' },
  rows_missing: { status: 503, exit: 2, title: 'The store lacks what was acknowledged' },
  clock_behind: { status: 503, exit: 2, title: 'The clock of this machine is behind the stored data' },
  internal_error: { status: 500, exit: 70, title: 'Internal error of the node' },
  node_draining: { status: 503, exit: 5, title: 'The node is shutting down' },
  memory_low: { status: 503, exit: 5, title: 'The node has too little memory left' },
  node_overloaded: { status: 503, exit: 5, title: 'The node is overloaded' },
  node_unreachable: { status: 503, exit: 5, title: 'The node could not be reached' },
  worker_failed: { status: 503, exit: 5, title: 'A worker did not make a run' },
  answer_unreadable: { status: 502, exit: 5, title: 'The answer of the node cannot be read' },
  port_in_use: { status: 503, exit: 2, title: 'The address is in use' },
  stopped: { status: 503, exit: 130, title: 'The command was stopped before it had anything to show' },
  insecure_connection: { status: 403, exit: 2, title: 'The connection is not encrypted' },
  remote_not_allowed: { status: 403, exit: 2, title: 'The target is not on this machine' },
} as const satisfies Record<string, Kind>;

export type FailureCode = keyof typeof kinds;

/** The reference page and the OpenAPI text are generated from it. */
export const catalogue: Readonly<Record<FailureCode, Kind>> = kinds;

export const MOST_FAULTS = 10;

/** `path` is a JSON pointer, a column, or a place such as `line 3, column 7`. */
export interface Fault {
  readonly path: string;
  readonly message: string;
}

/** The fault of a part, with its place in the whole. @param place JSON pointer to the part */
export function placed({ path, message }: Fault, place: string): Fault {
  return { path: `${place}${path === '/' ? '' : path}`, message };
}

export function firstOf([first, ...others]: readonly Fault[]): string {
  const more = others.length > 0 ? ` (and ${others.length} more)` : '';
  return first === undefined ? '' : `${first.path || '/'} ${first.message}${more}.`.replace(/\?\.$/, '?');
}

interface Parts {
  readonly what: string;
  readonly why?: string | undefined;
  readonly fix?: string | undefined;
  readonly faults?: readonly Fault[];
  readonly againCycle?: number | undefined;
  readonly cause?: unknown;
}

export class Failure extends Error {
  override readonly name = 'Failure';
  readonly what: string;
  readonly why: string | undefined;
  readonly fix: string | undefined;
  readonly faults: readonly Fault[];
  readonly againCycle: number | undefined;

  constructor(
    readonly code: FailureCode,
    parts: Parts,
  ) {
    super([parts.what, parts.why, parts.fix].filter((part) => part !== undefined).join(' '), { cause: parts.cause });
    this.what = parts.what;
    this.why = parts.why;
    this.fix = parts.fix;
    this.faults = parts.faults ?? [];
    this.againCycle = parts.againCycle;
  }

  get status(): number {
    return catalogue[this.code].status;
  }

  get exit(): number {
    return catalogue[this.code].exit;
  }

  get title(): string {
    return catalogue[this.code].title;
  }
}

/** A broken invariant: only our own code can cause it, and the program must not continue. */
export class Bug extends Error {
  override readonly name = 'Bug';
}

export function assert(condition: boolean, message: string): asserts condition {
  if (!condition) throw new Bug(message);
}

/** For the `default` of a switch over a closed set: a missing case is a compile error. */
export function unreachable(value: never): never {
  throw new Bug(`unexpected value ${JSON.stringify(value)}`);
}
