import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { execaSync } from 'execa'
import { afterAll, afterEach, expect, test } from 'vitest'
import { createToken } from '../../src/local/keys.js'
import { type DaemonProcess, spawnKsd, startKsd, temporaryDir } from '../helpers/daemon.js'
import { until } from '../helpers/until.js'

const EXIT_DATA = 65
const folders: ReturnType<typeof temporaryDir>[] = []
const daemons: DaemonProcess[] = []

afterEach(async () => {
  for (const daemon of daemons.splice(0)) await daemon.end('SIGKILL')
  for (const made of folders.splice(0)) made.remove()
})

function folder(): string {
  const made = temporaryDir()
  folders.push(made)
  return made.path
}

interface Running {
  daemon: DaemonProcess
  call(method: string, path: string, body?: unknown): Promise<Record<string, unknown>>
}

async function start(dataDir: string): Promise<Running> {
  const daemon = await startKsd(dataDir)
  daemons.push(daemon)
  const claims = { tenant: 'tenant-a', subject: 'ada', scopes: ['knowledge-spaces:*' as const] }
  const { token } = await createToken(dataDir, claims)
  const call = async (method: string, path: string, body?: unknown) => {
    const response = await fetch(`${daemon.ready.url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined || body instanceof FormData ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: body instanceof FormData ? body : JSON.stringify(body) }),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
    return JSON.parse(text)
  }
  return { daemon, call }
}

async function stop({ daemon }: Running, signal: NodeJS.Signals): Promise<void> {
  daemons.splice(daemons.indexOf(daemon), 1)
  await daemon.end(signal)
}

async function upload({ call }: Running, id: string, name: string): Promise<void> {
  const form = new FormData()
  form.append('file', new File([`# ${name}\n\nThe words of ${name}.\n`], `${name}.md`))
  await call('POST', `/knowledge-spaces/${id}/documents`, form)
}

const objectsIn = (dataDir: string) =>
  readdirSync(join(dataDir, 'objects'), { recursive: true }).filter((name) => /[0-9a-f]{64}$/.test(String(name))).length

const hashOf = (path: string) => createHash('sha256').update(readFileSync(path)).digest('hex')

/** A data directory with a space and a document, from a stopped daemon. */
async function filled(): Promise<{ dataDir: string; id: string }> {
  const dataDir = folder()
  const running = await start(dataDir)
  const { id } = await running.call('POST', '/knowledge-spaces', { name: 'Kept', slug: 'kept' })
  await upload(running, String(id), 'one')
  await stop(running, 'SIGTERM')
  return { dataDir, id: String(id) }
}

test('ksd refuses a missing, empty or damaged database with one line and exit code 65, and keeps the objects', {
  timeout: 240_000,
}, async () => {
  const { dataDir } = await filled()
  const path = join(dataDir, 'db', 'main.sqlite')
  const whole = readFileSync(path)
  const damages: [string, () => void][] = [
    ['missing', () => rmSync(path)],
    ['empty', () => writeFileSync(path, '')],
    ['damaged', () => truncateSync(path, 100)],
    ['damaged', () => truncateSync(path, whole.length - 100)],
    ['damaged', () => writeFileSync(path, Buffer.concat([Buffer.alloc(100), whole.subarray(100)]))],
  ]
  for (const [word, damage] of damages) {
    writeFileSync(path, whole)
    damage()
    const before = existsSync(path) ? hashOf(path) : undefined
    const { exit, stderr } = spawnKsd(dataDir, ['--listen', '127.0.0.1:0'])
    expect(await exit, stderr()).toBe(EXIT_DATA)
    const told = stderr().trim().split('\n')
    expect(told, 'one line, no stack').toHaveLength(1)
    expect(told[0]).toContain(`${path} is ${word}`)
    expect(told[0]).toContain('backup')
    expect(existsSync(path) ? hashOf(path) : undefined, 'not one byte was changed').toBe(before)
    expect(objectsIn(dataDir)).toBe(1)
  }
  writeFileSync(path, whole)
  const running = await start(dataDir)
  const spaces = await running.call('GET', '/knowledge-spaces')
  expect(spaces.items).toHaveLength(1)
})

/** Prevents checkpoints of the log into the database file until it is closed. */
function holdLog(dataDir: string): Sqlite.Database {
  const reader = new Sqlite(join(dataDir, 'db', 'main.sqlite'), { readonly: true })
  reader.exec('BEGIN')
  reader.prepare('SELECT count(*) FROM spaces').get()
  return reader
}

/** Copies a data directory in a separate process, so that no lock of SQLite is lost. */
function copyOf(dataDir: string): string {
  const copy = folder()
  execaSync('cp', ['-a', `${dataDir}/.`, copy])
  return copy
}

/** A data directory of a killed daemon: of three documents, the last two are only in the log. */
async function killed(): Promise<{ dataDir: string; id: string }> {
  left ??= leaveKilled()
  const { dataDir, id } = await left
  return { dataDir: copyOf(dataDir), id }
}

let left: Promise<{ dataDir: string; id: string }> | undefined
const kept = temporaryDir()
afterAll(() => kept.remove())

async function leaveKilled(): Promise<{ dataDir: string; id: string }> {
  const { dataDir, id } = await filled()
  const running = await start(dataDir)
  const reader = holdLog(dataDir)
  try {
    for (const name of ['two', 'three']) await upload(running, id, name)
    await until(async () => {
      const { items } = await running.call('GET', `/knowledge-spaces/${id}/documents`)
      return Array.isArray(items) && items.every(({ parserStatus }) => parserStatus === 'parsed')
    })
    await stop(running, 'SIGKILL')
    execaSync('cp', ['-a', `${dataDir}/.`, kept.path])
    return { dataDir: kept.path, id }
  } finally {
    reader.close()
  }
}

test('ksd exits with 65 if the database log is missing after a kill, and without store.json starts with all objects', {
  timeout: 120_000,
}, async () => {
  const { dataDir, id } = await killed()
  const log = join(dataDir, 'db', 'main.sqlite-wal')
  const bytes = readFileSync(log)
  for (const path of [log, join(dataDir, 'db', 'main.sqlite-shm')]) rmSync(path)
  const before = hashOf(join(dataDir, 'db', 'main.sqlite'))
  const { exit, stderr } = spawnKsd(dataDir, ['--listen', '127.0.0.1:0'])
  expect(await exit, stderr()).toBe(EXIT_DATA)
  expect(stderr().trim().split('\n')).toHaveLength(1)
  expect(stderr()).toContain(`${log} is missing although the last run did not end in order`)
  expect(stderr()).toContain(`remove ${join(dataDir, 'objects', 'store.json')}`)
  expect([hashOf(join(dataDir, 'db', 'main.sqlite')), existsSync(log)]).toEqual([before, false])

  const whole = copyOf(dataDir)
  writeFileSync(join(whole, 'db', 'main.sqlite-wal'), bytes)
  const restored = await start(whole)
  expect((await restored.call('GET', `/knowledge-spaces/${id}/documents`)).items).toHaveLength(3)

  rmSync(join(dataDir, 'objects', 'store.json'))
  const running = await start(dataDir)
  const issues = await running.call('GET', `/knowledge-spaces/${id}/fsck?check=raw-objects`)
  const unknown = (issues.issues as { code: string }[]).filter(({ code }) => code === 'unknown-object')
  expect(unknown).toHaveLength(2)
  const collectable = await running.call('GET', `/knowledge-spaces/${id}/gc/staged-objects`)
  expect(
    (collectable.candidates as { candidateType: string }[]).filter((one) => one.candidateType === 'staged-object'),
  ).toEqual([])
  expect(objectsIn(dataDir)).toBe(3)
})

test('ksd starts without the shared memory file of a killed daemon and loses nothing', async () => {
  const { dataDir, id } = await killed()
  rmSync(join(dataDir, 'db', 'main.sqlite-shm'))
  const running = await start(dataDir)
  const { items } = await running.call('GET', `/knowledge-spaces/${id}/documents`)
  expect(items).toHaveLength(3)
  const doubts = join(dataDir, 'objects', 'keep-unknown')
  expect(existsSync(doubts) ? readFileSync(doubts, 'utf8') : 'none').toBe('none')
})

test('ksd refuses a truncated database file although its log is complete', async () => {
  const { dataDir } = await killed()
  const path = join(dataDir, 'db', 'main.sqlite')
  const log = hashOf(`${path}-wal`)
  truncateSync(path, 3 * 8192)
  const { exit, stderr } = spawnKsd(dataDir, ['--listen', '127.0.0.1:0'])
  expect(await exit, stderr()).toBe(EXIT_DATA)
  expect(stderr()).toContain(`${path} is damaged: it is truncated`)
  expect(hashOf(`${path}-wal`)).toBe(log)
})
