import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export type PageHandler = (request: IncomingMessage, response: ServerResponse) => void

export interface Site {
  url: string
  /** requested paths */
  hits: string[]
  /** pages by path: HTML text, or a handler */
  pages: Map<string, string | PageHandler>
  end(): Promise<void>
}

/** Starts a web site on a separate loopback address: 127.0.0.2 can be allowed while 127.0.0.1 is not. */
export async function startSite(pages: Record<string, string | PageHandler> = {}, host = '127.0.0.2'): Promise<Site> {
  const pagesByPath = new Map(Object.entries(pages))
  const hits: string[] = []
  const server = createServer((request, response) => {
    const path = request.url ?? '/'
    hits.push(path)
    const page = pagesByPath.get(path)
    if (typeof page === 'function') return page(request, response)
    response.statusCode = page === undefined ? 404 : 200
    const type = path.endsWith('.txt')
      ? 'text/plain'
      : path.endsWith('.xml')
        ? 'application/xml'
        : 'text/html; charset=utf-8'
    response.setHeader('content-type', type)
    response.end(page ?? 'not here')
  })
  await new Promise<void>((resolve) => server.listen(0, host, resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}`,
    hits,
    pages: pagesByPath,
    end: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}

export const redirect =
  (location: string, status = 302): PageHandler =>
  (_request, response) => {
    response.writeHead(status, { location }).end()
  }

export function page(title: string, text: string, links: string[] = [], head = ''): string {
  const list = links.map((link) => `<li><a href="${link}">${link}</a></li>`).join('')
  return `<!doctype html><html><head><title>${title}</title>${head}</head><body><main><h1>${title}</h1><p>${text}</p><ul>${list}</ul></main></body></html>`
}
