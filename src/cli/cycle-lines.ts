// Owns what a person sees while a live run goes on: a line for each cycle in which something happened, the progress below.
import type { CycleLine } from '../live/live-session.js';
import { Progress } from './progress.js';

const WIDTHS = { cycle: 8, planned: 9, sent: 9, admitted: 9, limited: 9 } as const;

export class CycleLines {
  private readonly progress: Progress;
  private headed = false;

  constructor(
    name: string,
    private readonly out: NodeJS.WriteStream = process.stderr,
  ) {
    this.progress = new Progress(name, out);
  }

  readonly tell = (line: CycleLine): void => {
    if (this.out.isTTY !== true) return;
    this.progress.clear();
    if (!this.headed) this.out.write(`${row(['cycle', 'planned', 'sent', 'admitted', 'limited', 'state'])}\n`);
    this.headed = true;
    const { elapsed, planned, sent, admitted, limited, state, cycles } = line;
    if (planned > 0 || sent > 0) this.out.write(`${row([elapsed, planned, sent, admitted, limited, state])}\n`);
    this.progress.tell(Math.min(1, elapsed / Math.max(1, cycles)), `cycle ${elapsed} of ${cycles}`);
  };

  clear(): void {
    this.progress.clear();
  }
}

function row([cycle, planned, sent, admitted, limited, state]: readonly (string | number)[]): string {
  const right = (cell: string | number | undefined, width: number) => String(cell).padStart(width);
  return `${right(cycle, WIDTHS.cycle)}${right(planned, WIDTHS.planned)}${right(sent, WIDTHS.sent)}${right(admitted, WIDTHS.admitted)}${right(limited, WIDTHS.limited)}  ${state}`;
}
