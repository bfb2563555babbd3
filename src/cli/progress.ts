// Owns the line that says how far a command has come: on a terminal only, on standard error, never in a pipe.

const WIDTH = 24;

export class Progress {
  private shown = '';

  constructor(
    private readonly what: string,
    private readonly out: { isTTY?: boolean; columns?: number; write(text: string): unknown } = process.stderr,
  ) {}

  /** @param share 0 .. 1; undefined where the end is not known */
  tell(share: number | undefined, words = ''): void {
    if (this.out.isTTY !== true) return;
    const line = `${this.what} ${share === undefined ? '' : `${bar(share)} ${String(Math.floor(share * 100)).padStart(3)} % `}${words}`;
    const cut = line.slice(0, (this.out.columns ?? 80) - 1);
    if (cut === this.shown) return;
    this.shown = cut;
    this.out.write(`\r\u001b[2K${cut}`);
  }

  /** Takes the line away: what follows stands where it was. */
  clear(): void {
    if (this.shown !== '') this.out.write('\r\u001b[2K');
    this.shown = '';
  }
}

function bar(share: number): string {
  const full = Math.round(Math.max(0, Math.min(1, share)) * WIDTH);
  return `[${'='.repeat(full)}${' '.repeat(WIDTH - full)}]`;
}
