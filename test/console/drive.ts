import { createServer, type Server } from 'node:http'

export interface Drive {
  /** address of the folder for a source */
  uri: string
  /** paths of fetched files */
  fetched: string[]
  server: Server
}

/** Starts a drive with the part of WebDAV that a source needs: listing folders, reading files. */
export async function startDrive(files: Readonly<Record<string, string>>): Promise<Drive> {
  const fetched: string[] = []
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url ?? '/').replace(/^\/dav\//, '')
    if (request.method === 'PROPFIND') {
      const entries = listEntries(files, path).map(formatResponse).join('')
      response.writeHead(207, { 'content-type': 'application/xml' })
      return response.end(`<?xml version="1.0"?><multistatus xmlns="DAV:">${entries}</multistatus>`)
    }
    const text = files[path]
    if (text === undefined) return response.writeHead(404).end()
    fetched.push(path)
    response.writeHead(200, { 'content-type': 'text/markdown' }).end(text)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const bound = server.address()
  const port = typeof bound === 'object' && bound !== null ? bound.port : 0
  return { uri: `http://127.0.0.1:${port}/dav/`, fetched, server }
}

/** The folder itself and its direct entries; folders end in a slash. */
function listEntries(files: Readonly<Record<string, string>>, folder: string): [path: string, bytes: number][] {
  const sizes = new Map<string, number>([[folder, 0]])
  for (const [path, text] of Object.entries(files)) {
    if (!path.startsWith(folder)) continue
    const end = path.indexOf('/', folder.length)
    sizes.set(end === -1 ? path : path.slice(0, end + 1), end === -1 ? Buffer.byteLength(text) : 0)
  }
  return [...sizes]
}

function formatResponse([path, bytes]: [string, number]): string {
  const href = `/dav/${path.split('/').map(encodeURIComponent).join('/')}`
  const isFolder = path === '' || path.endsWith('/')
  const property = isFolder
    ? '<resourcetype><collection/></resourcetype>'
    : `<getcontentlength>${bytes}</getcontentlength>`
  return `<response><href>${href}</href><propstat><prop>${property}</prop></propstat></response>`
}
