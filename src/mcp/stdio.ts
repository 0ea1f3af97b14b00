import { StdioServerTransport } from '@modelcontextprotocol/server/stdio'
import type { McpHost } from './host.js'
import { createMcpServer } from './server.js'

/** Serves one session over standard input and output until the client closes them. */
export async function serveStdio(host: McpHost): Promise<void> {
  const server = createMcpServer(host)
  const onClose = server.onclose
  const closed = new Promise<void>((resolve) => {
    server.onclose = () => {
      onClose?.()
      resolve()
    }
  })
  await server.connect(new StdioServerTransport())
  await closed
}
