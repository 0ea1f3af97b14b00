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

/** A daemon with a private data directory, for benches and for tests that kill it. */
export interface BenchDaemon {
  pid: number
  url: string
  dataDir: string
  client: Client
  /** kills it and waits until it is gone */
  kill(): Promise<void>
  /** asks it to stop and waits */
  stop(): Promise<void>
}

const START_TIMEOUT_MS = 60_000
const STOP_TIMEOUT_MS = 30_000
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

/** Folders next to a data directory, of the programs that use it. */
const SIBLING_SUFFIXES = ['.home', '.config', '.state', '.cache']

/** Creates a temporary folder; `remove` deletes it, and the folders next to it if it is a data directory. */
export function temporaryFolder(name: string): { path: string; remove: () => void } {
  const path = mkdtempSync(join(tmpdir(), `ks-${name}-`))
  return {
    path,
    remove() {
      for (const folder of ['', ...SIBLING_SUFFIXES]) removeFolder(`${path}${folder}`)
    },
  }
}

/** Variables that programs need to find their helpers and temporary files; others would change the figures. */
const INHERITED_VARIABLES = ['PATH', 'TMPDIR']

/**
 * Builds the environment of every measured program, without the caller's settings: `NODE_EXTRA_CA_CERTS` alone makes a bare
 * node several times slower.
 */
export function buildCleanEnv(home: string): NodeJS.ProcessEnv {
  const inherited = INHERITED_VARIABLES.flatMap((name) => {
    const value = process.env[name]
    return value === undefined ? [] : [[name, value]]
  })
  return { ...Object.fromEntries(inherited), HOME: home, LANG: 'C.UTF-8', NO_COLOR: '1' }
}

/** Builds the environment of a program that uses one data directory. */
export function privateEnv(dataDir: string, extra: Record<string, string> = {}): NodeJS.ProcessEnv {
  const home = `${dataDir}.home`
  mkdirSync(home, { recursive: true })
  return {
    ...buildCleanEnv(home),
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
 * Reads the processor time of all ended children of this process, in steps of 10 ms: use it for means of many runs. Node's
 * `resourceUsage` does not include children.
 */
export function readEndedChildrenCpuMs(): number {
  // after the name, which may contain spaces: state is field 3, cutime and cstime are fields 16 and 17
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ').at(-1)?.split(' ') ?? []
  return ((Number(fields[13]) + Number(fields[14])) * 1000) / TICKS_PER_SECOND
}

/**
 * Starts `ksd` in the foreground on a free port, with the flags and settings that `ks` uses, and waits until it is ready.
 *
 * @param program the `bin/ksd.js` of another checkout
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
    once(child.stdout, 'data', { signal: AbortSignal.timeout(START_TIMEOUT_MS) }),
    once(child, 'exit').then(([code]) => {
      throw new Error(`the daemon exited with ${code} before it was ready: ${errors}`)
    }),
  ])
  child.stdout.resume()
  return await attachDaemon(dataDir, child)
}

/** Attaches to the daemon of a data directory, also one that another program started. */
export async function attachDaemon(dataDir: string, child?: ChildProcess): Promise<BenchDaemon> {
  const found = await findDaemon(dataDir)
  if (found === undefined) throw new Error(`no daemon answers for ${dataDir}`)
  const { pid, url } = found.file
  const client = new Client(found.target)
  const stopBySignal = async (name: NodeJS.Signals, waitMs: number): Promise<void> => {
    client.close()
    if (isAlive(pid)) process.kill(pid, name)
    await waitForEnd(pid, child, waitMs)
  }
  return {
    pid,
    url,
    dataDir,
    client,
    kill: () => stopBySignal('SIGKILL', STOP_TIMEOUT_MS),
    stop: () => stopBySignal('SIGTERM', STOP_TIMEOUT_MS),
  }
}

/** @param child its handle if this process started it: a zombie counts as alive until it is reaped through it */
async function waitForEnd(pid: number, child: ChildProcess | undefined, waitMs: number): Promise<void> {
  const deadline = Date.now() + waitMs
  const hasEnded = () => (child === undefined ? !isAlive(pid) : child.exitCode !== null || child.signalCode !== null)
  while (!hasEnded()) {
    if (Date.now() > deadline) {
      process.kill(pid, 'SIGKILL')
      throw new Error(`process ${pid} had to be killed: it did not end within ${waitMs} ms`)
    }
    await sleep(POLL_MS)
  }
}

/** Whether a process runs; a zombie does not. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return process.platform !== 'linux' || !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

/** @param startPattern matches stdout when the answer has begun; `firstOutputMs` is the time until then */
export async function runProgram(
  command: string,
  args: string[],
  env: NodeJS.ProcessEnv,
  startPattern?: RegExp,
): Promise<{ code: number | null; stdout: string; stderr: string; ms: number; firstOutputMs: number }> {
  const startedAt = performance.now()
  const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
  const output = { stdout: '', stderr: '' }
  let firstOutputMs: number | undefined
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output.stdout += text
    if (startPattern?.test(output.stdout) === true) firstOutputMs ??= performance.now() - startedAt
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    output.stderr += text
  })
  const [code] = await once(child, 'close')
  const ms = performance.now() - startedAt
  return { code, ...output, ms, firstOutputMs: firstOutputMs ?? ms }
}

export function runKs(dataDir: string, args: string[]): ReturnType<typeof runProgram> {
  return runProgram(process.execPath, [KS, ...args], privateEnv(dataDir))
}
