import { StdioServerTransport } from '@modelcontextprotocol/server/stdio'
import type { Host } from './host.js'
import { createServer } from './server.js'

/** Serves one session over standard input and output until the client closes them. */
export async function serveStdio(host: Host): Promise<void> {
  const server = createServer(host)
  const closing = server.onclose
  const closed = new Promise<void>((resolve) => {
    server.onclose = () => {
      closing?.()
      resolve()
    }
  })
  await server.connect(new StdioServerTransport())
  await closed
}
