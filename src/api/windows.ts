// Windows of the machine ranking, in cycles; the last is the longest one allowed. Without schemas, because pages import it too.

export const WINDOWS = [60, 600, 6_000] as const;

export const LONGEST_WINDOW = WINDOWS[2];
