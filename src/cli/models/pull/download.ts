import { type FileHandle, open, rm } from 'node:fs/promises'
import { EXIT } from '../../../contract/errors.js'
import { recordIn, textOf } from '../../../lib/json/values.js'
import { backoffMs } from '../../../lib/retry.js'
import { sizeOf, syncPath } from '../../../local/file-system.js'
import { readIfExists, writePrivateFile } from '../../../local/private-file.js'
import { CliError } from '../../cli-error.js'
import { bytes as sizeText } from '../../units.js'
import { ask, hostOf, NetworkFault, type WebAnswer } from './web.js'

/** Tries in a row that bring no byte. */
const MAX_IDLE_TRIES = 5
const BACKOFF = { baseMs: 1000, capMs: 15_000 }

/** What a server states of a file. */
export interface RemoteFile {
  bytes?: number
  sha256?: string
}

export interface DownloadOptions {
  url: string
  /** what the hub states of the file */
  expected: RemoteFile
  /** the part, which stays when the download fails and is continued by the next one */
  part: string
  onProgress: (bytes: number, total: number | undefined) => void
  wait: (ms: number) => Promise<unknown>
}

/**
 * What a server states of a file, without the file.
 *
 * @throws CliError exit 5 where there is none, exit 4 where it is not for everyone, exit 8 where no answer comes
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
 * Downloads a file into its part; what an earlier download left is continued where the file is still the same.
 *
 * @throws CliError exit 8 where the network or the disk does not take it; the part stays
 */
export async function download(options: DownloadOptions): Promise<void> {
  const { url, part, expected, wait } = options
  for (let idle = 1; ; ) {
    const before = sizeOf(part)
    try {
      if (expected.bytes !== undefined && before === expected.bytes && keptOf(options) !== undefined) break
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
  throw new CliError(`${hostOf(url)} sent ${size} bytes where ${expected.bytes} were stated`, { code: 'data-damaged' })
}

/** One request and its body. */
async function continuePart(options: DownloadOptions): Promise<void> {
  const { url, part } = options
  const validator = keptOf(options)
  const from = validator === undefined ? 0 : sizeOf(part)
  const range =
    from === 0 ? {} : { range: `bytes=${from}-`, ...(validator === '' ? {} : { 'if-range': validator ?? '' }) }
  const answer = await ask('GET', url, range)
  if (answer.status === 416) {
    answer.body.resume()
    await rm(part, { force: true })
    throw new NetworkFault(`${hostOf(url)} does not continue the download`)
  }
  if (answer.status !== 200 && answer.status !== 206) {
    answer.body.resume()
    if (answer.status === 429 || answer.status >= 500)
      throw new NetworkFault(`${hostOf(url)} answered ${answer.status}`)
    throw refusal(url, answer.status)
  }
  const start = answer.status === 206 ? rangeStart(answer) : 0
  if (start !== 0 && start !== from) throw new NetworkFault(`${hostOf(url)} sent another range than ${from}-`)
  keep(options, answer)
  const file = await open(part, start === 0 ? 'w' : 'a', 0o600)
  try {
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
  }
  if (total !== undefined && size < total) throw new NetworkFault(`the connection to ${hostOf(options.url)} broke`)
}

function rangeStart({ headers }: WebAnswer): number {
  return Number(/^bytes (\d+)-/.exec(headers['content-range'] ?? '')?.[1] ?? Number.NaN)
}

/** What the part is of: beside it, so that bytes of two files are never joined. */
function notePath(part: string): string {
  return `${part}.json`
}

function keep({ url, part, expected }: DownloadOptions, { headers }: WebAnswer): void {
  const etag = headers.etag
  const note = { url, sha256: expected.sha256, etag: etag?.startsWith('W/') === true ? undefined : etag }
  writePrivateFile(notePath(part), `${JSON.stringify(note)}\n`)
}

/**
 * The validator for the continuation of a part: '' where the hash, which is checked at the end, is one; undefined where
 * the part is of another file, or of one that may have changed.
 */
function keptOf({ url, part, expected }: DownloadOptions): string | undefined {
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
    ...(isClosed ? { hint: 'download the file where its licence is accepted, and pull it by its path' } : {}),
  })
}

function asCliError(error: unknown, kept = 0): unknown {
  if (!(error instanceof NetworkFault)) return error
  const hint = `the same command continues after ${sizeText(kept)}; a file of this machine is pulled by its path`
  return new CliError(error.message, { code: 'unavailable', exit: EXIT.unavailable, hint, cause: error })
}
