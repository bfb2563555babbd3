// Owns the log of the node: structured lines by pino, without secrets. Leaves where they go to whoever starts the node.
import { type DestinationStream, type Logger, pino } from 'pino';

export interface LogOptions {
  readonly level: 'silent' | 'error' | 'warn' | 'info' | 'debug';
  /** Whether every request is logged; it costs speed. */
  readonly requests: boolean;
  /** Standard output when absent. */
  readonly destination?: DestinationStream;
}

/** What is said of a request: no header, and no query, since people put secrets there. */
interface RequestLine {
  readonly method: string;
  readonly url: string;
  readonly ip?: string;
}

export function createLog({ level, destination }: LogOptions): Logger {
  const options = {
    name: 'weir',
    level,
    redact: { paths: ['*.authorization', '*.cookie', '*.key', 'authorization', 'cookie', 'key'], censor: '[secret]' },
    serializers: {
      req: ({ method, url, ip }: RequestLine) => ({ method, path: url.split('?', 1)[0], ip }),
      res: ({ statusCode }: { statusCode: number }) => ({ status: statusCode }),
    },
  };
  return destination === undefined ? pino(options) : pino(options, destination);
}
