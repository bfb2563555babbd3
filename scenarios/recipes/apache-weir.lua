-- Asks the gate of a node for every request; see apache.conf.
require 'apache2'
local http = require 'socket.http'
local gate = 'http://127.0.0.1:7770/api/chain/edge/contracts/CONTRACT_ID/gate'
local key = 'WEIR_KEY'
http.TIMEOUT = 1

-- The node is away: it says itself that it cannot decide.
local away = { [502] = true, [503] = true, [504] = true }

function ask(r)
  local uri, client = r.unparsed_uri, r.headers_in['X-Api-Key']
  -- What the gate gets as headers fits into the request to the node.
  if #uri > 4096 then
    return 414
  end
  if client and #client > 256 then
    return 403
  end
  local sent, status, headers = http.request({
    url = gate,
    redirect = false,
    headers = {
      ['authorization'] = 'Bearer ' .. key,
      ['x-forwarded-for'] = r.useragent_ip,
      ['x-original-uri'] = uri,
      ['x-api-key'] = client,
    },
  })
  -- No answer. To fail closed: return 503
  if not sent or away[status] then
    return apache2.DECLINED
  end
  if status == 200 or status == 429 then
    r.err_headers_out['RateLimit'] = headers['ratelimit']
    r.err_headers_out['RateLimit-Policy'] = headers['ratelimit-policy']
  end
  if status == 429 then
    r.err_headers_out['Retry-After'] = headers['retry-after']
    return 429
  end
  if status == 200 then
    return apache2.DECLINED
  end
  return status >= 400 and status < 500 and 403 or 500
end
