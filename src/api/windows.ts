// The windows of the ranking of machines, without schemas: pages show them, too.

/** Windows, in cycles, whose transitions every machine of the ranking says; the last is the longest that may be asked for. */
export const WINDOWS = [60, 600, 6_000] as const;

export const LONGEST_WINDOW = WINDOWS[2];
