// Locust's history: totals since the start, for each name and for all of them together, which is called Aggregated.
//   Timestamp,User Count,Type,Name,Requests/s,Failures/s,50%,...,Total Request Count,Total Failure Count,...
//   1684317903,10,,Aggregated,5.2,0.0,12,...,31,0,...
import { delimitedLayout, tableIn } from './delimited.js';
import type { Format } from './format.js';

const TOTAL = 'Total Request Count';

export const locust: Format = {
  name: 'locust',
  open: ({ bytes }) => {
    const table = tableIn(bytes);
    if (!['Timestamp', 'Name', TOTAL].every((name) => table.names.includes(name))) return undefined;
    return delimitedLayout('locust', table, {
      time: 'Timestamp',
      count: TOTAL,
      totals: { series: 'Name', all: 'Aggregated' },
    });
  },
};
