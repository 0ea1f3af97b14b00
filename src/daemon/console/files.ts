import { readdirSync, readFileSync } from 'node:fs'
import { extname, join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { KsError } from '../../contract/errors.js'
import { quote } from '../../contract/issues.js'

const compressed = promisify(gzip)

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

const PAGE = 'index.html'
/** Names of these files contain a hash of their bytes. */
const HASHED = 'assets/'

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.json': 'application/json',
}

/** Only files of this daemon, no text executed as code, no frame around the page. */
const POLICY = [
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
  'content-security-policy': POLICY,
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
  const names = new Set(namesIn(folder))
  const kept = new Map<string, { plain: Uint8Array; gzip: Uint8Array }>()

  const bytesOf = async (name: string) => {
    const known = kept.get(name)
    if (known !== undefined) return known
    const plain = readFileSync(join(folder, name))
    const file = { plain, gzip: await compressed(plain) }
    kept.set(name, file)
    return file
  }

  return {
    get: async (path, acceptEncoding) => {
      if (!names.has(PAGE)) throw new KsError('not-found', 'the console is not built: run `npm run build`')
      const isFile = names.has(path)
      if (!isFile && path.startsWith(HASHED))
        throw new KsError('not-found', `no file ${quote(path)} of the console here`)
      const name = isFile ? path : PAGE
      const { plain, gzip: small } = await bytesOf(name)
      const takesGzip = /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?(?:,|$))/.test(acceptEncoding)
      const bytes = takesGzip ? small : plain
      return {
        bytes,
        headers: {
          ...FIXED_HEADERS,
          'content-type': TYPES[extname(name)] ?? 'application/octet-stream',
          'content-length': String(bytes.byteLength),
          'cache-control': name.startsWith(HASHED) ? 'public, max-age=31536000, immutable' : 'no-store',
          ...(takesGzip ? { 'content-encoding': 'gzip' } : {}),
        },
      }
    },
  }
}

function namesIn(folder: string): string[] {
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
    return [] // Incomplete build of a checkout.
  }
}
