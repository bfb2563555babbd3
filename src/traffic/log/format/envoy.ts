// Envoy's default text, and that of Istio, which goes on with addresses.
//   [2016-04-15T20:17:00.310Z] "POST /api/v1/locations HTTP/2" 204 - 154 0 226 100 "10.0.35.28" "nsq2http" "cc21d9b0-cf5c" "locations" "tcp://10.0.2.1:80"
//   [2020-11-25T21:26:18.409Z] "GET /status/418 HTTP/1.1" 418 - via_upstream - "-" 0 135 3 1 "-" "curl/7.73.0" "84961386-6d84" "httpbin:8000" "127.0.0.1:80" inbound|8000|| 127.0.0.1:41854 10.44.1.27:80 10.44.1.23:37652 outbound_.8000 default
import { templateFormat } from './template.js';

export const envoy = templateFormat(
  'envoy',
  '[$time] "$request" $status $flags $received $sent $duration_ms $upstream_ms "$forwarded" "$user_agent" "$request_id" "$host" "$upstream"',
  { client: 'forwarded', clientFrom: 'the first forwarded address' },
);

export const istio = templateFormat(
  'istio',
  '[$time] "$request" $status $flags $details $termination "$failure" $received $sent $duration_ms $upstream_ms "$forwarded" "$user_agent" "$request_id" "$host" "$upstream" $cluster $upstream_local $local $client $server $route',
);
