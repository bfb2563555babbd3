// What a test may leave for a table in reports/: rows of columns and cells. See tables.mjs.
import 'vitest';

declare module 'vitest' {
  interface TaskMeta {
    rows?: readonly Readonly<Record<string, string | number>>[];
  }
}
