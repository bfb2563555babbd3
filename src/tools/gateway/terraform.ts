// Limits of clouds in Terraform: HCL, JSON, and plans in JSON.
//
//   resource "aws_wafv2_web_acl" "api" { rule { statement { rate_based_statement { limit = 2000 … } } } }
//   { like: aws-waf, limit: 2000 }             more than 2000 in 300 s, the default, by an estimate
//
// Sources: the references of the providers aws, cloudflare, google, azurerm and kong-gateway at registry.terraform.io.
import { reachFrom } from './boolean-text.js';
import {
  at,
  entryOf,
  isGiven,
  isThere,
  listAt,
  numberAt,
  numbersAt,
  type TreeEntry,
  textAt,
  textsAt,
  walk,
} from './document.js';
import type { FoundLimits } from './found.js';
import { readPlugin } from './kong.js';
import { keyOfAll, keyOfTexts } from './limit-key.js';
import * as ask from './request-condition.js';
import { type Resource, readStage, readUsagePlan } from './terraform-api-gateway.js';
import { armorCondition, azureCondition, cloudflareCondition, cloudflareText } from './terraform-expressions.js';
import { type AddressSets, conditionOfStatement, keyOfCustom } from './terraform-statements.js';

const LIMITS = /rate_?limit|rate_based|throttl/;

const readers: readonly (readonly [
  type: RegExp,
  read: (resource: Resource, found: FoundLimits, all: readonly Resource[]) => void,
])[] = [
  [/^aws_wafv2_(?:web_acl|rule_group)$/, readWebAcl],
  [/^aws_api_gateway_usage_plan$/, readUsagePlan],
  [/^aws_api_gateway_method_settings$|^aws_apigatewayv2_stage$/, readStage],
  [/^cloudflare_ruleset$/, readRuleset],
  [/^google_compute_security_policy(?:_rule)?$/, readSecurityPolicy],
  [/^azurerm_(?:web_application|frontdoor|cdn_frontdoor)_firewall_policy$/, readFirewallPolicy],
  [/^kong(?:-gateway)?_plugin_rate_limiting(?:_advanced)?$/, readKongPlugin],
];

export function readTerraform(roots: readonly TreeEntry[], found: FoundLimits): void {
  const resources = roots.flatMap((root) => [...resourcesOf(root)]);
  for (const root of roots) {
    for (const resource of resourcesOf(root)) {
      const reader = readers.find(([type]) => type.test(resource.type));
      if (textAt(resource.body, 'count') === '0') {
        const what = `${resource.type} ${resource.name} is not there: count is 0`;
        if (reader !== undefined) found.unused(resource.body, { name: resource.name, what });
        continue;
      }
      if (reader === undefined) {
        const named = [...walk(resource.body)].find(
          ([entry, names]) =>
            LIMITS.test(names.at(-1) ?? '') ||
            /^(?:rate[-_]?limit(?:ing(?:-advanced)?)?|traefik\.http\.middlewares\.\S+)$/.test(String(entry.value)),
        );
        if (LIMITS.test(resource.type) || named !== undefined)
          found.refuse(named?.[0] ?? resource.body, `limits of ${resource.type} are not read`);
        continue;
      }
      const before = found.limiters.length;
      reader[1](resource, found, resources);
      sayDynamic(resource.body, false, found);
      for (const name of ['count', 'for_each']) {
        const given = at(resource.body, name);
        if (given?.expression !== undefined && found.limiters.length > before)
          found.refuse(given, `it is there only as ${name} = ${given.expression} says; here it is`);
      }
    }
    for (const module of listAt(root, 'module')) readModule(module, found);
  }
}

const labelOf = (block: TreeEntry) => String(block.fields.get('')?.items[0]?.value ?? 'block');

const isLimiting = (entry: TreeEntry) =>
  [...walk(entry)].some(([one, names]) => LIMITS.test(names.at(-1) ?? '') || LIMITS.test(labelOf(one)));

/** Notes dynamic blocks that have a limit in them, beside them or around them. @param isWithin a block of a limit */
function sayDynamic(block: TreeEntry, isWithin: boolean, found: FoundLimits): void {
  for (const [name, given] of block.fields)
    for (const one of given.items) {
      const label = labelOf(one);
      if (name !== 'dynamic') sayDynamic(one, isWithin || isLimiting(one) || LIMITS.test(name), found);
      else if (isWithin || isLimiting(one))
        found.refuse(one, `a dynamic ${label} is not read: it is known only once Terraform has evaluated it`);
    }
}

function* resourcesOf(root: TreeEntry): Generator<Resource> {
  for (const block of listAt(root, 'resource')) {
    const labels = block.fields.get('')?.items.map(({ value }) => String(value));
    if (labels !== undefined) yield { type: labels[0] ?? '', name: labels[1] ?? '', body: block };
    else for (const [type, named] of block.fields) for (const [name, body] of named.fields) yield { type, name, body };
  }
  const modules = [at(root, 'planned_values', 'root_module')];
  for (const module of modules) {
    modules.push(...listAt(module, 'child_modules'));
    for (const one of listAt(module, 'resources'))
      yield { type: textAt(one, 'type') ?? '', name: textAt(one, 'address') ?? '', body: at(one, 'values') ?? one };
  }
}

const priorityOf = (rule: TreeEntry) => numberAt(rule, 'priority') ?? 0;

/** Rules without a number come in any order. */
function rulesBefore(rule: TreeEntry, rules: readonly TreeEntry[]): TreeEntry[] {
  const own = numberAt(rule, 'priority') ?? Number.POSITIVE_INFINITY;
  return rules.filter((one) => one !== rule && priorityOf(one) < own);
}

type ConditionOf = (rule: TreeEntry) => ask.RequestCondition;

/** Of requests for which none of the rules has the last word. What one refuses by what no log has is no matter of a limit. */
function unendedBy(rules: readonly TreeEntry[], conditionOf: ConditionOf): ask.RequestCondition {
  const isKnown = (rule: TreeEntry) =>
    !/^(?:block|deny|redirect)/i.test(actionOf(rule)) || ask.needsOf([conditionOf(rule)]).missing.size === 0;
  return ask.allHold(...rules.filter(isKnown).map((one) => ask.not(conditionOf(one))));
}

/** Its name, or the block that is there. */
const actionOf = (rule: TreeEntry): string =>
  textAt(rule, 'action') ?? ['allow', 'block'].find((name) => isThere(at(rule, 'action', name))) ?? '';

/** Why a rule is not in force. @param all it, and what it is in */
function offOf(all: readonly (TreeEntry | undefined)[], found: FoundLimits): string | undefined {
  const given = at(all[0], 'enabled');
  if (given?.expression !== undefined) found.refuse(given, `it is enabled as ${given.expression} says; here it is`);
  return all.some((one) => textAt(one, 'enabled') === 'false') ? 'it is not enabled' : undefined;
}

function readWebAcl({ type, name, body }: Resource, found: FoundLimits, resources: readonly Resource[]): void {
  const lists = resources.filter((one) => one.type === 'aws_wafv2_ip_set');
  const sets: AddressSets = new Map(lists.map((one) => [`${one.type}.${one.name}`, textsAt(one.body, 'addresses')]));
  const isEnding = (rule: TreeEntry) =>
    /^(?:allow|block)$/.test(actionOf(rule)) && !isGiven(at(rule, 'statement', 'rate_based_statement'));
  const exemptBefore = (rule: TreeEntry, all: readonly TreeEntry[]) =>
    unendedBy(rulesBefore(rule, all).filter(isEnding), (one) => conditionOfStatement(at(one, 'statement'), sets));
  const rules = listAt(body, 'rule').toSorted((a, b) => priorityOf(a) - priorityOf(b));
  const isGroup = type === 'aws_wafv2_rule_group';
  const acls = isGroup ? resources.filter((one) => one.type === 'aws_wafv2_web_acl') : [];
  const users = acls.flatMap(({ body: acl }) =>
    listAt(acl, 'rule').flatMap((user, _, all) => {
      const reference = at(user, 'statement', 'rule_group_reference_statement');
      const arn = at(reference, 'arn');
      // A plan does not know its ARN yet.
      const isNamed = (arn?.expression ?? textAt(arn) ?? `${type}.${name}.`).includes(`${type}.${name}.`);
      return isGiven(reference) && isNamed ? [{ user, reference, exempt: exemptBefore(user, all) }] : [];
    }),
  );
  const exemptAbove = users.length === 1 ? users[0]!.exempt : ask.ALWAYS;
  const json = at(body, 'rule_json');
  if (isGiven(json)) found.refuse(json, 'the rules in rule_json are not read');
  for (const rule of rules) {
    const statement = at(rule, 'statement', 'rate_based_statement');
    const exempt = ask.allHold(exemptAbove, exemptBefore(rule, rules));
    const isCounted =
      users.length > 0 && users.every((one) => isCountedBy(one.user, one.reference, textAt(rule, 'name')));
    const where = `${isGroup ? 'rule group' : 'web ACL'} ${textAt(body, 'name') ?? name}`;
    if (isGiven(statement)) readRateBased(statement, rule, { where, exempt, sets, isCounted }, found);
  }
}

/** Whether an ACL only counts what a rule of the group that it names refuses. */
function isCountedBy(user: TreeEntry, reference: TreeEntry, name: string | undefined): boolean {
  const named = (list: string) => listAt(reference, list).find((one) => textAt(one, 'name') === name);
  const override = at(named('rule_action_override'), 'action_to_use', 'count');
  return named('excluded_rule') !== undefined || [at(user, 'override_action', 'count'), override].some(isThere);
}

/** What clouds count by. */
const KEYS = new Map<string, readonly ask.RequestField[]>([
  ...['ALL', 'CONSTANT', 'None'].map((name) => [name, []] as const),
  ...['IP', 'XFF_IP', 'FORWARDED_IP', 'ClientAddr', 'ClientAddrXFFHeader'].map((name) => [name, ['client']] as const),
  ['HTTP_PATH', ['path']],
]);

const keyNamed = (text: string) => {
  const names = text.split(', ');
  return keyOfAll(
    text,
    names.map((one) => KEYS.get(one)),
  );
};

interface WebAcl {
  readonly where: string;
  /** Of requests for which no rule before has the last word. */
  readonly exempt: ask.RequestCondition;
  readonly sets: AddressSets;
  readonly isCounted?: boolean;
}

function readRateBased(statement: TreeEntry, rule: TreeEntry, acl: WebAcl, found: FoundLimits): void {
  const given = numbersAt(statement, found, 'limit', 'evaluation_window_sec?');
  if (given === undefined) return;
  const scope = at(statement, 'scope_down_statement');
  const when = ask.allHold(isGiven(scope) ? conditionOfStatement(scope, acl.sets) : ask.ALWAYS, acl.exempt);
  const type = textAt(statement, 'aggregate_key_type') ?? 'IP';
  const action = at(rule, 'action');
  const isCount = textAt(rule, 'action') === 'count' || isThere(at(action, 'count'));
  const named = { captcha: 405, challenge: 202 };
  const [, asked] = Object.entries(named).find(([name]) => isThere(at(action, name))) ?? [];
  const status = numberAt(action, 'block', 'custom_response', 'response_code') ?? asked ?? 403;
  found.limiter(statement, {
    name: textAt(rule, 'name') ?? 'rate_based_statement',
    where: acl.where,
    ...reachFrom(when),
    key: type === 'CUSTOM_KEYS' ? keyOfCustom(listAt(statement, 'custom_key')) : keyNamed(type),
    limit: { like: 'aws-waf', ...given },
    status,
    isDryRun: isCount || acl.isCounted === true,
  });
}

/** Of requests that no rule blocks in the phase before or keeps from that of limits, and no earlier one from the rest of its ruleset. */
function reaching(rules: readonly TreeEntry[], rule: TreeEntry, all: readonly Resource[]): ask.RequestCondition {
  const before = rules.slice(0, rules.indexOf(rule));
  const ending = all.flatMap(({ type, body }) =>
    (type === 'cloudflare_ruleset' ? listAt(body, 'rules') : []).filter((one) => {
      const [action, given] = [textAt(one, 'action'), at(one, 'action_parameters')];
      const isBlocking = action === 'block' && textAt(body, 'phase') === 'http_request_firewall_custom';
      const isOfRest = before.includes(one) && textAt(given, 'ruleset') === 'current';
      const isSkipping = action === 'skip' && (isOfRest || textsAt(given, 'phases').includes('http_ratelimit'));
      return textAt(one, 'enabled') !== 'false' && (isBlocking || isSkipping);
    }),
  );
  return unendedBy(ending, ruleCondition);
}

/** A text, or an expression that Terraform evaluates. */
const writtenAt = (entry: TreeEntry | undefined, name: string) => textAt(entry, name) ?? at(entry, name)?.expression;

function ruleCondition(rule: TreeEntry): ask.RequestCondition {
  const asked = writtenAt(rule, 'expression');
  return asked === undefined ? ask.missing('what a rule without expression asks') : cloudflareCondition(asked);
}

function readRuleset({ name, body }: Resource, found: FoundLimits, resources: readonly Resource[]): void {
  const rules = listAt(body, 'rules');
  for (const rule of rules) {
    const limit = at(rule, 'ratelimit');
    if (!isGiven(limit)) continue;
    const off = offOf([rule], found);
    if (textAt(limit, 'requests_to_origin') === 'true')
      found.refuse(limit, 'only requests that reach the origin count; here those from the cache do, too');
    const title = textAt(rule, 'description') ?? textAt(rule, 'ref') ?? 'ratelimit';
    const given = numbersAt(limit, found, 'requests_per_period', 'period', 'mitigation_timeout?');
    if (given === undefined) continue;
    const keys = textsAt(limit, 'characteristics');
    // Each data centre counts by itself, and a log is of all.
    const texts = keys.filter((one) => one !== 'cf.colo.id').map(cloudflareText);
    const key = keyOfTexts(keys.join(', '), texts);
    const counted = writtenAt(limit, 'counting_expression') ?? '';
    const asked = writtenAt(rule, 'expression') ?? 'true';
    const own = ask.allHold(cloudflareCondition(asked), reaching(rules, rule, resources));
    // What is only counted may not be refused, and what is not counted may be: that no rule decides here.
    const all =
      counted === '' || counted === asked ? own : ask.allHold(own, ask.missing('what counting_expression asks'));
    found.unless(off, limit, {
      name: title,
      where: `ruleset ${textAt(body, 'name') ?? name}`,
      ...(off === undefined && reachFrom(all)),
      key,
      limit: { like: 'cloudflare', ...given },
      status:
        numberAt(rule, 'action_parameters', 'response', 'status_code') ??
        (/challenge$/.test(textAt(rule, 'action') ?? '') ? 403 : 429),
      isDryRun: textAt(rule, 'action') === 'log',
    });
  }
}

/** A rule may be a resource of its own, of the policy that it names. */
function readSecurityPolicy({ type, name, body }: Resource, found: FoundLimits, resources: readonly Resource[]): void {
  const [own, policy] = [listAt(body, 'rule'), writtenAt(body, 'security_policy')];
  const others = resources.filter((one) => one.type === type && writtenAt(one.body, 'security_policy') === policy);
  const rules = type.endsWith('_rule') ? others.map((one) => one.body) : own;
  const isLimit = (rule: TreeEntry) => /^(?:throttle|rate_based_ban)$/.test(actionOf(rule));
  // The first rule in force that fits is the only one.
  const isEnding = (rule: TreeEntry) => textAt(rule, 'preview') !== 'true';
  for (const rule of rules.filter((one) => one === body || own.includes(one))) {
    const action = actionOf(rule);
    const options = at(rule, 'rate_limit_options');
    if (!isLimit(rule) || options === undefined) continue;
    const given = numbersAt(at(options, 'rate_limit_threshold') ?? options, found, 'count', 'interval_sec');
    const ban = action === 'rate_based_ban' ? numbersAt(options, found, 'ban_duration_sec') : {};
    if (given === undefined || ban === undefined) continue;
    const threshold = at(options, 'ban_threshold');
    if (isGiven(threshold))
      found.refuse(threshold, 'ban_threshold is not read: a client is banned as soon as it exceeds the rate');
    const exempt = unendedBy(rulesBefore(rule, rules).filter(isEnding), armorCondition);
    const configs = listAt(options, 'enforce_on_key_configs').map((one) => textAt(one, 'enforce_on_key_type') ?? '');
    const by = configs.length > 1 ? configs.join(', ') : configs[0] || textAt(options, 'enforce_on_key') || 'ALL';
    const exceeded = textAt(options, 'exceed_action') ?? '';
    found.limiter(options, {
      name: textAt(rule, 'description') ?? `priority ${textAt(rule, 'priority') ?? ''}`,
      where: `security policy ${textAt(body, 'name') ?? name}`,
      ...reachFrom(ask.allHold(armorCondition(rule), exempt)),
      key: keyNamed(by),
      limit: { like: 'google-cloud-armor', ...given, ...ban },
      status: Number(/\d+/.exec(exceeded)?.[0] ?? (exceeded === 'redirect' ? 302 : 429)),
      isDryRun: textAt(rule, 'preview') === 'true',
    });
  }
}

function readFirewallPolicy({ name, body }: Resource, found: FoundLimits): void {
  const rules = [...listAt(body, 'custom_rule'), ...listAt(body, 'custom_rules')];
  const isLimit = (rule: TreeEntry) => /RateLimit/i.test(textAt(rule, 'type') ?? textAt(rule, 'rule_type') ?? '');
  const isEnding = (rule: TreeEntry) =>
    /^(?:Allow|Block|Redirect)$/.test(actionOf(rule)) && textAt(rule, 'enabled') !== 'false' && !isLimit(rule);
  for (const rule of rules.filter(isLimit)) {
    const off = offOf([rule, body, at(body, 'policy_settings')], found);
    const numbers = numbersAt(rule, found, 'rate_limit_threshold');
    const given = textAt(rule, 'rate_limit_duration_in_minutes') ?? textAt(rule, 'rate_limit_duration') ?? '1';
    const minutes = { OneMin: 1, FiveMins: 5 }[given] ?? Number(given);
    if (numbers === undefined) continue;
    if (minutes !== 1 && minutes !== 5) {
      found.refuse(rule, `a duration of ${given} is not read`);
      continue;
    }
    const exempt = unendedBy(rulesBefore(rule, rules).filter(isEnding), azureCondition);
    const [by, action] = [textAt(rule, 'group_rate_limit_by') ?? 'ClientAddr', textAt(rule, 'action')];
    found.unless(off, rule, {
      name: textAt(rule, 'name') ?? 'rate limit',
      where: `firewall policy ${textAt(body, 'name') ?? name}`,
      ...reachFrom(ask.allHold(azureCondition(rule), exempt)),
      key: keyNamed(by),
      limit: { like: 'azure-front-door', threshold: numbers.rate_limit_threshold, minutes },
      status: action === 'Redirect' ? 302 : (numberAt(body, 'custom_block_response_status_code') ?? 403),
      isDryRun:
        /^(?:Log|Allow)$/.test(action ?? '') ||
        /^detection$/i.test(textAt(body, 'mode') ?? textAt(body, 'policy_settings', 'mode') ?? ''),
    });
  }
}

function readKongPlugin({ type, name, body }: Resource, found: FoundLimits): void {
  const bound = ['route', 'service', 'consumer'].find((one) => isGiven(at(body, one)));
  const id = bound && writtenAt(at(body, bound), 'id');
  const where = bound === undefined ? 'global' : `${bound} ${id?.split('.').at(-2) ?? ''}`.trim();
  const kind = entryOf(body.file, body.line, { value: `rate-limiting${type.endsWith('advanced') ? '-advanced' : ''}` });
  const plugin = { ...body, fields: new Map([...body.fields, ['name', kind]]) };
  readPlugin(plugin, { where, reach: bound === undefined ? 'known' : 'unknown' }, found, name);
}

/** The module itself is elsewhere: reads literal web ACL rules passed to it and refuses the rest. */
function readModule(module: TreeEntry, found: FoundLimits): void {
  const name = module.fields.get('')?.items[0]?.value ?? '';
  for (const [entry, names] of walk(module)) {
    const last = names.at(-1) ?? '';
    const statement = at(entry, 'rate_based_statement') ?? at(entry, 'statement', 'rate_based_statement');
    if (statement !== undefined && last !== 'statement' && entry.items.length === 0)
      readRateBased(statement, entry, { where: `module ${name}`, exempt: ask.ALWAYS, sets: new Map() }, found);
    else if (
      /rate_?limit|rate_based_(?!statement$)/.test(last) &&
      isGiven(entry) &&
      !names.slice(0, -1).some((name) => LIMITS.test(name))
    )
      found.refuse(
        entry,
        `${last} is an input of the module ${name}: the limit is in ${textAt(module, 'source') ?? 'another file'}`,
      );
  }
}
