-- Asks the gate of a node for every request; see haproxy.cfg.
local gate = 'http://127.0.0.1:7770/api/chain/edge/contracts/CONTRACT_ID/gate'
local key = 'WEIR_KEY'

-- The node is away: no answer, or it says itself that it cannot decide.
local away = { [0] = true, [502] = true, [503] = true, [504] = true }

core.register_action('weir', { 'http-req' }, function(txn)
  -- Only the headers that count.
  local headers = {
    ['authorization'] = { 'Bearer ' .. key },
    ['x-forwarded-for'] = { txn.f:src() },
    ['x-original-uri'] = { txn.f:pathq() },
  }
  local keys = txn.http:req_get_headers()['x-api-key']
  if keys then
    -- Numbered from 0. The gate refuses several, and longer ones, which would not fit into the request to the node.
    headers['x-api-key'] = { keys[0]:sub(1, 257), keys[1] and keys[1]:sub(1, 257) }
  end
  local answer = core.httpclient():get({ url = gate, timeout = 1000, headers = headers })
  local status = answer and answer.status or 0
  if away[status] then
    return
  end
  local function keep(name, header)
    local values = answer.headers and answer.headers[header]
    if values then
      txn:set_var('txn.' .. name, values[0])
    end
  end
  txn:set_var('txn.weir_status', status)
  keep('weir_retry_after', 'retry-after')
  keep('weir_limit', 'ratelimit')
  keep('weir_policy', 'ratelimit-policy')
end, 0)
