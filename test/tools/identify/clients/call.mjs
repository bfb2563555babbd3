// One call by a client library, with its settings: node call.mjs LIBRARY URL SETTINGS
const [library, url, settings = '{}'] = process.argv.slice(2);
const options = JSON.parse(settings);
const calls = {
  async undici() {
    const { Agent, request, RetryAgent } = await import('undici');
    const { body } = await request(url, { dispatcher: new RetryAgent(new Agent(), options) });
    await body.text();
  },
  async got() {
    const { default: got } = await import('got');
    await got(url, { retry: options });
  },
  async ky() {
    const { default: ky } = await import('ky');
    await ky(url, { retry: options });
  },
  async 'axios-retry'() {
    const [{ default: axios }, { default: axiosRetry, exponentialDelay }] = await Promise.all([
      import('axios'),
      import('axios-retry'),
    ]);
    const retryCondition = ({ response }) =>
      response === undefined || response.status === 429 || response.status >= 500;
    axiosRetry(axios, { retryDelay: exponentialDelay, retryCondition, ...options });
    await axios.get(url);
  },
  async 'p-retry'() {
    const { default: pRetry } = await import('p-retry');
    const call = async () => {
      const response = await fetch(url);
      if (!response.ok) throw new Error(String(response.status));
      await response.text();
    };
    await pRetry(call, options);
  },
  async openai() {
    const { default: OpenAI } = await import('openai');
    await new OpenAI({ apiKey: 'none', baseURL: url, ...options }).models.list();
  },
  async dynamodb() {
    const { DynamoDBClient, ListTablesCommand } = await import('@aws-sdk/client-dynamodb');
    const credentials = { accessKeyId: 'none', secretAccessKey: 'none' };
    const client = new DynamoDBClient({ region: 'eu-west-1', endpoint: url, credentials, ...options });
    await client.send(new ListTablesCommand({}));
  },
  async superagent() {
    const { default: superagent } = await import('superagent');
    await superagent.get(url).retry(options.retries);
  },
};
await calls[library]().catch(() => {
  process.exitCode = 1;
});
