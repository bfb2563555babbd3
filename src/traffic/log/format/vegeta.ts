// vegeta's results as CSV, without names: when it was sent (unix ns), status, latency in ns, bytes out and in, …
//   1684317903123456789,200,1234567,0,5,"",aGVsbG8=,,0,GET,http://localhost:8080/,
import { delimitedLayout, sampleRows } from './delimited.js';
import type { Format } from './format.js';

const NAMES = 'timestamp status latency_ns bytes_out bytes_in error body attack seq method url headers'.split(' ');

export const vegeta: Format = {
  name: 'vegeta',
  open: ({ bytes, lines }, told) => {
    if (!told && !/^[\s"]*\d{19}/.test(lines[0]?.toString('latin1', 0, 64) ?? '')) return undefined;
    const rows = sampleRows(bytes, ',');
    const isRow = (cells: readonly string[]) =>
      cells.length >= 8 &&
      /^\d{19}$/.test(cells[0] ?? '') &&
      /^\d{1,3}$/.test(cells[1] ?? '') &&
      /^\d+$/.test(cells[2] ?? '');
    if (!told && !(rows.length > 0 && rows.every(({ cells }) => isRow(cells)))) return undefined;
    const names = NAMES.slice(0, Math.max(3, rows[0]?.cells.length ?? 3));
    return delimitedLayout('vegeta', { delimiter: ',', names, rows, hasNames: false }, { time: 'timestamp' });
  },
};
