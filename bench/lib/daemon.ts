import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from '../../src/client/client.js'
import { findDaemon } from '../../src/client/local-daemon.js'
import { NODE_FLAGS, RUNTIME_SETTINGS } from '../../src/client/start-daemon.js'
import { removeFolder } from './removed-folder.js'

/** A daemon of a private data directory, for benches and for tests that kill it. */
export interface BenchDaemon {
  pid: number
  url: string
  dataDir: string
  client: Client
  /** ends it as a power cut would, as far as a process can tell; resolves when it is gone */
  kill(): Promise<void>
  /** asks it to stop and waits */
  stop(): Promise<void>
}

const START_MS = 60_000
const STOP_MS = 30_000
const POLL_MS = 20

/** The checkout, wherever this file was compiled to. */
export const ROOT = findRoot(import.meta.dirname)

function findRoot(folder: string): string {
  if (existsSync(join(folder, 'package-lock.json')) && existsSync(join(folder, 'bin', 'ksd.js'))) return folder
  const parent = dirname(folder)
  if (parent === folder) throw new Error(`no checkout around ${import.meta.dirname}`)
  return findRoot(parent)
}

export const KS = join(ROOT, 'bin', 'ks.js')
export const KCHAT = join(ROOT, 'bin', 'kchat.js')
export const KSD = join(ROOT, 'bin', 'ksd.js')

/** Folders beside a data directory, of the programs that work on it. */
const BESIDE = ['.home', '.config', '.state', '.cache']

/**
 * A new folder below the system's temporary one; `remove` deletes it, with what stands beside it when it is a data
 * directory.
 */
export function temporaryFolder(name: string): { path: string; remove: () => void } {
  const path = mkdtempSync(join(tmpdir(), `ks-${name}-`))
  return {
    path,
    remove() {
      for (const folder of ['', ...BESIDE]) removeFolder(`${path}${folder}`)
    },
  }
}

/**
 * What a program finds its helpers and its scratch space by; anything else of the caller's would change the figures.
 */
const INHERITED = ['PATH', 'TMPDIR']

/**
 * Environment of every program that is measured, ours and what it is measured against: nothing of the person who runs
 * this. `NODE_EXTRA_CA_CERTS` alone makes a bare node several times slower, and ours look quick beside it.
 */
export function cleanEnv(home: string): NodeJS.ProcessEnv {
  const inherited = INHERITED.flatMap((name) => {
    const value = process.env[name]
    return value === undefined ? [] : [[name, value]]
  })
  return { ...Object.fromEntries(inherited), HOME: home, LANG: 'C.UTF-8', NO_COLOR: '1' }
}

/** Environment of a program that works on one data directory. */
export function privateEnv(dataDir: string, extra: Record<string, string> = {}): NodeJS.ProcessEnv {
  const home = `${dataDir}.home`
  mkdirSync(home, { recursive: true })
  return {
    ...cleanEnv(home),
    KS_DATA_DIR: dataDir,
    KS_CONFIG_DIR: `${dataDir}.config`,
    KS_STATE_DIR: `${dataDir}.state`,
    KS_CACHE_DIR: `${dataDir}.cache`,
    ...extra,
  }
}

/** Units of processor time in /proc (USER_HZ, fixed by the kernel's interface). */
const TICKS_PER_SECOND = 100

/**
 * Processor time, user and system, of all children of this process that have ended, in milliseconds; node's own
 * `resourceUsage` leaves children out. It counts in steps of 10 ms: worth something only as a mean of many runs.
 */
export function endedChildrenCpuMs(): number {
  // after the name, which may hold spaces: state is field 3, cutime and cstime are fields 16 and 17
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ').at(-1)?.split(' ') ?? []
  return ((Number(fields[13]) + Number(fields[14])) * 1000) / TICKS_PER_SECOND
}

/**
 * Starts `ksd` in the foreground on a free port, with the flags and settings that `ks` starts it with, and waits until it
 * is ready.
 *
 * @param program another file that does what `bin/ksd.js` does
 */
export async function startDaemon(
  dataDir: string,
  extra: Record<string, string> = {},
  program = KSD,
): Promise<BenchDaemon> {
  const args = [...NODE_FLAGS, program, '--data-dir', dataDir, '--listen', '127.0.0.1:0', '--ready-json']
  const env = privateEnv(dataDir, { ...RUNTIME_SETTINGS, ...extra })
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors = (errors + text).slice(-4000)
  })
  await Promise.race([
    once(child.stdout, 'data', { signal: AbortSignal.timeout(START_MS) }),
    once(child, 'exit').then(([code]) => {
      throw new Error(`the daemon exited with ${code} before it was ready: ${errors}`)
    }),
  ])
  child.stdout.resume()
  return await attach(dataDir, child)
}

/** The daemon that runs for a data directory, also one that another program started. */
export async function attach(dataDir: string, child?: ChildProcess): Promise<BenchDaemon> {
  const found = await findDaemon(dataDir)
  if (found === undefined) throw new Error(`no daemon answers for ${dataDir}`)
  const { pid, url } = found.file
  const client = new Client(found.target)
  const signal = async (name: NodeJS.Signals, waitMs: number): Promise<void> => {
    client.close()
    if (isAlive(pid)) process.kill(pid, name)
    await gone(pid, child, waitMs)
  }
  return {
    pid,
    url,
    dataDir,
    client,
    kill: () => signal('SIGKILL', STOP_MS),
    stop: () => signal('SIGTERM', STOP_MS),
  }
}

/** Waits until a process has ended; one that was started here is reaped through its handle. */
async function gone(pid: number, child: ChildProcess | undefined, waitMs: number): Promise<void> {
  const deadline = Date.now() + waitMs
  const ended = () => (child === undefined ? !isAlive(pid) : child.exitCode !== null || child.signalCode !== null)
  while (!ended()) {
    if (Date.now() > deadline) {
      process.kill(pid, 'SIGKILL')
      throw new Error(`process ${pid} had to be killed: it did not end within ${waitMs} ms`)
    }
    await sleep(POLL_MS)
  }
}

/** Whether a process runs; one that ended and waits to be reaped does not. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return process.platform !== 'linux' || !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

/**
 * Runs a program to its end.
 *
 * @param begins what stdout holds once it has begun to answer, for `beganMs`
 */
export async function run(
  command: string,
  args: string[],
  env: NodeJS.ProcessEnv,
  begins?: RegExp,
): Promise<{ code: number | null; stdout: string; stderr: string; ms: number; beganMs: number }> {
  const started = performance.now()
  const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
  const output = { stdout: '', stderr: '' }
  let beganMs: number | undefined
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output.stdout += text
    if (begins?.test(output.stdout) === true) beganMs ??= performance.now() - started
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    output.stderr += text
  })
  const [code] = await once(child, 'close')
  const ms = performance.now() - started
  return { code, ...output, ms, beganMs: beganMs ?? ms }
}

/** Runs `ks` against a data directory. */
export function runKs(dataDir: string, args: string[]): ReturnType<typeof run> {
  return run(process.execPath, [KS, ...args], privateEnv(dataDir))
}
