// JSON data in the page of a recommended limit, for its script. Arrays of one interface are parallel.
export interface SizingData {
  /** Unix ms. */
  readonly firstMs: number;
  readonly lastMs: number;
  readonly isKeyed: boolean;
  /** What thresholds count, for example tokens. Absent: requests. */
  readonly unit?: string;
  readonly keys: readonly string[];
  readonly requestsOf: readonly number[];
  readonly windows: readonly SizedWindow[];
}

export interface SizedWindow {
  readonly name: string;
  /** Without suspects, as `keysLimited`. */
  readonly requests: number;
  readonly thresholds: readonly number[];
  /** Limited requests by threshold, without suspects and of suspects. */
  readonly limited: readonly number[];
  readonly suspectsLimited: readonly number[];
  readonly keysLimited: readonly number[];
  /** Most requests passed in a second, and a minute, as multiples of the threshold. */
  readonly burst1s: number;
  readonly burst1min: number;
  readonly recommended: readonly { readonly share: string; readonly threshold: number }[];
  readonly suspects: readonly {
    readonly key: string;
    readonly requests: number;
    readonly limited: readonly number[];
  }[];
  /** Rows without suspects, complete for thresholds from `floor` on; undefined if unknown. */
  readonly rows?: SizedRows;
}

export interface SizedRows {
  readonly floor: number;
  readonly key: readonly number[];
  /** Seconds from the first request. */
  readonly second: readonly number[];
  readonly from: readonly number[];
  readonly to: readonly number[];
}
