// One number of requests per line, without a time: the first line is second 0 of the log, or the first interval of --count.
//   12
//   15
import { mostly, type Recognise } from './layout.js';
import { countOf, readCount, unitOfDate } from './unix.js';

const SECOND_MS = 1000;

export const counts: Recognise = ({ lines, options: { spreadMs = 0 } }, isNamed) => {
  const texts = lines.map((line) => line.toString('latin1'));
  const isCount = (text: string) => !Number.isNaN(countOf(text));
  // The first line may be the name of the column.
  const areCounts = mostly(texts.length === 1 ? texts : texts.slice(1), isCount);
  if (!isNamed && (!areCounts || mostly(texts, (text) => unitOfDate(Number(text)) !== undefined))) return undefined;
  const intervalMs = spreadMs > 0 ? spreadMs : SECOND_MS;
  return {
    format: 'counts',
    noun: 'field',
    names: ['line', 'count'],
    lines,
    readsTime: true,
    cutter: (fields) => {
      const count = fields.get('count');
      const cutter = {
        unixMs: -intervalMs,
        cut: (bytes: Buffer, from: number, to: number) => {
          if (cutter.unixMs < 0 && Number.isNaN(readCount(bytes, from, to))) return '';
          cutter.unixMs += intervalMs;
          count?.set(bytes, from, to);
          return undefined;
        },
      };
      return cutter;
    },
    known: {
      time: 'line',
      timeFrom: `the number of the line, ${intervalMs / 1000} s each`,
      count: 'count',
      warning: {
        code: 'no_time',
        what: `The log has no times: each line counts the requests of ${intervalMs / 1000} s. Give the length with --count /60s.`,
      },
    },
  };
};
