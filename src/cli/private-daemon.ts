import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { getDaemonProgram, reduceEnv } from '../client/start-daemon.js'
import { EXIT } from '../contract/errors.js'
import { isRecord, toNonEmptyString } from '../lib/json/values.js'
import { resolveDataLayout } from '../local/layout.js'
import { CliError } from './cli-error.js'

/** A daemon for the duration of one command: `ks daemon exec`. */
export interface PrivateDaemon {
  dataDir: string
  /** Variables that connect `ks` to it. */
  env: Record<string, string>
  stop: () => Promise<void>
}

const READY_TIMEOUT_MS = 30_000

/**
 * Starts a daemon and waits until it is ready.
 *
 * @param dataDir kept afterwards; if absent, a temporary directory that is removed with the daemon
 * @throws CliError exit 8 if it exits or prints nothing for 30 s
 */
export async function startPrivateDaemon(dataDir: string | undefined): Promise<PrivateDaemon> {
  const folder = dataDir ?? mkdtempSync(join(tmpdir(), 'ks-exec-'))
  // A helper process of a killed daemon may still create files until it ends.
  const cleanUp = async () => {
    if (dataDir === undefined) await rm(folder, { recursive: true, force: true, maxRetries: 10 })
  }
  const args = [getDaemonProgram(), '--data-dir', folder, '--listen', '127.0.0.1:0', '--ready-json']
  const child = spawn(process.execPath, args, {
    env: { ...reduceEnv(process.env), KS_DATA_DIR: folder },
    stdio: ['ignore', 'pipe', 'inherit'],
    // Ctrl-C is sent to the command; the daemon stops after it.
    detached: true,
  })
  try {
    const url = await waitForUrl(child)
    return {
      dataDir: folder,
      env: { KS_URL: url, KS_TOKEN_FILE: resolveDataLayout(folder).cliToken, KS_DATA_DIR: folder },
      stop: async () => {
        await stopChild(child)
        await cleanUp()
      },
    }
  } catch (error) {
    await stopChild(child)
    await cleanUp()
    throw error
  }
}

async function waitForUrl(child: ChildProcess): Promise<string> {
  const toError = (reason: string) =>
    new CliError(`the daemon exited before it was ready: ${reason}`, { code: 'unreachable', exit: EXIT.unavailable })
  if (child.stdout === null) throw toError('no output')
  const lines = createInterface({ input: child.stdout })
  const line = await new Promise<string>((resolve, reject) => {
    const timer = setTimeout(() => reject(toError(`no output for ${READY_TIMEOUT_MS / 1000} s`)), READY_TIMEOUT_MS)
    lines.once('line', (text) => {
      clearTimeout(timer)
      resolve(text)
    })
    child.once('exit', (code, signal) => {
      clearTimeout(timer)
      reject(toError(signal ?? `exit ${code}`))
    })
  })
  const ready: unknown = JSON.parse(line)
  const url = isRecord(ready) ? toNonEmptyString(ready.url) : undefined
  if (url === undefined) throw toError('invalid first line')
  return url
}

async function stopChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGTERM')
  await once(child, 'exit')
}

/** Runs a command on the terminal's streams with more variables. @returns its exit code; 128 + n after signal n */
export async function runCommand(command: string[], env: Record<string, string>): Promise<number> {
  const [program, ...args] = command
  if (program === undefined) return EXIT.usage
  const { constants } = await import('node:os')
  const commandEnv: NodeJS.ProcessEnv = { ...process.env, ...env }
  // These variables would send the command's requests elsewhere.
  delete commandEnv.KS_CONTEXT
  delete commandEnv.KS_TOKEN
  const { execa } = await import('execa')
  // Signals are forwarded unchanged and nothing else is sent: the command decides when it ends.
  const child = execa(program, args, {
    env: commandEnv,
    extendEnv: false,
    stdio: 'inherit',
    reject: false,
    cleanup: false,
    forceKillAfterDelay: false,
  })
  const forwardSignal = (signal: NodeJS.Signals) => child.kill(signal)
  // The terminal sends Ctrl-C to the command itself; this process must not exit before it.
  const ignoreSignal = () => undefined
  process.on('SIGTERM', forwardSignal)
  process.on('SIGINT', ignoreSignal)
  try {
    const { signal, exitCode, originalMessage, shortMessage, cause } = await child
    if (signal !== undefined) return 128 + constants.signals[signal]
    if (exitCode !== undefined) return exitCode
    const message = `${program} cannot be run: ${originalMessage ?? shortMessage}`
    throw new CliError(message, { code: 'usage', exit: EXIT.usage, cause })
  } finally {
    process.off('SIGTERM', forwardSignal)
    process.off('SIGINT', ignoreSignal)
  }
}
