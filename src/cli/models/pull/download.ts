import { type FileHandle, open, rm } from 'node:fs/promises'
import { EXIT } from '../../../contract/errors.js'
import { parseRecord, toNonEmptyString } from '../../../lib/json/values.js'
import { omitUndefined } from '../../../lib/omit-undefined.js'
import { backoffMs } from '../../../lib/retry.js'
import { formatCount, pluralize } from '../../../lib/text/pluralize.js'
import { getFileSize, syncPath } from '../../../local/file-system.js'
import { readIfExists, writePrivateFile } from '../../../local/private-file.js'
import { CliError } from '../../cli-error.js'
import { formatBytes } from '../../units.js'
import { fetchWithRedirects, getHost, NetworkError, type WebResponse } from './web.js'

/** Maximum number of successive attempts that receive no byte. */
const MAX_IDLE_ATTEMPTS = 5
const RETRY_BACKOFF = { baseMs: 1000, capMs: 15_000 }

/** Size and hash of a file as a server reports them. */
export interface RemoteFile {
  bytes?: number
  sha256?: string
}

export interface DownloadOptions {
  url: string
  /** Size and hash reported by the hub. */
  expected: RemoteFile
  /** Path of the partial file; a failed download keeps it and the next one continues it. */
  part: string
  /** @param bytes received so far @param total size of the file, if known */
  onProgress: (bytes: number, total: number | undefined) => void
  wait: (ms: number) => Promise<unknown>
}

/**
 * Requests size and hash of a file, without its content.
 *
 * @throws CliError exit 5 if it does not exist, exit 4 if it is not public, exit 8 without a response
 */
export async function requestFileInfo(url: string): Promise<RemoteFile> {
  const isComplete = ({ sha256, bytes }: RemoteFile) => sha256 !== undefined && bytes !== undefined
  const response = await fetchWithRedirects('HEAD', url, {}, isComplete).catch((error: unknown) => {
    throw toCliError(error)
  })
  response.body.resume()
  if (response.status >= 400 && response.status !== 405 && response.status !== 501)
    throw toRefusalError(url, response.status)
  const length = Number(response.headers['content-length'])
  const bytes = response.linked.bytes ?? (response.status === 200 && length > 0 ? length : undefined)
  return omitUndefined({ bytes, sha256: response.linked.sha256 })
}

/**
 * Downloads a file. Continues the part of an earlier download if the file is unchanged.
 *
 * @throws CliError exit 8 if the network fails, with the part kept; exit 1 for an unexpected size
 */
export async function download(options: DownloadOptions): Promise<void> {
  const { url, part, expected, wait } = options
  for (let idleAttempts = 1; ; ) {
    const previousSize = getFileSize(part)
    try {
      if (expected.bytes !== undefined && previousSize === expected.bytes && getValidator(options) !== undefined) break
      await continuePart(options)
      break
    } catch (error) {
      if (!(error instanceof NetworkError)) throw error
      idleAttempts = getFileSize(part) > previousSize ? 1 : idleAttempts + 1
      if (idleAttempts > MAX_IDLE_ATTEMPTS) throw toCliError(error, getFileSize(part))
      await wait(backoffMs(idleAttempts, RETRY_BACKOFF))
    }
  }
  await syncPath(part)
  const size = getFileSize(part)
  if (expected.bytes === undefined || size === expected.bytes) return
  await rm(part, { force: true })
  throw new CliError(`${getHost(url)} sent ${pluralize(size, 'byte')}, expected ${formatCount(expected.bytes)}`, {
    code: 'data-damaged',
  })
}

/** Sends one request and appends its body to the part. */
async function continuePart(options: DownloadOptions): Promise<void> {
  const { url, part } = options
  const validator = getValidator(options)
  const offset = validator === undefined ? 0 : getFileSize(part)
  const range =
    offset === 0 ? {} : { range: `bytes=${offset}-`, ...(validator === '' ? {} : { 'if-range': validator ?? '' }) }
  const response = await fetchWithRedirects('GET', url, range)
  try {
    await appendBody(response, offset, options)
  } finally {
    // Closes the connection if the body was not read completely.
    response.body.destroy()
  }
}

async function appendBody(response: WebResponse, offset: number, options: DownloadOptions): Promise<void> {
  const { url, part } = options
  const { status } = response
  if (status === 416) {
    await rm(part, { force: true })
    throw new NetworkError(`${getHost(url)} does not continue the download`)
  }
  if (status === 429 || status >= 500) throw new NetworkError(`${getHost(url)} answered ${status}`)
  if (status !== 200 && status !== 206) throw toRefusalError(url, status)
  const start = status === 206 ? parseRangeStart(response) : 0
  if (start !== 0 && start !== offset) throw new NetworkError(`${getHost(url)} sent another range than ${offset}-`)
  const file = await open(part, start === 0 ? 'w' : 'a', 0o600)
  try {
    // After the old bytes are removed: a note of the new file must never describe them.
    writeNote(options, response)
    await receiveBody(file, start, response, options)
  } finally {
    await file.close()
  }
}

async function receiveBody(
  file: FileHandle,
  start: number,
  response: WebResponse,
  options: DownloadOptions,
): Promise<void> {
  const length = Number(response.headers['content-length'])
  const total = options.expected.bytes ?? (length > 0 ? start + length : undefined)
  let size = start
  options.onProgress(size, total)
  const chunks = response.body[Symbol.asyncIterator]()
  for (;;) {
    const next = await chunks.next().catch((error: unknown) => {
      throw new NetworkError(`the connection to ${getHost(options.url)} broke`, { cause: error })
    })
    if (next.done === true) break
    await file.appendFile(next.value)
    size += next.value.length
    options.onProgress(size, total)
    // The caller rejects the size; a server must not fill the disk.
    if (options.expected.bytes !== undefined && size > options.expected.bytes) return
  }
  if (total !== undefined && size < total) throw new NetworkError(`the connection to ${getHost(options.url)} broke`)
}

function parseRangeStart({ headers }: WebResponse): number {
  return Number(/^bytes (\d+)-/.exec(headers['content-range'] ?? '')?.[1] ?? Number.NaN)
}

/** Path of the note with the source of a part, so that parts of two files are never joined. */
export function getNotePath(part: string): string {
  return `${part}.json`
}

function writeNote({ url, part, expected }: DownloadOptions, { headers }: WebResponse): void {
  const etag = headers.etag
  const note = { url, sha256: expected.sha256, etag: etag?.startsWith('W/') === true ? undefined : etag }
  writePrivateFile(getNotePath(part), `${JSON.stringify(note)}\n`)
}

/**
 * The `If-Range` validator to continue a part. '' if the hash, checked at the end, makes it unnecessary; undefined if
 * the part belongs to another file, or to one that may have changed.
 */
function getValidator({ url, part, expected }: DownloadOptions): string | undefined {
  const text = readIfExists(getNotePath(part))
  const note = text === undefined ? undefined : parseRecord(text)
  if (note === undefined || note.url !== url) return undefined
  if (expected.sha256 !== undefined) return note.sha256 === expected.sha256 ? '' : undefined
  return toNonEmptyString(note.etag)
}

function toRefusalError(url: string, status: number): CliError {
  const isClosed = status === 401 || status === 403
  return new CliError(`${getHost(url)} answered ${status}`, {
    code: isClosed ? 'not-allowed' : status === 404 ? 'not-found' : 'unavailable',
    exit: isClosed ? EXIT.notAllowed : status === 404 ? EXIT.notFound : EXIT.unavailable,
    ...(isClosed ? { hint: 'accept its licence on the website, download the file and pull it by its path' } : {}),
  })
}

function toCliError(error: unknown, keptBytes = 0): unknown {
  if (!(error instanceof NetworkError)) return error
  const hint = `the same command continues after ${formatBytes(keptBytes)}; \`ks models pull PATH\` uses a local file`
  return new CliError(error.message, { code: 'unavailable', exit: EXIT.unavailable, hint, cause: error })
}
