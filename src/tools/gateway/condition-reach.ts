// A condition as hosts, paths and the rest: a log without hosts has requests for any, and routes are ordered by their hosts and paths.
//
//   Host(`a`) && (Path(`/x`) || Path(`/y`)) && Method(`POST`)     hosts a; paths /x, /y; when method is POST
import { literal } from './expression.js';
import type { Reach } from './found.js';
import { allHold, isAlways, type RequestCondition, type TextTest, type ValueTest } from './request-condition.js';

export function reachFrom(condition: RequestCondition): Reach {
  let hosts: readonly string[] = [];
  let paths: readonly ValueTest[] = [];
  const rest: RequestCondition[] = [];
  for (const one of condition.kind === 'and' ? condition.of : [condition]) {
    const [ownHosts, ownPaths] = [testsOf(one, 'host')?.map(hostOf), testsOf(one, 'path')?.map(pathOf)];
    if (ownHosts !== undefined && !ownHosts.includes(undefined) && hosts.length === 0) hosts = ownHosts as string[];
    else if (ownPaths !== undefined && !ownPaths.includes(undefined) && paths.length === 0)
      paths = ownPaths as ValueTest[];
    else rest.push(one);
  }
  const when = allHold(...rest);
  return { hosts, paths, ...(!isAlways(when) && { when }) };
}

/** The alternatives of a condition on one field alone. */
function testsOf(condition: RequestCondition, field: 'host' | 'path'): TextTest[] | undefined {
  const all = condition.kind === 'or' ? condition.of : [condition];
  const tests = all.map((one) =>
    one.kind === 'test' && one.text.kind === 'field' && one.text.field === field ? one.test : undefined,
  );
  return tests.length === 0 || tests.includes(undefined) ? undefined : (tests as TextTest[]);
}

function hostOf(test: TextTest): string | undefined {
  if (test.is === 'equal') return test.value;
  if (test.is === 'matching') return `~${test.value}`;
  if (test.is === 'suffix') return test.value.startsWith('.') ? `*${test.value}` : `~${literal(test.value)}$`;
  return test.is === 'prefix' ? `~^${literal(test.value)}` : undefined;
}

const pathOf = (test: TextTest) => ('value' in test ? test : undefined);
