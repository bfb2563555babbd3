-- Asks the gate of a node for every request; see apache.conf.
require 'apache2'
local http = require 'socket.http'
local gate = 'http://127.0.0.1:7770/api/chain/edge/contracts/CONTRACT_ID/gate'
local key = 'WEIR_KEY'
http.TIMEOUT = 1

function ask(r)
  local _, status, headers = http.request({
    url = gate,
    headers = {
      ['authorization'] = 'Bearer ' .. key,
      ['x-forwarded-for'] = r.useragent_ip,
      ['x-original-uri'] = r.unparsed_uri,
    },
  })
  if status == 200 or status == 429 then
    r.err_headers_out['RateLimit'] = headers['ratelimit']
    r.err_headers_out['RateLimit-Policy'] = headers['ratelimit-policy']
  end
  if status == 429 then
    r.err_headers_out['Retry-After'] = headers['retry-after']
    return 429
  end
  if status == 401 or status == 403 then
    return 403
  end
  -- The gate did not answer. To closed: return 503
  return apache2.DECLINED
end
