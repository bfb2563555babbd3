// Operator settings for the bounds of GET /api/limits, by the same names: `rows=20000000` per owner, `rows.on_node=200000000` for all; of what is
// counted within a window also in the words of --limit: `mint=10 in 1h`.
import { completeLimit } from '../core/limiter/products/limit-text.js';
import { nearest } from '../core/schema/did-you-mean.js';
import { Failure } from '../core/schema/failure.js';
import { defaultLimits, type Limits, nameOfLimit, RATES, type RateName, ROOMS, type RoomName } from './limits.js';

const keys = [...Object.keys(RATES), ...Object.keys(ROOMS)] as readonly (RateName | RoomName)[];

const names = keys.map(nameOfLimit).flatMap((name) => [name, `${name}.on_node`]);

/** The greatest value; as rows, some TB. */
const MOST = 1_000_000_000;

interface Setting {
  readonly value: number;
  readonly within?: number | string;
}

/**
 * @param settings each `name=value`, a whole number from 1 to MOST; the last of a name applies
 * @throws Failure `wrong_usage`: unknown bound, invalid number, more for an owner than the node has room for
 */
export function limitsFrom(settings: readonly string[]): Partial<Limits> {
  const values = new Map(settings.map(read));
  return Object.fromEntries(keys.map((key) => [key, limitOf(key, values)]));
}

function limitOf(key: RateName | RoomName, values: ReadonlyMap<string, Setting>) {
  const name = nameOfLimit(key);
  const { value, within } = values.get(name) ?? {};
  const onNode = values.get(`${name}.on_node`)?.value ?? defaultLimits[key].onNode;
  if (key in RATES) {
    const { threshold: usual, within: window } = defaultLimits[key as RateName];
    const threshold = value ?? usual;
    if (threshold > onNode) throw tooMuch(name, threshold, threshold, onNode);
    return { threshold, within: within ?? window, onNode };
  }
  const room = { ...defaultLimits[key as RoomName], onNode };
  const perOwner = value ?? room.perOwner;
  // An owner may have at most what is still free, so never more than half.
  if (room.share === undefined && 2 * perOwner > onNode) throw tooMuch(name, perOwner, 2 * perOwner, onNode);
  return { ...room, perOwner: Math.min(perOwner, onNode) };
}

function read(setting: string): readonly [name: string, value: Setting] {
  const [name = '', text = '', ...rest] = setting.split('=');
  if (!names.includes(name)) {
    const guess = nearest(name, names);
    throw refused(
      `There is no bound "${name}" that can be set.`,
      guess === undefined ? `Those that can are: ${names.join(', ')}.` : `Did you mean "${guess}"?`,
    );
  }
  if (setting === 'mint=off') return ['mint', { value: 0 }];
  const found =
    rest.length > 0
      ? undefined
      : settingIn(
          text,
          keys.some((key) => key in RATES && nameOfLimit(key) === name),
        );
  if (found !== undefined) return [name, found];
  const or = name === 'mint' ? ', or off' : '';
  throw refused(
    `"${setting.slice(0, 60)}" does not set ${name}.`,
    `Give a whole number from 1 to ${MOST}${or}: ${name}=${name === 'mint' ? 10 : 50_000}.`,
  );
}

function settingIn(text: string, isRate: boolean): Setting | undefined {
  if (isRate && /^\d+\s+\D/.test(text)) {
    const { threshold, within, ...others } = completeLimit(text) as { threshold?: number; within?: number | string };
    const isPlain = threshold !== undefined && threshold <= MOST && within !== undefined;
    return isPlain && Object.keys(others).length === 0 ? { value: threshold, within } : undefined;
  }
  const value = Number(text);
  return /^\d+$/.test(text) && value >= 1 && value <= MOST ? { value } : undefined;
}

function tooMuch(name: string, asked: number, needed: number, room: number): Failure {
  const who = name === 'sockets' ? 'an address' : 'an owner';
  const why = needed === asked ? '' : `: ${who} may have as many as are still free, so never more than half of that`;
  return refused(
    `${name}=${asked} for ${who} is more than ${name}.on_node=${room} leaves${why}.`,
    needed > MOST ? 'Choose a smaller one.' : `Set ${name}.on_node=${needed} as well, or more.`,
  );
}

function refused(why: string, fix: string): Failure {
  return new Failure('wrong_usage', { what: 'The node was not started: --bound was refused.', why, fix });
}
