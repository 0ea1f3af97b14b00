import { type FileHandle, open, rm } from 'node:fs/promises'
import { EXIT } from '../../../contract/errors.js'
import { recordIn, textOf } from '../../../lib/json/values.js'
import { backoffMs } from '../../../lib/retry.js'
import { sizeOf, syncPath } from '../../../local/file-system.js'
import { readIfExists, writePrivateFile } from '../../../local/private-file.js'
import { CliError } from '../../cli-error.js'
import { bytes as sizeText } from '../../units.js'
import { ask, hostOf, NetworkFault, type WebAnswer } from './web.js'

/** Maximum number of successive attempts that receive no byte. */
const MAX_IDLE_TRIES = 5
const BACKOFF = { baseMs: 1000, capMs: 15_000 }

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
  onProgress: (bytes: number, total: number | undefined) => void
  wait: (ms: number) => Promise<unknown>
}

/**
 * Requests size and hash of a file, without its content.
 *
 * @throws CliError exit 5 if it does not exist, exit 4 if it is not public, exit 8 without a response
 */
export async function lookAt(url: string): Promise<RemoteFile> {
  const answer = await ask('HEAD', url, {}, ({ sha256, bytes }) => sha256 !== undefined && bytes !== undefined).catch(
    (error: unknown) => {
      throw asCliError(error)
    },
  )
  answer.body.resume()
  if (answer.status >= 400 && answer.status !== 405 && answer.status !== 501) throw refusal(url, answer.status)
  const length = Number(answer.headers['content-length'])
  const bytes = answer.linked.bytes ?? (answer.status === 200 && length > 0 ? length : undefined)
  const { sha256 } = answer.linked
  return { ...(bytes === undefined ? {} : { bytes }), ...(sha256 === undefined ? {} : { sha256 }) }
}

/**
 * Downloads a file. Continues the part of an earlier download if the file is unchanged.
 *
 * @throws CliError exit 8 if the network fails, with the part kept; exit 1 for an unexpected size
 */
export async function download(options: DownloadOptions): Promise<void> {
  const { url, part, expected, wait } = options
  for (let idle = 1; ; ) {
    const before = sizeOf(part)
    try {
      if (expected.bytes !== undefined && before === expected.bytes && validatorOf(options) !== undefined) break
      await continuePart(options)
      break
    } catch (error) {
      if (!(error instanceof NetworkFault)) throw error
      idle = sizeOf(part) > before ? 1 : idle + 1
      if (idle > MAX_IDLE_TRIES) throw asCliError(error, sizeOf(part))
      await wait(backoffMs(idle, BACKOFF))
    }
  }
  await syncPath(part)
  const size = sizeOf(part)
  if (expected.bytes === undefined || size === expected.bytes) return
  await rm(part, { force: true })
  throw new CliError(`${hostOf(url)} sent ${size} bytes, expected ${expected.bytes}`, { code: 'data-damaged' })
}

/** Sends one request and appends its body to the part. */
async function continuePart(options: DownloadOptions): Promise<void> {
  const { url, part } = options
  const validator = validatorOf(options)
  const from = validator === undefined ? 0 : sizeOf(part)
  const range =
    from === 0 ? {} : { range: `bytes=${from}-`, ...(validator === '' ? {} : { 'if-range': validator ?? '' }) }
  const answer = await ask('GET', url, range)
  try {
    await saveBody(answer, from, options)
  } finally {
    // Closes the connection if the body was not read completely.
    answer.body.destroy()
  }
}

async function saveBody(answer: WebAnswer, from: number, options: DownloadOptions): Promise<void> {
  const { url, part } = options
  const { status } = answer
  if (status === 416) {
    await rm(part, { force: true })
    throw new NetworkFault(`${hostOf(url)} does not continue the download`)
  }
  if (status === 429 || status >= 500) throw new NetworkFault(`${hostOf(url)} answered ${status}`)
  if (status !== 200 && status !== 206) throw refusal(url, status)
  const start = status === 206 ? rangeStart(answer) : 0
  if (start !== 0 && start !== from) throw new NetworkFault(`${hostOf(url)} sent another range than ${from}-`)
  const file = await open(part, start === 0 ? 'w' : 'a', 0o600)
  try {
    // After the old bytes are removed: a note of the new file must never describe them.
    writeNote(options, answer)
    await receive(file, start, answer, options)
  } finally {
    await file.close()
  }
}

async function receive(file: FileHandle, start: number, answer: WebAnswer, options: DownloadOptions): Promise<void> {
  const length = Number(answer.headers['content-length'])
  const total = options.expected.bytes ?? (length > 0 ? start + length : undefined)
  let size = start
  options.onProgress(size, total)
  const chunks = answer.body[Symbol.asyncIterator]()
  for (;;) {
    const next = await chunks.next().catch((error: unknown) => {
      throw new NetworkFault(`the connection to ${hostOf(options.url)} broke`, { cause: error })
    })
    if (next.done === true) break
    await file.appendFile(next.value)
    size += next.value.length
    options.onProgress(size, total)
    // The caller rejects the size; a server must not fill the disk.
    if (options.expected.bytes !== undefined && size > options.expected.bytes) return
  }
  if (total !== undefined && size < total) throw new NetworkFault(`the connection to ${hostOf(options.url)} broke`)
}

function rangeStart({ headers }: WebAnswer): number {
  return Number(/^bytes (\d+)-/.exec(headers['content-range'] ?? '')?.[1] ?? Number.NaN)
}

/** Path of the note with the source of a part, so that parts of two files are never joined. */
export function notePath(part: string): string {
  return `${part}.json`
}

function writeNote({ url, part, expected }: DownloadOptions, { headers }: WebAnswer): void {
  const etag = headers.etag
  const note = { url, sha256: expected.sha256, etag: etag?.startsWith('W/') === true ? undefined : etag }
  writePrivateFile(notePath(part), `${JSON.stringify(note)}\n`)
}

/**
 * The `If-Range` validator to continue a part. '' if the hash, checked at the end, makes it unnecessary; undefined if
 * the part belongs to another file, or to one that may have changed.
 */
function validatorOf({ url, part, expected }: DownloadOptions): string | undefined {
  const text = readIfExists(notePath(part))
  const note = text === undefined ? undefined : recordIn(text)
  if (note === undefined || note.url !== url) return undefined
  if (expected.sha256 !== undefined) return note.sha256 === expected.sha256 ? '' : undefined
  return textOf(note.etag)
}

function refusal(url: string, status: number): CliError {
  const isClosed = status === 401 || status === 403
  return new CliError(`${hostOf(url)} answered ${status}`, {
    code: isClosed ? 'not-allowed' : status === 404 ? 'not-found' : 'unavailable',
    exit: isClosed ? EXIT.notAllowed : status === 404 ? EXIT.notFound : EXIT.unavailable,
    ...(isClosed ? { hint: 'accept its licence on the website, download the file and pull it by its path' } : {}),
  })
}

function asCliError(error: unknown, kept = 0): unknown {
  if (!(error instanceof NetworkFault)) return error
  const hint = `the same command continues after ${sizeText(kept)}; \`ks models pull PATH\` uses a local file`
  return new CliError(error.message, { code: 'unavailable', exit: EXIT.unavailable, hint, cause: error })
}
