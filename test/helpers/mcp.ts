import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { TestEdge } from './daemon.js'

export interface HttpSession {
  client: Client
  transport: StreamableHTTPClientTransport
  /** joined texts of a result */
  text(name: string, args?: object): Promise<string>
}

/** The official client, connected to the application inside the test's process. */
export async function connectClient(
  { app }: { app: Pick<TestEdge['app'], 'request'> },
  token: string,
  { query = '', capabilities = {} }: { query?: string; capabilities?: object } = {},
): Promise<HttpSession> {
  const transport = new StreamableHTTPClientTransport(new URL(`http://127.0.0.1/mcp${query}`), {
    requestInit: { headers: { authorization: `Bearer ${token}` } },
    fetch: async (url, init) => app.request(url, init),
  })
  const client = new Client({ name: 'test', version: '1' }, { capabilities })
  await client.connect(transport)
  return { client, transport, text: (name, args) => callForText(client, name, args) }
}

/** Calls a tool with a client that validates the structured result against the schema of the tool. */
export async function callForText(client: Client, name: string, args: object = {}): Promise<string> {
  const { content } = await client.callTool({ name, arguments: { ...args } })
  return content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n')
}
