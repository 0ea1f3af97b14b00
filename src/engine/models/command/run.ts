import { spawn } from 'node:child_process'
import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { killAtExit } from '../../../lib/kill-at-exit.js'
import { killGroup } from '../../../lib/kill-group.js'
import { ProviderFailure } from '../../base/provider-failure.js'
import { codeOf } from '../../egress/connect.js'

export interface Run {
  argv: string[]
  /** working directory */
  cwd: string
  /** bytes, or a file of them */
  stdin?: Uint8Array | { path: string }
  /** of the output; more ends the program */
  maxBytes: number
  signal: AbortSignal
}

/** What a program of the operator may know of the daemon's environment: nothing that could be a credential. */
const KEPT =
  /^(PATH|HOME|USER|LANG|LANGUAGE|LC_\w+|TZ|TMPDIR|TEMP|TMP|SYSTEMROOT|LD_LIBRARY_PATH|CUDA_VISIBLE_DEVICES)$/i

/**
 * Runs a program to its end and gives what it wrote on stdout. On abort, and when it writes too much, it is killed with
 * everything it started.
 *
 * @throws ProviderFailure; the signal's reason when it aborted
 */
export async function runProgram({ argv, cwd, stdin, maxBytes, signal }: Run): Promise<Buffer> {
  signal.throwIfAborted()
  const [program = '', ...args] = argv
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => KEPT.test(name)))
  // a group of its own, so that its children end with it
  const child = spawn(program, args, { cwd, env, stdio: ['pipe', 'pipe', 'ignore'], detached: true, windowsHide: true })
  const chunks: Buffer[] = []
  let bytes = 0
  const stop = () => killGroup(child)
  killAtExit(child, stop)
  signal.addEventListener('abort', stop, { once: true })
  try {
    return await new Promise<Buffer>((resolve, reject) => {
      child.on('error', (error) => reject(notStarted(error)))
      child.stdin.on('error', () => {}) // a program may end without reading everything
      if (stdin === undefined || stdin instanceof Uint8Array) child.stdin.end(stdin)
      // what cannot be read of it is what the program does not get
      else pipeline(createReadStream(stdin.path), child.stdin).catch(() => {})
      child.stdout.on('data', (chunk: Buffer) => {
        bytes += chunk.length
        if (bytes <= maxBytes) return void chunks.push(chunk)
        stop()
        reject(new ProviderFailure('malformed', `more than ${maxBytes} bytes`))
      })
      child.on('close', (code, name) => {
        if (signal.aborted) reject(signal.reason)
        else if (code === 0) resolve(Buffer.concat(chunks))
        else reject(new ProviderFailure('program', code === null ? `was ended by ${name}` : `ended with code ${code}`))
      })
    })
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

function notStarted(error: Error): ProviderFailure {
  const code = codeOf(error)
  if (code === 'ENOENT') return new ProviderFailure('unexpected', 'its program is not there')
  return new ProviderFailure(
    'unexpected',
    code === 'EACCES' ? 'its program may not be run' : 'its program did not start',
  )
}
