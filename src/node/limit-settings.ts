// Operator settings for the bounds of GET /api/limits, by the same names: `rows=20000000` per owner, `rows.on_node=200000000` for all.
import { nearest } from '../core/schema/did-you-mean.js';
import { Failure } from '../core/schema/failure.js';
import { defaultLimits, type Limits, nameOfLimit, RATES, ROOMS } from './limits.js';

const rooms = [...ROOMS, 'sockets' as const];

const names = ['mint', ...[...rooms, ...RATES].map(nameOfLimit).flatMap((name) => [name, `${name}.on_node`])];

/** The greatest value; as rows, some TB. */
const MOST = 1_000_000_000;
const MOST_MINTED = 999_999;

/**
 * @param settings each `name=value`, a whole number from 1 to MOST; the last of a name applies
 * @throws Failure `wrong_usage`: unknown bound, invalid number, more for an owner than the node has room for
 */
export function limitsFrom(settings: readonly string[]): Partial<Limits> {
  const values = new Map(settings.map(read));
  const limits: { -readonly [name in keyof Limits]?: Limits[name] } = {};
  for (const key of rooms) {
    const name = nameOfLimit(key);
    const { perOwner, onNode } = defaultLimits[key];
    const room = { perOwner: values.get(name) ?? perOwner, onNode: values.get(`${name}.on_node`) ?? onNode };
    // An owner may have at most what is still free, so never more than half.
    if (2 * room.perOwner > room.onNode) throw tooMuch(name, room.perOwner, 2 * room.perOwner, room.onNode);
    limits[key] = room;
  }
  for (const key of RATES) {
    const name = nameOfLimit(key);
    const { threshold, within, onNode } = defaultLimits[key];
    const rate = { threshold: values.get(name) ?? threshold, within, onNode: values.get(`${name}.on_node`) ?? onNode };
    if (rate.threshold > rate.onNode) throw tooMuch(name, rate.threshold, rate.threshold, rate.onNode);
    limits[key] = rate;
  }
  const mint = values.get('mint');
  return mint === undefined ? limits : { ...limits, mint: { ...defaultLimits.mint, threshold: mint } };
}

function read(setting: string): readonly [name: string, value: number] {
  const [name = '', text = '', ...rest] = setting.split('=');
  if (!names.includes(name)) {
    const guess = nearest(name, names);
    throw refused(
      `There is no bound "${name}" that can be set.`,
      guess === undefined ? `Those that can are: ${names.join(', ')}.` : `Did you mean "${guess}"?`,
    );
  }
  if (setting === 'mint=off') return ['mint', 0];
  const value = Number(text);
  const [most, or] = name === 'mint' ? [MOST_MINTED, ', or off'] : [MOST, ''];
  if (rest.length === 0 && /^\d+$/.test(text) && value >= 1 && value <= most) return [name, value];
  throw refused(
    `"${setting.slice(0, 60)}" does not set ${name}.`,
    `Give a whole number from 1 to ${most}${or}: ${name}=${name === 'mint' ? 10 : 50_000}.`,
  );
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
