// The schema of `weir worker --json`: a line at its start, and one at its end.
import { exact } from '../../core/schema/fields.js';
import { Type } from '../../core/schema/json-schema.js';
import { Count, Text } from '../../harness/outcome/read-schema.js';

const ok = Type.Literal(true);

export const WorkerAnswer = Type.Union(
  [
    exact('At its start.', {
      ok,
      version: Text('Of the program.'),
      host: Text('Name of the machine.'),
      pid: Count('Of the process.'),
      threads: Count('Runs at once.'),
      targets: Type.Array(Text('A service that it may send load to.')),
    }),
    exact('At its end.', { ok, runs: Count('Runs made.') }),
  ],
  { title: 'weir worker --json' },
);
