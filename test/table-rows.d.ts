// What a test may leave for a table in reports/: columns and cells, of one row or of several. See tables.mjs.
import 'vitest';

declare module 'vitest' {
  interface TaskMeta {
    row?: Readonly<Record<string, string | number>>;
    rows?: readonly Readonly<Record<string, string | number>>[];
  }
}
