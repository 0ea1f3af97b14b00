import { readdirSync, readFileSync } from 'node:fs'
import { extname, join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { KsError } from '../../contract/errors.js'
import { quoteClipped } from '../../contract/issues.js'
import { acceptsGzip } from '../http/reply.js'

const gzipAsync = promisify(gzip)

export interface ConsoleFile {
  bytes: Uint8Array
  headers: Record<string, string>
}

/** Files of the console, read from the build at first use and cached. */
export interface ConsoleFiles {
  /**
   * @param path path below `/console/`; a path that is not a file of the build is a route within the page
   * @throws KsError `not-found`
   */
  get(path: string, acceptEncoding: string): Promise<ConsoleFile>
}

const PAGE_FILE = 'index.html'
/** Names of these files contain a hash of their bytes. */
const HASHED_PREFIX = 'assets/'

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.json': 'application/json',
}

/** Only files of this daemon, no text executed as code, no frame around the page. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' blob:",
  "connect-src 'self'",
  "worker-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const FIXED_HEADERS = {
  'content-security-policy': CONTENT_SECURITY_POLICY,
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
  vary: 'accept-encoding',
}

/** @param folder folder of the build */
export function createConsoleFiles(
  folder = fileURLToPath(new URL('../../../dist/console', import.meta.url)),
): ConsoleFiles {
  // Only listed names are served, so that no path leads out of the folder.
  const names = new Set(listFileNames(folder))
  const cache = new Map<string, { plain: Uint8Array; compressed: Uint8Array }>()

  const loadFile = async (name: string) => {
    const cached = cache.get(name)
    if (cached !== undefined) return cached
    const plain = readFileSync(join(folder, name))
    const file = { plain, compressed: await gzipAsync(plain) }
    cache.set(name, file)
    return file
  }

  return {
    get: async (path, acceptEncoding) => {
      if (!names.has(PAGE_FILE)) throw new KsError('not-found', 'the console is not built: run `npm run build`')
      const isFile = names.has(path)
      if (!isFile && path.startsWith(HASHED_PREFIX))
        throw new KsError('not-found', `no file ${quoteClipped(path)} of the console here`)
      const name = isFile ? path : PAGE_FILE
      const { plain, compressed } = await loadFile(name)
      const isCompressed = acceptsGzip(acceptEncoding)
      const bytes = isCompressed ? compressed : plain
      return {
        bytes,
        headers: {
          ...FIXED_HEADERS,
          'content-type': CONTENT_TYPES[extname(name)] ?? 'application/octet-stream',
          'content-length': String(bytes.byteLength),
          'cache-control': name.startsWith(HASHED_PREFIX) ? 'public, max-age=31536000, immutable' : 'no-store',
          ...(isCompressed ? { 'content-encoding': 'gzip' } : {}),
        },
      }
    },
  }
}

function listFileNames(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true, recursive: true })
      .filter((entry) => entry.isFile() && !entry.name.startsWith('.'))
      .map((entry) =>
        join(entry.parentPath, entry.name)
          .slice(folder.length + 1)
          .split(sep)
          .join('/'),
      )
  } catch {
    return [] // The console of this checkout was not built.
  }
}
