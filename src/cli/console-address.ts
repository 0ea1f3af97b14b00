import { spawn } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Client } from '../client/client.js'
import { toApiError } from '../client/client.js'
import { readText } from '../client/http.js'
import { parseRecord, toNonEmptyString } from '../lib/json/values.js'
import { omitUndefined } from '../lib/omit-undefined.js'
import { writePrivateFile } from '../local/private-file.js'

export interface ConsoleAddress {
  url: string
  /** Validity of the sign-in code in seconds; `undefined` if the page asks for a token. */
  expiresInSeconds: number | undefined
  /** Id of the session that the address begins; revoking it ends the session. */
  sessionId?: string
}

const LAUNCH_TIMEOUT_MS = 3_000

/** The caller is not the operator of the daemon, or the service has no such codes: the page asks for a token. */
const NO_CODE_STATUSES = new Set([403, 404])

/** The address of the console, with a code that signs in one tab. @throws ApiError, ConnectionError */
export async function requestConsoleAddress(client: Client): Promise<ConsoleAddress> {
  const page = `${client.transport.target.url.replace(/\/$/, '')}/console/`
  const { status, body } = await client.sendRaw({ method: 'POST', path: '/daemon/console/codes' })
  if (NO_CODE_STATUSES.has(status)) {
    body.resume()
    return { url: page, expiresInSeconds: undefined }
  }
  if (status >= 400) throw await toApiError(body)
  const reply = parseRecord(await readText(body))
  const { code, sessionId, expiresInSeconds } = reply ?? {}
  if (typeof code !== 'string' || typeof expiresInSeconds !== 'number')
    return { url: page, expiresInSeconds: undefined }
  // A fragment is not sent to servers and does not appear in logs.
  return { url: `${page}#code=${code}`, expiresInSeconds, ...omitUndefined({ sessionId: toNonEmptyString(sessionId) }) }
}

/**
 * Opens a page in the desktop's browser. The address is passed in a file that only this user can read: other users can
 * see program arguments.
 *
 * @returns whether the opening program accepted it
 */
export async function openInBrowser(url: string, folder: string): Promise<boolean> {
  if (!hasDesktop()) return false
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const file = join(folder, 'console.html')
  writePrivateFile(file, renderRedirect(url))
  const [program, ...args] = getOpener(process.platform)
  return await new Promise((resolve) => {
    const child = spawn(program, [...args, pathToFileURL(file).href], { stdio: 'ignore', detached: true })
    // Some openers become the browser and keep running.
    setTimeout(() => resolve(true), LAUNCH_TIMEOUT_MS).unref()
    child.once('error', () => resolve(false))
    child.once('exit', (code) => resolve(code === 0))
    child.unref()
  })
}

/** Without a desktop, a text browser would take over the terminal. */
function hasDesktop(): boolean {
  if (process.platform === 'darwin' || process.platform === 'win32') return true
  return (process.env.DISPLAY ?? process.env.WAYLAND_DISPLAY ?? '') !== ''
}

function getOpener(platform: NodeJS.Platform): [string, ...string[]] {
  if (platform === 'darwin') return ['open']
  return platform === 'win32' ? ['explorer.exe'] : ['xdg-open']
}

function renderRedirect(url: string): string {
  const address = JSON.stringify(url).replaceAll('<', '\\u003c')
  return `<!doctype html>\n<meta charset="utf-8">\n<title>Knowledge Spaces</title>\n<script>location.replace(${address})</script>\n`
}
