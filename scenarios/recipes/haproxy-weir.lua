-- Asks the gate of a node for every request; see haproxy.cfg.
local gate = 'http://127.0.0.1:7770/api/chain/edge/contracts/CONTRACT_ID/gate'
local key = 'WEIR_KEY'

core.register_action('weir', { 'http-req' }, function(txn)
  local answer = core.httpclient():get({
    url = gate,
    timeout = 1000,
    headers = {
      ['authorization'] = { 'Bearer ' .. key },
      ['x-forwarded-for'] = { txn.f:src() },
      ['x-original-uri'] = { txn.f:pathq() },
    },
  })
  if answer == nil or answer.status == nil then
    return
  end
  local function keep(name, header)
    local values = answer.headers and answer.headers[header]
    if values then
      txn:set_var('txn.' .. name, values[0])
    end
  end
  txn:set_var('txn.weir_status', answer.status)
  keep('weir_retry_after', 'retry-after')
  keep('weir_limit', 'ratelimit')
  keep('weir_policy', 'ratelimit-policy')
end, 0)
