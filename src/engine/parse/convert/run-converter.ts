import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { closeSync, constants, lstatSync, openSync, readdirSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { killAtExit } from '../../../lib/kill-at-exit.js'
import { type Confinement, ProgramStartError } from '../../../local/confinement/confinement.js'
import { FAMILY_MARK, openSign, ProcessFamily } from '../../../local/confinement/process-family.js'
import type { ProgramPaths } from '../../../local/confinement/visible-paths.js'
import { bytesInWords, ReadError } from '../limits.js'

/** What one conversion may take. */
export interface ConvertLimits {
  /** processor time of each of its processes, where `prlimit` is there */
  processorSeconds: number
  /** on the clock */
  wallMs: number
  /** resident memory of all its processes together, on Linux */
  memoryBytes: number
  /** all files that it makes, and what it says */
  outputBytes: number
  /** processes at once, on Linux */
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
/** Of what a converter says on its error output, the beginning is told. */
const TOLD = 300
/** Files of a folder that are looked at, and folders in each other. */
const MOST_ENTRIES = 10_000

/** A program that makes files of some types readable; see the setting `converters`. */
export interface Converter extends ProgramPaths {
  types: readonly string[]
}

export interface Conversion {
  /** the program's name, for sentences */
  name: string
  converter: Converter
  /** its command line with the input and the output filled in */
  filled: readonly string[]
  /** the only folder where it may write, and its home */
  folder: string
  /** the file in which its output is kept; absent where it writes files */
  saysTo: string | undefined
  confinement: Confinement
  limits: ConvertLimits
  signal: AbortSignal | undefined
}

/**
 * Runs a converter to its end: without a shell, with an empty environment, in a group of its own that ends with it.
 *
 * @throws ReadError what became of it; the signal's reason when it aborted
 */
export async function runConverter(run: Conversion): Promise<void> {
  const { signal, limits, folder, name } = run
  signal?.throwIfAborted()
  const mark = randomUUID()
  const { argv, by } = await prepare(run)
  signal?.throwIfAborted()
  const [program = '', ...args] = argv
  const signs = by === 'nothing' ? { mark, folder } : undefined
  const sign = signs && openSign(signs)
  const child = spawn(program, args, {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: folder, TMPDIR: folder, LANG: 'C.UTF-8', TZ: 'UTC', [FAMILY_MARK]: mark },
    stdio: ['ignore', run.saysTo === undefined ? 'ignore' : 'pipe', 'pipe', sign ?? 'ignore'],
    detached: true,
    windowsHide: true,
  })
  if (sign !== undefined) closeSync(sign)
  const family = new ProcessFamily(child, signs)
  const stop = (): void => family.kill()
  killAtExit(child, stop)
  let refused: ReadError | undefined
  const refuse = (error: ReadError): void => {
    refused ??= error
    stop()
  }
  const began = performance.now()
  const watch = setInterval(() => {
    const over = overLimit(limits, folder, family, performance.now() - began)
    if (over !== undefined) refuse(new ReadError('limit-exceeded', `${name} ${over}`))
  }, WATCH_MS)
  signal?.addEventListener('abort', stop, { once: true })
  const said = keep(child, run.saysTo, limits.outputBytes, () =>
    refuse(new ReadError('limit-exceeded', `${name} made more than ${bytesInWords(limits.outputBytes)}`)),
  )
  try {
    const ended = await endOf(child, name)
    signal?.throwIfAborted()
    if (refused !== undefined) throw refused
    // what it made in its last moments
    const over = overLimit(limits, folder, family, 0)
    if (over !== undefined) throw new ReadError('limit-exceeded', `${name} ${over}`)
    if (ended !== undefined) throw new ReadError('malformed', `${name} ${ended}${said.errors()}`)
  } finally {
    clearInterval(watch)
    signal?.removeEventListener('abort', stop)
    said.close()
    await family.end()
  }
}

/** How the converter is started. @throws ReadError where it must not be */
async function prepare({ confinement, converter, filled, folder, limits, name }: Conversion) {
  try {
    return await confinement.prepare({
      ...converter,
      filled,
      folder,
      limits: { processorSeconds: limits.processorSeconds, fileBytes: limits.outputBytes },
    })
  } catch (error) {
    if (error instanceof ProgramStartError) throw new ReadError('unsupported-type', `${name} ${error.message}`)
    throw error
  }
}

/** What is too much of a conversion, if something is. */
function overLimit(limits: ConvertLimits, folder: string, family: ProcessFamily, wallMs: number): string | undefined {
  if (wallMs > limits.wallMs) return `took longer than ${(limits.wallMs / 1000).toLocaleString('en-US')} s`
  const { processes, residentBytes } = family.use()
  if (processes > limits.processes) return `started more than ${limits.processes} processes`
  if (residentBytes > limits.memoryBytes) return `took more than ${bytesInWords(limits.memoryBytes)} of memory`
  return bytesBelow(folder, limits.outputBytes) > limits.outputBytes
    ? `made more than ${bytesInWords(limits.outputBytes)}`
    : undefined
}

/** How a program ended, where it did not end well. @throws ReadError when it does not start */
function endOf(child: ChildProcess, name: string): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    child.on('error', (error) => reject(new ReadError('malformed', `${name} could not be started: ${error.message}`)))
    // its children may hold its output open for longer than it lives
    child.on('exit', (code, signal) =>
      resolve(code === 0 ? undefined : code === null ? `was ended by ${signal}` : `ended with code ${code}`),
    )
  })
}

/** Keeps what a program says: its output in a file, the beginning of its errors for a sentence. */
function keep(child: ChildProcess, file: string | undefined, most: number, onTooMuch: () => void) {
  const fd =
    file === undefined ? undefined : openSync(file, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600)
  let size = 0
  let errors = ''
  child.stdout?.on('data', (chunk: Buffer) => {
    size += chunk.length
    if (size > most) onTooMuch()
    else if (fd !== undefined && !closed) writeSync(fd, chunk)
  })
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    errors = (errors + chunk).slice(0, TOLD)
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

/** Bytes of the files below a folder, as far as they are within what is allowed. No link is followed. */
function bytesBelow(folder: string, most: number): number {
  let bytes = 0
  let entries = 0
  const open = [folder]
  for (let at = open.pop(); at !== undefined && bytes <= most; at = open.pop()) {
    for (const entry of namesIn(at)) {
      const path = join(at, entry)
      const there = lstatSync(path, { throwIfNoEntry: false })
      if (++entries > MOST_ENTRIES) return Number.POSITIVE_INFINITY
      if (there?.isDirectory() === true) open.push(path)
      else bytes += Math.max(there?.size ?? 0, (there?.blocks ?? 0) * 512)
    }
  }
  return bytes
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return [] // it is gone, or its maker has closed it
  }
}
