// Gatling's simulation.log, up to version 3.9: tab-separated rows of several kinds.
//   REQUEST		home	1684317903123	1684317903456	OK
import { mostly } from '../layout.js';
import { delimitedLayout, sampleRows } from './delimited.js';
import type { Format } from './format.js';

const MS_TIME = /^\d{13}$/;

export const gatling: Format = {
  name: 'gatling',
  open: ({ bytes, lines }, told) => {
    const isRow = (line: Buffer) => /^(RUN|USER|REQUEST|GROUP)\t/.test(line.toString('latin1', 0, 16));
    if (!told && !mostly(lines, isRow)) return undefined;
    const rows = sampleRows(bytes, '\t');
    const request = rows.map(({ cells }) => cells).find(([kind]) => kind === 'REQUEST');
    if (request === undefined) return undefined;
    // Versions differ in the columns before the start.
    const start = request.findIndex((cell) => MS_TIME.test(cell));
    if (start < 1) return undefined;
    const names = request.map((_, i) =>
      i === 0 ? 'kind' : i === start ? 'start' : i === start - 1 ? 'name' : `${i + 1}`,
    );
    const table = { delimiter: '\t', names, rows, hasNames: false };
    return delimitedLayout('gatling', table, { time: 'start', where: [['kind', 'REQUEST']] });
  },
};
