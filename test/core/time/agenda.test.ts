// Owns the tests of the agenda: order, tickets, memory, errors, time. Leaves random programs to agenda-model.test.ts.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { Bug } from '../../../src/core/schema/failure.js';
import { Agenda, type Ticket } from '../../../src/core/time/agenda.js';
import { Rank } from '../../../src/core/time/rank.js';

const ranks = Object.values(Rank);
const nothing = () => {};

/** Runs everything and tells the order as text. */
function drain(agenda: Agenda, ran: string[]): string {
  while (agenda.step());
  return ran.join(' ');
}

it('the agenda keeps order while it grows to thousands and half of them are cancelled', () => {
  const agenda = new Agenda(0);
  const ran: string[] = [];
  const asked = Array.from({ length: 5_000 }, (_, n) => ({
    n,
    due: (n * 7_919) % 613,
    rank: ranks[(n * 31) % ranks.length]!,
  }));
  const tickets = asked.map(({ n, due, rank }) => agenda.at(due, rank, () => ran.push(`${n}`)));
  for (const { n } of asked) if (n % 2 === 1) agenda.cancel(tickets[n]!);
  const order = asked.filter(({ n }) => n % 2 === 0).sort((a, b) => a.due - b.due || a.rank - b.rank || a.n - b.n);
  expect(drain(agenda, ran)).toBe(order.map(({ n }) => n).join(' '));
});

it.each([0, -1, 1.5, Number.NaN, Infinity, 2 ** 53])('what is no ticket cancels nothing: %d', (ticket) => {
  const agenda = new Agenda(0);
  agenda.at(1, Rank.client, nothing);
  expect([agenda.cancel(ticket), agenda.size]).toEqual([false, 1]);
});

it.each<[end: string, end: (agenda: Agenda, ticket: Ticket) => boolean]>([
  ['cancelled', (agenda, ticket) => agenda.cancel(ticket)],
  ['run', (agenda) => agenda.step()],
])('tickets never come back, however often a slot is used: it is retired after four million tasks %s', (_end, end) => {
  const agenda = new Agenda(0);
  const first = agenda.at(1, Rank.client, nothing);
  end(agenda, first);
  const seen = { firstAgain: 0, inexact: 0, cancelledByFirst: 0, notEnded: 0 };
  for (let i = 0; i < 2 ** 22 + 10; i++) {
    const ticket = agenda.at(1, Rank.client, nothing);
    if (ticket === first) seen.firstAgain++;
    if (!Number.isSafeInteger(ticket)) seen.inexact++;
    if (agenda.cancel(first)) seen.cancelledByFirst++;
    if (!end(agenda, ticket)) seen.notEnded++;
  }
  expect(seen).toEqual({ firstAgain: 0, inexact: 0, cancelledByFirst: 0, notEnded: 0 });
});

it('a million tasks set and cancelled leave nothing behind: not in size, not in the arrays', () => {
  const agenda = new Agenda(0);
  for (let i = 0; i < 10; i++) agenda.at(i, Rank.client, nothing);
  const before = process.memoryUsage().arrayBuffers;
  for (let i = 0; i < 1_000_000; i++) agenda.cancel(agenda.at(i % 97, Rank.client, nothing));
  const grown = process.memoryUsage().arrayBuffers - before;
  expect({ size: agenda.size, grown: grown > 2 ** 20 }).toEqual({ size: 10, grown: false });
});

it('a task that was cancelled or has run is not held', async () => {
  const agenda = new Agenda(0);
  const askFor = (end: (ticket: Ticket) => void) => {
    const held = { payload: 'of the task' };
    end(agenda.at(1, Rank.client, () => held.payload));
    return new WeakRef(held);
  };
  const held = [askFor((ticket) => agenda.cancel(ticket)), askFor(() => agenda.step())];
  setFlagsFromString('--expose-gc');
  await new Promise((resolve) => setImmediate(resolve));
  runInNewContext('gc')();
  expect(held.map((ref) => ref.deref())).toEqual([undefined, undefined]);
});

it('a task that throws is gone, its error goes to the caller, and the next step goes on', () => {
  const agenda = new Agenda(0);
  const ran: string[] = [];
  agenda.at(1, Rank.client, () => {
    throw new Error('of the task');
  });
  agenda.at(2, Rank.client, () => ran.push('the next'));
  expect(() => agenda.step()).toThrow('of the task');
  expect([agenda.now, agenda.size, drain(agenda, ran)]).toEqual([1, 1, 'the next']);
});

it.each([Number.NaN, Infinity])('a due that never comes is a bug, and nothing was asked: %d', (due) => {
  const agenda = new Agenda(0);
  expect(() => agenda.at(due, Rank.client, nothing)).toThrow(Bug);
  expect(agenda.size).toBe(0);
});

it.each([-1, 32, Number.NaN])('a rank outside 0..31 is a bug: %d', (rank) => {
  expect(() => new Agenda(0).at(1, rank as Rank, nothing)).toThrow(Bug);
});

it.each([Number.NaN, Infinity])('a beginning that is no instant is a bug: %d', (startMs) => {
  expect(() => new Agenda(startMs)).toThrow(Bug);
});

it('time passes without a task, never backwards, and never past one', () => {
  const agenda = new Agenda(100);
  agenda.at(200, Rank.client, nothing);
  agenda.passTo(150);
  agenda.passTo(120);
  expect(agenda.now).toBe(150);
  expect(() => agenda.passTo(201)).toThrow(Bug);
});

it('the agenda tells the driver of each task that became the first to run, with its due', () => {
  const told: number[] = [];
  const agenda = new Agenda(10, (due) => told.push(due));
  for (const due of [50, 60, 40, 40, 20, 5]) agenda.at(due, Rank.client, nothing);
  agenda.at(10, Rank.advance, nothing);
  expect(told).toEqual([50, 40, 20, 10, 10]);
});
