import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { closeSync, constants, lstatSync, openSync, readdirSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { killAtExit } from '../../../lib/kill-at-exit.js'
import { type Confinement, ProgramStartError } from '../../../local/confinement/confinement.js'
import { FAMILY_MARK, openMarkerFile, ProcessFamily } from '../../../local/confinement/process-family.js'
import type { ProgramPaths } from '../../../local/confinement/visible-paths.js'
import { formatByteCount, ReadError } from '../limits.js'

/** Limits of one conversion. */
export interface ConvertLimits {
  /** processor time of each of its processes, where `prlimit` exists */
  processorSeconds: number
  /** wall time */
  wallMs: number
  /** resident memory of all its processes together, on Linux */
  memoryBytes: number
  /** all files that it makes, and its output */
  outputBytes: number
  /** concurrent processes, on Linux */
  processes: number
}

const MIB = 1024 * 1024

export const CONVERT_LIMITS: ConvertLimits = {
  processorSeconds: 120,
  wallMs: 10 * 60_000,
  memoryBytes: 2048 * MIB,
  outputBytes: 256 * MIB,
  processes: 64,
}

const WATCH_MS = 200
/** Characters of a converter's error output that are reported, from its start. */
const MAX_ERROR_LENGTH = 300
/** Entries of a folder that are measured; more count as too large. */
const MAX_ENTRIES = 10_000

/** A program that makes files of some types readable; see the setting `converters`. */
export interface Converter extends ProgramPaths {
  types: readonly string[]
}

export interface ConversionRun {
  /** name of the program, for messages */
  name: string
  converter: Converter
  /** command line with input and output filled in */
  commandLine: readonly string[]
  /** its home, and the only folder where it may write */
  folder: string
  /** file that receives its standard output; absent where it writes files */
  stdoutFile: string | undefined
  confinement: Confinement
  limits: ConvertLimits
  signal: AbortSignal | undefined
}

/**
 * Runs a converter to its end: without a shell, with a minimal environment, in a separate process group that ends with
 * it.
 *
 * @throws ReadError the reason of a failure; the signal's reason on abort
 */
export async function runConverter(run: ConversionRun): Promise<void> {
  const { signal, limits, folder, name } = run
  signal?.throwIfAborted()
  const mark = randomUUID()
  const { argv, by } = await prepareCommand(run)
  signal?.throwIfAborted()
  const [program = '', ...args] = argv
  const identity = by === 'nothing' ? { mark, folder } : undefined
  const markerFile = identity && openMarkerFile(identity)
  const child = spawn(program, args, {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: folder, TMPDIR: folder, LANG: 'C.UTF-8', TZ: 'UTC', [FAMILY_MARK]: mark },
    stdio: ['ignore', run.stdoutFile === undefined ? 'ignore' : 'pipe', 'pipe', markerFile ?? 'ignore'],
    detached: true,
    windowsHide: true,
  })
  if (markerFile !== undefined) closeSync(markerFile)
  const family = new ProcessFamily(child, identity)
  const stop = (): void => family.kill()
  killAtExit(child, stop)
  let refusal: ReadError | undefined
  const stopWith = (error: ReadError): void => {
    refusal ??= error
    stop()
  }
  const startMs = performance.now()
  const watch = setInterval(() => {
    const exceeded = findExceededLimit(limits, folder, family, performance.now() - startMs)
    if (exceeded !== undefined) stopWith(new ReadError('limit-exceeded', `${name} ${exceeded}`))
  }, WATCH_MS)
  signal?.addEventListener('abort', stop, { once: true })
  const output = captureOutput(child, run.stdoutFile, limits.outputBytes, () =>
    stopWith(new ReadError('limit-exceeded', `${name} made more than ${formatByteCount(limits.outputBytes)}`)),
  )
  try {
    const failureText = await waitForEnd(child, name)
    signal?.throwIfAborted()
    if (refusal !== undefined) throw refusal
    // The output of its last moments counts, too.
    const exceeded = findExceededLimit(limits, folder, family, 0)
    if (exceeded !== undefined) throw new ReadError('limit-exceeded', `${name} ${exceeded}`)
    if (failureText !== undefined) throw new ReadError('malformed', `${name} ${failureText}${output.errors()}`)
  } finally {
    clearInterval(watch)
    signal?.removeEventListener('abort', stop)
    output.close()
    await family.end()
  }
}

/** Prepares the command of the converter. @throws ReadError where it must not be started */
async function prepareCommand({ confinement, converter, commandLine, folder, limits, name }: ConversionRun) {
  try {
    return await confinement.prepare({
      ...converter,
      filled: commandLine,
      folder,
      limits: { processorSeconds: limits.processorSeconds, fileBytes: limits.outputBytes },
    })
  } catch (error) {
    if (error instanceof ProgramStartError) throw new ReadError('unsupported-type', `${name} ${error.message}`)
    throw error
  }
}

/** The limit that a conversion exceeds, if any. */
function findExceededLimit(
  limits: ConvertLimits,
  folder: string,
  family: ProcessFamily,
  wallMs: number,
): string | undefined {
  if (wallMs > limits.wallMs) return `took longer than ${(limits.wallMs / 1000).toLocaleString('en-US')} s`
  const { processes, residentBytes } = family.measure()
  if (processes > limits.processes) return `started more than ${limits.processes} processes`
  if (residentBytes > limits.memoryBytes) return `took more than ${formatByteCount(limits.memoryBytes)} of memory`
  return measureFolder(folder, limits.outputBytes) > limits.outputBytes
    ? `made more than ${formatByteCount(limits.outputBytes)}`
    : undefined
}

/** How a program failed, or `undefined` for success. @throws ReadError when it does not start */
function waitForEnd(child: ChildProcess, name: string): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    child.on('error', (error) => reject(new ReadError('malformed', `${name} could not be started: ${error.message}`)))
    // Children of the program may keep its output open after its end.
    child.on('exit', (code, signal) =>
      resolve(code === 0 ? undefined : code === null ? `was ended by ${signal}` : `ended with code ${code}`),
    )
  })
}

/** Captures the output of a program: standard output in a file, the start of its errors for a message. */
function captureOutput(child: ChildProcess, file: string | undefined, maxBytes: number, onLimitExceeded: () => void) {
  const fd =
    file === undefined ? undefined : openSync(file, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600)
  let size = 0
  let errors = ''
  child.stdout?.on('data', (chunk: Buffer) => {
    size += chunk.length
    if (size > maxBytes) onLimitExceeded()
    else if (fd !== undefined && !closed) writeSync(fd, chunk)
  })
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    errors = (errors + chunk).slice(0, MAX_ERROR_LENGTH)
  })
  let closed = false
  return {
    errors: () => (errors.trim() === '' ? '' : `: ${errors.trim().replace(/\s+/g, ' ')}`),
    close() {
      closed = true
      child.stdout?.destroy()
      child.stderr?.destroy()
      if (fd !== undefined) closeSync(fd)
    },
  }
}

/** Size of the files below a folder, measured until it exceeds `maxBytes`. Follows no links. */
function measureFolder(folder: string, maxBytes: number): number {
  let bytes = 0
  let entries = 0
  const pendingFolders = [folder]
  for (let current = pendingFolders.pop(); current !== undefined && bytes <= maxBytes; current = pendingFolders.pop()) {
    for (const entry of listNames(current)) {
      const path = join(current, entry)
      const stats = lstatSync(path, { throwIfNoEntry: false })
      if (++entries > MAX_ENTRIES) return Number.POSITIVE_INFINITY
      if (stats?.isDirectory() === true) pendingFolders.push(path)
      else bytes += Math.max(stats?.size ?? 0, (stats?.blocks ?? 0) * 512)
    }
  }
  return bytes
}

function listNames(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return [] // it is gone, or its maker has closed it
  }
}
