// The data in the page of a recommended limit, as JSON for its script. Lists of the same name end have one value for each other.
export interface SizingData {
  /** Unix ms of the first and the last request. */
  readonly firstMs: number;
  readonly lastMs: number;
  readonly isKeyed: boolean;
  /** What thresholds count: tokens, say. Absent: requests. */
  readonly unit?: string;
  /** Keys that the rows speak of, with their requests. */
  readonly keys: readonly string[];
  readonly requestsOf: readonly number[];
  readonly windows: readonly SizedWindow[];
}

export interface SizedWindow {
  /** `60 cycles (46.6 s)`. */
  readonly name: string;
  /** Requests without those of suspects. */
  readonly requests: number;
  readonly thresholds: readonly number[];
  /** Limited requests at each threshold, without and of suspects. */
  readonly limited: readonly number[];
  readonly suspectsLimited: readonly number[];
  /** Without suspects. */
  readonly keysLimited: readonly number[];
  /** The most that passes in a second, and in a minute: so many times the threshold. */
  readonly burst1s: number;
  readonly burst1min: number;
  readonly recommended: readonly { readonly share: string; readonly threshold: number }[];
  /** At each threshold, limited requests of the first suspects. */
  readonly suspects: readonly {
    readonly key: string;
    readonly requests: number;
    readonly limited: readonly number[];
  }[];
  /** Rows without suspects: complete for thresholds from `floor` on. Undefined where no such rows are known. */
  readonly rows?: SizedRows;
}

export interface SizedRows {
  readonly floor: number;
  readonly key: readonly number[];
  /** Seconds from the first request. */
  readonly second: readonly number[];
  /** The requests of the row have the window counts `from + 1 .. to`. */
  readonly from: readonly number[];
  readonly to: readonly number[];
}
