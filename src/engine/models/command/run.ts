import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { closeSync } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { killAtExit } from '../../../lib/kill-at-exit.js'
import { type Confinement, ProgramStartError } from '../../../local/confinement/confinement.js'
import { FAMILY_MARK, openMarkerFile, ProcessFamily } from '../../../local/confinement/process-family.js'
import type { ProgramPaths } from '../../../local/confinement/visible-paths.js'
import { ProviderFailure } from '../../base/provider-failure.js'
import { getNetworkErrorCode } from '../egress/connect.js'

export interface ProgramRun extends ProgramPaths {
  /** the command line with filled placeholders */
  filled: string[]
  /** working directory and home, the only writable path */
  folder: string
  confinement: Confinement
  stdin?: Uint8Array | Readable | undefined
  /** limit of the output; more ends the program */
  maxBytes: number
  signal: AbortSignal
}

/** Environment variables that a program of the operator receives: none that could be a credential. */
const INHERITED_VARIABLES =
  /^(PATH|USER|LANG|LANGUAGE|LC_\w+|TZ|TEMP|TMP|SYSTEMROOT|LD_LIBRARY_PATH|CUDA_VISIBLE_DEVICES)$/i

/**
 * Runs a program to its end and returns its stdout. On abort, and when it writes too much, it is killed with all its
 * descendants.
 *
 * @throws ProviderFailure; the signal's reason when it aborted
 */
export async function runProgram({
  folder,
  confinement,
  stdin,
  maxBytes,
  signal,
  ...start
}: ProgramRun): Promise<Buffer> {
  signal.throwIfAborted()
  const { argv, by } = await confinement.prepare({ ...start, folder }).catch((error: unknown) => {
    throw error instanceof ProgramStartError ? new ProviderFailure('unexpected', `its program ${error.message}`) : error
  })
  signal.throwIfAborted()
  const [program = '', ...args] = argv
  const mark = randomUUID()
  const marker = by === 'nothing' ? { mark, folder } : undefined
  const markerFile = marker && openMarkerFile(marker)
  const inherited = Object.entries(process.env).filter(([name]) => INHERITED_VARIABLES.test(name))
  const env = { ...Object.fromEntries(inherited), HOME: folder, TMPDIR: folder, [FAMILY_MARK]: mark }
  // in a separate process group, so that its children end with it
  const child = spawn(program, args, {
    cwd: folder,
    env,
    stdio: ['pipe', 'pipe', 'ignore', markerFile ?? 'ignore'],
    detached: true,
    windowsHide: true,
  })
  if (markerFile !== undefined) closeSync(markerFile)
  const family = new ProcessFamily(child, marker)
  const chunks: Buffer[] = []
  let bytes = 0
  const stop = () => family.kill()
  killAtExit(child, stop)
  signal.addEventListener('abort', stop, { once: true })
  try {
    return await new Promise<Buffer>((resolve, reject) => {
      child.on('error', (error) => reject(toStartFailure(error)))
      const { stdin: input } = child
      input?.on('error', () => {}) // a program may exit without reading everything
      if (!(stdin instanceof Readable)) input?.end(stdin)
      else if (input !== null) pipeline(stdin, input).catch(() => {})
      child.stdout?.on('data', (chunk: Buffer) => {
        bytes += chunk.length
        if (bytes <= maxBytes) return void chunks.push(chunk)
        stop()
        reject(new ProviderFailure('malformed', `more than ${maxBytes} bytes`))
      })
      child.on('close', (code, name) => {
        if (signal.aborted) reject(signal.reason)
        else if (code === 0) resolve(Buffer.concat(chunks))
        else reject(new ProviderFailure('program', code === null ? `was killed by ${name}` : `ended with code ${code}`))
      })
    })
  } finally {
    signal.removeEventListener('abort', stop)
    await family.end()
  }
}

function toStartFailure(error: Error): ProviderFailure {
  const code = getNetworkErrorCode(error)
  if (code === 'ENOENT') return new ProviderFailure('unexpected', 'its program does not exist')
  return new ProviderFailure(
    'unexpected',
    code === 'EACCES' ? 'its program is not executable' : 'its program did not start',
  )
}
