import { randomBytes } from 'node:crypto'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { vi } from 'vitest'
import { removeFolder } from '../../bench/lib/removed-folder.js'
import type { ChatAppBody } from '../../src/contract/chat/apps.js'
import type { ChatFrame } from '../../src/contract/chat/messages.js'
import type { AppSession } from '../../src/engine/answers/chat/apps.js'
import type { ChatStream } from '../../src/engine/answers/chat/turn.js'
import type { EngineLog } from '../../src/engine/base/log.js'
import { type Engine, type EngineOptions, openEngine } from '../../src/engine/index.js'
import { withKeys } from '../engine/store/object-places.js'
import { ADA, engineOptions } from './engine.js'
import { type StrictS3, startStrictS3 } from './places/strict-s3.js'
import { addressOf, connect, createMigratedDatabase } from './postgres.js'
import { SUPERUSER } from './postgres-server.js'

interface Gateway {
  engine: Engine
  end(): Promise<void>
}

/** Engines in one process on one database server, with objects in one bucket. */
export interface Gateways {
  all: Gateway[]
  database: string
  bucket: StrictS3
  /** opens another gateway */
  join(changes?: Partial<EngineOptions>): Promise<Gateway>
  /** log entries of all gateways: warnings and errors */
  warnings: { message: string }[]
  /** queries the server directly */
  rows<T>(text: string, values?: unknown[]): Promise<T[]>
  end(): Promise<void>
}

export async function startGateways(count: number, changes: Partial<EngineOptions> = {}): Promise<Gateways> {
  const bucket = await startStrictS3()
  withKeys(bucket.env)
  const database = await createMigratedDatabase()
  const client = await connect(database, SUPERUSER)
  const warnings: { message: string }[] = []
  const addWarning = (fields: object, message: string) => void warnings.push({ ...fields, message })
  const log: EngineLog = { debug() {}, info() {}, warn: addWarning, error: addWarning }
  const all: Gateway[] = []
  // All sign and encrypt with the same keys.
  const keys = ['signing.key', 'data.key'].map((file) => [file, randomBytes(32).toString('base64url')] as const)
  const open = async (more: Partial<EngineOptions> = {}) => {
    const settings = { database: addressOf(database), objects: bucket.place, log }
    const dataDir = mkdtempSync(join(tmpdir(), 'ks-gateway-'))
    for (const [file, key] of keys) writeFileSync(join(dataDir, file), `${key}\n`, { mode: 0o600 })
    const engine = await openEngine(engineOptions(dataDir, { ...settings, ...changes, ...more }))
    const opened = {
      engine,
      async end() {
        await engine.close()
        removeFolder(dataDir)
      },
    }
    all.push(opened)
    return opened
  }
  for (let made = 0; made < count; made++) await open()
  return {
    all,
    database,
    bucket,
    join: open,
    warnings,
    async rows<T>(text: string, values: unknown[] = []) {
      return (await client.query(text, values)).rows as T[]
    },
    async end() {
      for (const one of all) await one.end()
      await client.end()
      await bucket.end()
      vi.unstubAllEnvs()
    },
  }
}

/** Returns the engine of a gateway. */
export function engineAt({ all }: Gateways, index: number): Engine {
  const gateway = all[index]
  if (gateway === undefined) throw new Error(`there is no gateway ${index}`)
  return gateway.engine
}

/** Creates an application without a space, and a session of it at each gateway. */
export async function createChatApp({ all }: Gateways, body: Partial<ChatAppBody> & Pick<ChatAppBody, 'model'>) {
  const [first] = all
  if (first === undefined) throw new Error('there is no gateway')
  const app = await first.engine.chat.apps.create(ADA, { name: 'App', knowledgeSpaceIds: [], ...body })
  const { key } = await first.engine.chat.apps.createKey(ADA, app.id)
  const sessions: AppSession[] = []
  for (const { engine } of all) {
    const session = await engine.chat.authenticate(String(key))
    if (session === undefined) throw new Error('the key is not known at each gateway')
    sessions.push(session)
  }
  return { app, sessions, key: String(key) }
}

export const MESSAGE = {
  inputs: {},
  response_mode: 'streaming' as const,
  user: 'u',
  files: [],
  auto_generate_name: false,
}

export async function readFrames(stream: ChatStream): Promise<ChatFrame[]> {
  const frames: ChatFrame[] = []
  for await (const frame of stream.frames()) frames.push(frame)
  return frames
}

export function joinAnswers(frames: readonly ChatFrame[]): string {
  return frames.map((frame) => (frame.event === 'message' ? frame.answer : '')).join('')
}
