// Owns the format of server-sent events (WHATWG HTML, section 9.2.6): messages out of bytes that come in pieces of any size. Leaves what
// they say to whoever reads them.
import { StringDecoder } from 'node:string_decoder';
import { Failure } from '../schema/failure.js';

export interface Message {
  /** Of this message or the last one before it that had one. */
  readonly id: string;
  readonly event: string;
  readonly data: string;
}

/** No message comes near this. */
const LONGEST_MESSAGE = 4 << 20;

export class EventStreamReader {
  /** How long to wait before coming back, in ms, as the stream has asked for it. */
  retryMs: number | undefined;
  readonly #decoder = new StringDecoder('utf8');
  #text = '';
  #endsInReturn = false;
  #isFirst = true;
  #id = '';
  #event = '';
  #data: string[] = [];
  #dataLength = 0;

  /**
   * The messages that these bytes complete.
   * @throws Failure `answer_unreadable` for a message without an end
   */
  *push(bytes: Buffer): Generator<Message> {
    let text = this.#decoder.write(bytes);
    if (text === '') return;
    if (this.#isFirst) text = text.replace(/^\uFEFF/, '');
    this.#isFirst = false;
    // A return at the end of a piece has ended its line; a feed at the start of the next one belongs to it.
    if (this.#endsInReturn && text.startsWith('\n')) text = text.slice(1);
    this.#endsInReturn = text === '' ? this.#endsInReturn : text.endsWith('\r');
    const lines = (this.#text + text).split(/\r\n|\r|\n/);
    this.#text = lines.pop() ?? '';
    if (this.#text.length + this.#dataLength > LONGEST_MESSAGE) throw tooLong();
    for (const line of lines) {
      const message = line === '' ? this.#dispatch() : this.#field(line);
      if (message !== undefined) yield message;
    }
  }

  #field(line: string): undefined {
    const colon = line.indexOf(':');
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
    switch (name) {
      case 'id':
        if (!value.includes('\0')) this.#id = value;
        break;
      case 'event':
        this.#event = value;
        break;
      case 'data':
        this.#data.push(value);
        this.#dataLength += value.length;
        break;
      case 'retry':
        if (/^\d{1,9}$/.test(value)) this.retryMs = Number(value);
        break;
      default:
        // A comment, which shows that the stream lives, or a field of a later day.
        break;
    }
  }

  #dispatch(): Message | undefined {
    const message = { id: this.#id, event: this.#event === '' ? 'message' : this.#event, data: this.#data.join('\n') };
    const isEmpty = this.#data.length === 0;
    this.#event = '';
    this.#data = [];
    this.#dataLength = 0;
    return isEmpty ? undefined : message;
  }
}

function tooLong(): Failure {
  return new Failure('answer_unreadable', {
    what: 'The stream cannot be read.',
    why: `A message has more than ${LONGEST_MESSAGE} characters.`,
    fix: 'Check that the address is that of a node.',
  });
}
