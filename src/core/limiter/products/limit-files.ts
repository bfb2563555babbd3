// The port for files of gateways: what reads them is a tool that the program adds.
import type { Failure } from '../../schema/failure.js';
import { missingPart } from '../../schema/optional-package.js';

type Limit = Readonly<Record<string, unknown>>;

export interface PastedLimiter {
  /** `location /api`, with its server if there are several; undefined for a stanza without places. */
  readonly name: string | undefined;
  readonly limits: readonly (Limit & { readonly like: string })[];
}

export interface Pasted {
  readonly limiters: readonly PastedLimiter[];
  readonly notes: readonly string[];
}

/** Reads the limiter at a place of a file. @throws Failure if it has none, or several and none is named */
export type PlaceReader = (file: string, text: string, place: string | undefined) => Limit;

export interface LimitFileReader {
  placeReader(): Promise<PlaceReader>;
  looksLikeStanza(text: string): boolean;
  /** One limiter for each place with limits of its own. @throws Failure `invalid_definition` without any */
  readStanza(text: string): Pasted;
  /** Its limits in force, each with its place; `refusal`: why a file of that format is not read. */
  limitsIn(
    text: string,
    name: string,
  ): Promise<{
    readonly limits: readonly { readonly words: string; readonly limit: Limit }[];
    readonly notes: readonly string[];
    readonly refusal: Failure | undefined;
  }>;
  /** Why the file is not read; undefined if it is none of a gateway that is named and not read. */
  unread(file: string, text: string): Failure | undefined;
}

const missing = (): never => {
  throw missingPart('gateway');
};

let reader: LimitFileReader = {
  placeReader: async () => missing,
  looksLikeStanza: (text) => /[;{]/.test(text),
  readStanza: missing,
  limitsIn: missing,
  unread: () => undefined,
};

export function addLimitFileReader(added: LimitFileReader): void {
  reader = added;
}

export const limitFiles = (): LimitFileReader => reader;

export function placesIn(stanza: string): string[] {
  return reader.readStanza(stanza).limiters.flatMap(({ name }) => name ?? []);
}
