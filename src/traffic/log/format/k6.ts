// k6: one row or object for each value of each metric, of which those of `http_reqs` are the requests.
//   {"type":"Point","metric":"http_reqs","data":{"time":"2023-05-17T10:05:03.123Z","value":1,"tags":{"method":"GET"}}}
//   metric_name,timestamp,metric_value,check,error,...        http_reqs,1684317903,1.000000,,,...
import { delimitedLayout, tableIn } from './delimited.js';
import type { Format } from './format.js';
import { jsonLayout, jsonWith } from './json.js';

export const k6Json: Format = {
  name: 'k6-json',
  open: (head, told) => {
    const objects = told ? head.lines : jsonWith(head, 'type', ['Point', 'Metric']);
    const isK6 = objects?.some((line) => line.includes('"metric"') && line.includes('"data"'));
    if (objects === undefined || isK6 !== true) return undefined;
    return jsonLayout('k6-json', objects, {
      time: 'data.time',
      count: 'data.value',
      where: [
        ['type', 'Point'],
        ['metric', 'http_reqs'],
      ],
    });
  },
};

export const k6Csv: Format = {
  name: 'k6-csv',
  open: ({ bytes }) => {
    const table = tableIn(bytes);
    const isK6 = ['metric_name', 'timestamp', 'metric_value'].every((name) => table.names.includes(name));
    if (!isK6) return undefined;
    return delimitedLayout('k6-csv', table, { count: 'metric_value', where: [['metric_name', 'http_reqs']] });
  },
};
