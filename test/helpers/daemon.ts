import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { execa } from 'execa'
import { pino } from 'pino'
import { KSD } from '../../bench/lib/daemon.js'
import { removeFolder } from '../../bench/lib/removed-folder.js'
import { assembleApp } from '../../src/daemon/assemble.js'
import { loadSettings } from '../../src/daemon/config.js'
import { createOpenWork, type OpenWork } from '../../src/daemon/open-work.js'
import type { DaemonApp } from '../../src/daemon/server.js'
import { createStatusReader, type DaemonIdentity } from '../../src/daemon/status.js'
import { type Engine, openEngine } from '../../src/engine/index.js'
import { prepareDataDir } from '../../src/local/data-dir.js'
import { loadSigningKey } from '../../src/local/keys.js'
import type { Settings } from '../../src/local/settings.js'
import { databaseEnv, forgetDatabase } from './databases.js'
import { engineOptions } from './engine.js'
import { createTestTokens, type TestTokens } from './tokens.js'

export interface EdgeRequest {
  token?: string | undefined
  /** sent as JSON */
  json?: unknown
  /** sent unchanged */
  body?: string | Uint8Array | FormData
  headers?: Record<string, string>
}

export interface TestEdge {
  dataDir: string
  engine: Engine
  app: DaemonApp
  tokens: TestTokens
  work: OpenWork
  /** lines of the log */
  log: Record<string, unknown>[]
  send(method: string, path: string, sent?: EdgeRequest): Promise<Response>
  end(): Promise<void>
}

const identity: DaemonIdentity = {
  instance: 'test-instance',
  pid: process.pid,
  version: '0.0.0',
  mode: 'manual',
  startedAt: new Date().toISOString(),
}

/**
 * The daemon's application inside the test's process, with an engine on a new data directory, or on a given one that is
 * removed at the end.
 */
export async function startEdge(
  options: { settings?: { readonly [N in keyof Settings]?: unknown }; engine?: Engine; dataDir?: string } = {},
): Promise<TestEdge> {
  const dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), 'ks-edge-'))
  const layout = prepareDataDir(dataDir, { allowNetworkDisk: true })
  const { settings } = loadSettings({ file: layout.config, env: {}, flags: options.settings ?? {} })
  const { compilation, egressAllow } = settings
  const engine = options.engine ?? (await openEngine(engineOptions(dataDir, { compilation, sources: { egressAllow } })))
  const log: Record<string, unknown>[] = []
  const { uploadBytes, bulkFiles, bulkBytes } = settings
  const work = createOpenWork()
  const status = createStatusReader({
    identity,
    limits: { uploadBytes, bulkFiles, bulkBytes },
    activity: () => engine.activity(),
    jobsOf: engine.jobsOf,
    openRequests: work.count,
    models: () => engine.models.inUse(),
  })
  const app = assembleApp({
    settings,
    identity,
    engine,
    work,
    status,
    signingKey: loadSigningKey(dataDir),
    dataDir,
    log: pino({ level: 'warn' }, { write: (line: string) => log.push(JSON.parse(line)) }),
  })
  const tokens = await createTestTokens(dataDir)
  return {
    dataDir,
    engine,
    app,
    tokens,
    work,
    log,
    send: async (method, path, { token, json, body, headers } = {}) =>
      await app.request(path, {
        method,
        headers: {
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
          ...(json === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(json === undefined ? {} : { body: JSON.stringify(json) }),
        ...(body === undefined ? {} : { body, duplex: 'half' }),
      }),
    end: async () => {
      status.close()
      if (options.engine === undefined) await engine.close()
      forgetDatabase(dataDir)
      removeFolder(dataDir)
    },
  }
}

/** The JSON body of a response; the type is up to the test. */
export async function bodyOf<T>(response: Response): Promise<T> {
  return (await response.json()) as T
}

export interface ReadyMessage {
  url: string
  instance: string
  pid: number
  version: string
  dataDir: string
}

export interface DaemonProcess {
  child: ChildProcess
  ready: ReadyMessage
  stderr(): string
  /** Sends a signal and waits for the end. @returns exit code or signal */
  end(signal: NodeJS.Signals): Promise<number | NodeJS.Signals>
}

/** `ksd` as a separate process. */
export function spawnKsd(dataDir: string, args: string[] = [], env: Record<string, string> = {}) {
  const child = execa(process.execPath, [KSD, '--data-dir', dataDir, ...args], {
    env: { ...databaseEnv(dataDir), ...env },
    stdin: 'ignore',
    buffer: false,
    reject: false,
    // Tests examine how a daemon ends, so nothing kills it.
    forceKillAfterDelay: false,
  })
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  const exit = once(child, 'exit').then(([code, signal]) => (signal ?? code) as number | NodeJS.Signals)
  return { child, exit, stderr: () => stderr }
}

/** Starts `ksd` on a free port and waits until it answers. */
export async function startKsd(
  dataDir: string,
  args: string[] = [],
  env: Record<string, string> = {},
): Promise<DaemonProcess> {
  const { child, exit, stderr } = spawnKsd(dataDir, ['--listen', '127.0.0.1:0', '--ready-json', ...args], env)
  const lines = createInterface({ input: child.stdout })
  const line = await Promise.race([
    once(lines, 'line').then(([first]) => String(first)),
    exit.then((code) => Promise.reject(new Error(`ksd ended with ${code}: ${stderr()}`))),
  ])
  return {
    child,
    ready: JSON.parse(line),
    stderr,
    end: async (signal) => {
      child.kill(signal)
      return await exit
    },
  }
}

/** A folder for one test. */
export function temporaryDir(): { path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'ks-life-'))
  return {
    path,
    remove() {
      forgetDatabase(path)
      removeFolder(path)
    },
  }
}
