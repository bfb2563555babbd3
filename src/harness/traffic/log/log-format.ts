// Converts the log format in the configuration of a server to a template.
//
//   nginx     $remote_addr - $remote_user [$time_local] "$request" $status
//   Apache    %h %l %u %t "%r" %>s %b "%{Referer}i"
//   template  $client - $remote_user [$time] "$request" $status          a field has one name in all formats
import { Failure } from '../../../core/schema/failure.js';
import type { KnownFields } from './layout.js';

/** Pairs of a server's name and ours; other fields keep their name. */
const names = (pairs: string): ReadonlyMap<string, string> =>
  new Map(pairs.split(' ').map((pair) => pair.split('=') as [string, string]));

const nginxNames = names(
  'remote_addr=client remote_user=user time_local=time time_iso8601=time msec=time body_bytes_sent=bytes bytes_sent=bytes http_referer=referer http_user_agent=user_agent http_x_forwarded_for=forwarded proxy_add_x_forwarded_for=forwarded request_method=method request_uri=path uri=path',
);

const apacheNames = names(
  'h=client a=client l=ident u=user r=request s=status b=bytes B=bytes O=bytes_out I=bytes_in m=method U=path q=query H=protocol v=host V=host p=port P=pid D=duration_us T=duration_s A=local_addr L=log_id X=connection k=keepalive f=file',
);

/** Directives with an argument: `%{User-Agent}i` is a header, `%{name}C` a cookie. */
const headerNames = names('referer=referer user-agent=user_agent x-forwarded-for=forwarded host=host');
const argumentNames = names('o=sent e=env n=note C=cookie T=duration a=peer x=x');

export function isLogFormat(text: string): boolean {
  return /[$%]/.test(text);
}

/** @throws Failure `wrong_usage` for a format without a time or with an unknown directive */
export function templateOf(text: string): { readonly template: string; readonly known: KnownFields } {
  const format = bare(text);
  const isApache = format.includes('%') && !/\$\w/.test(format);
  const template = unique(isApache ? fromApache(format) : fromNginx(format));
  const hasName = (name: string) => template.includes(named(name));
  if (!hasName('time')) {
    throw new Failure('wrong_usage', {
      what: 'The --log-format has no time.',
      why: `It reads ${format}.`,
      fix: 'It takes $time_local, $time_iso8601 or $msec of nginx, or %t of Apache.',
    });
  }
  return {
    template,
    known: {
      time: 'time',
      timeFrom: isApache ? 'the time (%t)' : 'the time',
      ...(!hasName('client') && hasName('forwarded') && { fields: { client: 'forwarded' } }),
    },
  };
}

function named(name: string): string {
  return `\${${name}}`;
}

function bare(text: string): string {
  const nginx = /^\s*log_format\s+\S+\s+(?:escape=\w+\s+)?(['"].*?)\s*;?\s*$/s.exec(text)?.[1];
  if (nginx !== undefined) {
    return [...nginx.matchAll(/'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"/gs)]
      .map(([, single, double]) => single ?? double ?? '')
      .join('')
      .replace(/\\(['"])/g, '$1')
      .replace(/\\t/g, '\t');
  }
  const apache = /^\s*(?:LogFormat|CustomLog\s+\S+)\s+"((?:[^"\\]|\\.)*)"/s.exec(text)?.[1];
  return (apache ?? text).replace(/\\"/g, '"').replace(/\\t/g, '\t').trim();
}

function fromNginx(format: string): string {
  // Of several times, the one with milliseconds.
  const isExact = /\$\{?msec\b/.test(format);
  return format.replace(/\$(?:\{(\w+)\}|(\w+))/g, (_, braced?: string, plain?: string) => {
    const name = braced ?? plain!;
    const isCoarse = isExact && name !== 'msec' && nginxNames.get(name) === 'time';
    return named((isCoarse ? undefined : nginxNames.get(name)) ?? name);
  });
}

/** `%t`, `%>s`, `%{Referer}i`, `%{%Y-%m-%d}t`, `%!200,304{User-agent}i`. */
const DIRECTIVE = /%(?:!?[\d,]+)?[<>]?(?:\{([^}]*)\})?(\^?[a-zA-Z%]{1,2}?)/g;

/** Parts of one time: `%{%d/%b/%Y %T}t.%{msec_frac}t %{%z}t`. */
const TIME_PARTS =
  /(%[<>]?\{(?:[^}]*%[^}]*|(?:begin:|end:)?sec)\}t)(?:[.,:T ]%[<>]?\{(?:[^}]*%[^}]*|(?:begin:|end:)?[mu]sec_frac)\}t)+/g;

function fromApache(format: string): string {
  return format.replace(TIME_PARTS, '$1').replace(DIRECTIVE, (whole, argument: string | undefined, letter: string) => {
    if (letter === '%') return '%';
    if (letter === 't') return argument === undefined ? `[${named('time')}]` : named('time');
    const plain = argument?.toLowerCase().replace(/\W/g, '_');
    const header = letter === 'i' && argument !== undefined ? headerNames.get(argument.toLowerCase()) : undefined;
    const kind = letter === 'i' ? 'http' : argumentNames.get(letter);
    if (plain !== undefined && kind !== undefined) return named(header ?? `${kind}_${plain}`);
    const name = apacheNames.get(letter);
    if (name !== undefined) return named(name);
    throw new Failure('wrong_usage', {
      what: `--log-format does not know ${whole}.`,
      why: "It takes the directives of Apache's mod_log_config.",
      fix: 'For example --log-format \'%h %l %u %t "%r" %>s %b\'.',
    });
  });
}

function unique(template: string): string {
  const seen = new Map<string, number>();
  return template.replace(/\$\{(\w+)\}/g, (whole, name: string) => {
    const times = (seen.get(name) ?? 0) + 1;
    seen.set(name, times);
    return times === 1 || name === '_' ? whole : named(`${name}_${times}`);
  });
}
