// Answers as text, a line each: from being sent to being answered, on one axis of time.
//
//    0.000 s  o                          admitted
//    0.004 s   oo                        admitted
//    0.982 s                         x   limited
import type { SeenRequest } from '../../harness/explain/seen-request.js';

const WIDTH = 40;
/** Of more only the first and the last are drawn. */
const MOST_LINES = 30;

/** @param requests in order of sending @param startMs the zero of the times */
export function drawn(requests: readonly SeenRequest[], startMs: number): string {
  const known = requests.filter(({ answeredMs }) => Number.isFinite(answeredMs));
  const fromMs = requests[0]!.sentMs;
  const toMs = Math.max(fromMs, ...known.map(({ answeredMs }) => answeredMs));
  const columnOf = (ms: number) => Math.round(((ms - fromMs) / (toMs - fromMs || 1)) * (WIDTH - 1));
  const lines = requests.map(({ sentMs, answeredMs, decision }) => {
    const [first, last] = [columnOf(sentMs), columnOf(Math.min(answeredMs, toMs))];
    const lane = ' '.repeat(first) + marks[decision].repeat(last - first + 1);
    return `${((sentMs - startMs) / 1000).toFixed(3).padStart(9)} s  ${lane.padEnd(WIDTH)}  ${decision}`;
  });
  if (lines.length <= MOST_LINES) return lines.join('\n');
  const half = MOST_LINES / 2;
  const between = `${' '.repeat(13)}… ${lines.length - MOST_LINES} more`;
  return [...lines.slice(0, half), between, ...lines.slice(-half)].join('\n');
}

const marks = { admitted: 'o', limited: 'x', unknown: '?' } as const;
