// Owns what the terminal at hand can show.
import type { Terminal } from '../report/terminal-text.js';

/** Width, colour and characters of standard output. Colour: on a terminal, unless NO_COLOR is set; FORCE_COLOR asks for it anywhere. */
export function terminalAtHand(out: NodeJS.WriteStream = process.stdout): Terminal {
  const { NO_COLOR, FORCE_COLOR, TERM, LC_ALL, LC_CTYPE, LANG } = process.env;
  const isForced = FORCE_COLOR !== undefined && FORCE_COLOR !== '0';
  const locale = LC_ALL || LC_CTYPE || LANG || '';
  return {
    columns: out.columns ?? 100,
    color: isForced || (out.isTTY === true && !NO_COLOR && TERM !== 'dumb'),
    unicode: TERM !== 'linux' && (locale === '' || /utf-?8/i.test(locale)),
  };
}
