// What a format of logs is: how to recognise it from the start of a log, and how to cut its lines.
import type { Layout } from '../layout.js';
import type { LogOptions } from '../log-options.js';

/** The start of a log. */
export interface Head {
  /** Whole lines. */
  readonly bytes: Buffer;
  /** Those that are not blank. */
  readonly lines: readonly Buffer[];
  readonly options: LogOptions;
}

export interface Format {
  readonly name: string;
  /**
   * The layout of a log that begins so; undefined when it is of another format.
   * @param told whether the user named this format
   */
  open(head: Head, told: boolean): Layout | undefined;
}
