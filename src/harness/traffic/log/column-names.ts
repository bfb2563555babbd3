// Usual field names for the time, the count, the client and other roles, and how names are compared.
import type { Role } from './layout.js';

const words = (...lines: string[]): string[] => lines.flatMap((line) => line.split(' '));

/** Most reliable name first: a beginning before an end, the finer of nginx's two before the other. */
export const timeNames = words(
  'edge_start_timestamp start_utc start_local msec timestamp_ms timestamp startedDateTime datetime date_time time ts t time_iso8601 time_local',
  'event_time start_time started_at created_at logged_at request_timestamp epoch unix unix_time period bucket starttime timestamp_start when',
  'req_time_sec start begin asctime log_time request_received_timestamp',
);
/** Parts of a time. They are the time if their values have a date and a clock time. */
export const partNames = words('second minute hour day date');

/** Always a number of requests. */
export const requestNames = words(
  'requests request_count requestcount num_requests n_requests total_requests requests_total number_of_requests',
  'http_requests http_reqs reqs req_count num_reqs',
);
/** Possibly a number of something else. */
export const countNames = words(
  'count n hits cnt calls num_calls invocations events event_count freq frequency qty volume',
);
/** Fields of a single request: a table with one of them has a row per request. */
export const singleNames = words(
  'request_id req_id trace_id span_id correlation_id session session_id user_agent http_user_agent useragent referer referrer http_referer',
);

const forwardedNames = words(
  'forwarded x_forwarded_for http_x_forwarded_for xff forwarded_for fwd request_x_forwarded_for',
);

/** For formats without known fields, most reliable name first. Next to an address, `host` is the server. */
export const roleNames: Readonly<Record<Role, readonly string[]>> = {
  client: [
    ...words(
      'client client_ip client_addr client_address client_host cli_ip remote_addr remote_address remote_ip remote_host',
      'source_ip src_ip c_ip caller_ip client_ip_address source_ip_address ip ip_address addr address user_ip id_orig_h peer',
    ),
    ...forwardedNames,
    'downstream_remote_address',
    'host',
  ],
  forwarded: forwardedNames,
  host: words(
    'http_host server_name vhost virtual_host authority request_host req_host cs_host domain_name url_domain host host_name',
  ),
  method: words(
    'method request_method http_method verb cs_method http_request_method req_method request_verb client_request_method',
  ),
  path: words(
    'path uri_path url_path request_path req_path cs_uri_stem uri request_uri req_uri url',
    'url_original original_url requested_uri request_url http_path x_envoy_origin_path http_target client_request_path client_request_uri',
  ),
  query: words('query query_string uri_query cs_uri_query args url_query'),
  agent: words(
    'user_agent http_user_agent useragent ua agent user_agent_original cs_user_agent request_user_agent client_request_user_agent',
  ),
  referer: words('referer referrer http_referer http_referrer cs_referer request_referer client_request_referer'),
  user: words('user remote_user username user_name user_id userid cs_username uid account tenant'),
  status: words(
    'status status_code response_code http_status sc_status code response_status edge_response_status elb_status_code origin_status',
  ),
  duration: words('duration request_time elapsed response_time reqtime'),
};
/** Less sure to be paths than a request line is to have one. */
export const routeNames = words('endpoint route name');
export const requestLineNames = words('request request_line http_request req');

/** Ignores letter case, a unit or zone (`t_ms`, `time_utc`), separators (`@timestamp`, `startTime`), outer objects (`request.ip`). */
export function sameWord(names: readonly string[], word: string): string | undefined {
  const plain = plainWord(word);
  return (
    names.find((name) => name.toLowerCase() === word.toLowerCase()) ??
    names.find((name) => plainWord(name) === plain) ??
    names.find((name) => plainWord(name.replace(/[ _(.-]+(s|ms|us|ns|utc|gmt)\)?$/i, '')) === plain) ??
    names.find((name) => name.includes('.') && plainWord(name.slice(name.lastIndexOf('.') + 1)) === plain) ??
    names.find((name) => plainWord(name.split('.').slice(-2).join('.')) === plain)
  );
}

export function plainWord(name: string): string {
  return name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');
}

export function usualIn(names: readonly string[], usual: readonly string[]): string | undefined {
  return usual.map((word) => sameWord(names, word)).find((name) => name !== undefined);
}
