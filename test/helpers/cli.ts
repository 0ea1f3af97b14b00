import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { execa } from 'execa'
import { removeFolder } from '../../bench/lib/removed-folder.js'
import { databaseEnv, forgetDatabase } from './databases.js'
import { checkJsonOutput } from './json-output.js'

export const KS = fileURLToPath(new URL('../../bin/ks.js', import.meta.url))
export const KCHAT = fileURLToPath(new URL('../../bin/kchat.js', import.meta.url))

const PROGRAMS = { ks: KS, kchat: KCHAT }

export interface CliResult {
  stdout: string
  stderr: string
  code: number | null
  signal: NodeJS.Signals | null
}

export interface CliRun {
  env?: Record<string, string>
  cwd?: string
  /** written to stdin, which is closed at once if absent */
  stdin?: string | Uint8Array
  timeoutMs?: number
}

/**
 * Folders of one imaginary user, and the compiled programs, which run in separate processes. What a program prints as
 * JSON is checked against its schema.
 */
export interface CliHome {
  dir: string
  dataDir: string
  env: Record<string, string>
  ks(args: string[], run?: CliRun): Promise<CliResult>
  kchat(args: string[], run?: CliRun): Promise<CliResult>
  /** Writes a file below the home. @returns its path */
  file(path: string, content: string | Uint8Array): string
  /** Stops the daemon if one was started, and removes everything. */
  end(): Promise<void>
}

export function cliHome(): CliHome {
  const dir = mkdtempSync(join(tmpdir(), 'ks-cli-'))
  const dataDir = join(dir, 'data')
  const env = {
    KS_DATA_DIR: dataDir,
    KS_CONFIG_DIR: join(dir, 'config'),
    KS_STATE_DIR: join(dir, 'state'),
    KS_CACHE_DIR: join(dir, 'cache'),
    KS_DAEMON_LISTEN: '127.0.0.1:0',
    HOME: dir,
    ...databaseEnv(dataDir),
  }
  return {
    dir,
    dataDir,
    env,
    ks: (args, run = {}) => runProgram('ks', args, { cwd: dir, ...run, env: { ...env, ...run.env } }),
    kchat: (args, run = {}) => runProgram('kchat', args, { cwd: dir, ...run, env: { ...env, ...run.env } }),
    file: (path, content) => {
      const full = join(dir, path)
      mkdirSync(dirname(full), { recursive: true })
      writeFileSync(full, content)
      return full
    },
    end: async () => {
      await endDaemon(dataDir)
      forgetDatabase(dataDir)
      removeFolder(dir)
    },
  }
}

async function runProgram(program: 'ks' | 'kchat', args: string[], run: CliRun): Promise<CliResult> {
  const env = { ...plainEnv(), ...run.env }
  const { stdout, stderr, exitCode, signal } = await execa(process.execPath, [PROGRAMS[program], ...args], {
    cwd: run.cwd ?? process.cwd(),
    env,
    extendEnv: false,
    input: run.stdin ?? '',
    stripFinalNewline: false,
    reject: false,
    timeout: run.timeoutMs ?? 110_000,
    killSignal: 'SIGKILL',
  })
  const result = { stdout, stderr, code: exitCode ?? null, signal: signal ?? null }
  await checkJsonOutput(program, args, { env, output: result })
  return result
}

/** The environment without variables that change the behaviour of the program. */
export function plainEnv(): Record<string, string> {
  const env: Record<string, string> = { LANG: 'C.UTF-8' }
  for (const [name, value] of Object.entries(process.env)) {
    const changes = /^(KS_|CI$|NODE_ENV$|FORCE_COLOR$|CLICOLOR|LC_|LANG$|VITEST|NODE_OPTIONS$)/.test(name)
    if (!changes && value !== undefined) env[name] = value
  }
  return env
}

async function endDaemon(dataDir: string): Promise<void> {
  let pid: number
  try {
    pid = JSON.parse(readFileSync(join(dataDir, 'daemon.json'), 'utf8')).pid
    process.kill(pid, 'SIGTERM')
  } catch {
    return
  }
  for (let wait = 0; wait < 200 && isAlive(pid); wait++) await new Promise((resolve) => setTimeout(resolve, 50))
  if (isAlive(pid)) process.kill(pid, 'SIGKILL')
}

/** Whether a process runs. A zombie does not. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
  } catch {
    return false
  }
  try {
    return !/^\d+ \(.*\) [ZX]/s.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return process.platform !== 'linux'
  }
}

export interface TestServer {
  url: string
  /** requests in the order of their arrival: `GET /path` */
  seen: string[]
  end(): Promise<void>
}

/**
 * A small HTTP server on loopback with the handler of the test. A client that disconnects ends its request, not the
 * test.
 */
export async function startTestServer(
  listener: (...args: Parameters<RequestListener>) => unknown,
  socketPath?: string,
): Promise<TestServer> {
  const seen: string[] = []
  const server: Server = createServer((request, response) => {
    seen.push(`${request.method} ${request.url}`)
    Promise.resolve(listener(request, response)).catch((error: unknown) => {
      if (!request.destroyed) throw error
    })
  })
  await new Promise<void>((resolve) => {
    if (socketPath === undefined) server.listen(0, '127.0.0.1', resolve)
    else server.listen(socketPath, resolve)
  })
  const url =
    socketPath === undefined ? `http://127.0.0.1:${(server.address() as AddressInfo).port}` : 'http://localhost'
  return {
    url,
    seen,
    end: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** The body of a request. */
export async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks)
}
