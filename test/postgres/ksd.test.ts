import { createHash, randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { execaNode } from 'execa'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { AcceptedDocument } from '../../src/contract/gateway/documents.js'
import { SCHEMA } from '../../src/engine/store/migrations.js'
import { createToken } from '../../src/local/keys.js'
import { bodyOf, type DaemonProcess, spawnKsd, startKsd, temporaryDir } from '../helpers/daemon.js'
import { startS3 } from '../helpers/places/s3.js'
import { addressOf, connect, createEmptyDatabase, hasServer, hasVectors } from '../helpers/postgres.js'
import { SUPERUSER } from '../helpers/postgres-server.js'
import { until } from '../helpers/until.js'

const PASSWORD = 'a-very-secret-word'
const TIDES = '# Tides\n\nHigh water at Brest comes about four hours after the moon has passed the meridian.\n'

describe.skipIf(!hasServer)('gateways of one deployment', () => {
  let s3: Awaited<ReturnType<typeof startS3>>
  let folder: ReturnType<typeof temporaryDir>
  let database: string
  let env: Record<string, string>
  const running: DaemonProcess[] = []

  beforeAll(async () => {
    s3 = await startS3()
  })

  afterAll(async () => {
    await s3.end()
  })

  beforeEach(async () => {
    folder = temporaryDir()
    database = await createEmptyDatabase()
    const keys = join(folder.path, 'keys')
    mkdirSync(keys)
    for (const name of ['signing.key', 'data.key'])
      writeFileSync(join(keys, name), `${randomBytes(32).toString('base64url')}\n`, { mode: 0o600 })
    const prefix = createHash('sha256').update(database).digest('hex').slice(0, 12)
    env = {
      KS_DAEMON_BACKEND: addressOf(database).hosts[0],
      KS_DAEMON_OBJECTS: `s3://docs/${prefix}?endpoint=${s3.endpoint}`,
      KS_DAEMON_KEYS: keys,
      AWS_ACCESS_KEY_ID: 'S3RVER',
      AWS_SECRET_ACCESS_KEY: 'S3RVER',
      PGPASSWORD: PASSWORD,
    }
  })

  afterEach(async () => {
    for (const one of running.splice(0)) await one.end('SIGKILL')
    folder.remove()
  })

  const dataDir = (name: string) => join(folder.path, name)

  async function gateway(name: string, changes: Record<string, string> = {}): Promise<DaemonProcess> {
    const started = await startKsd(dataDir(name), ['--no-socket'], { ...env, ...changes })
    running.push(started)
    return started
  }

  async function migrate(...args: string[]) {
    return await execaNode('bin/ksd.js', ['migrate', '--data-dir', dataDir('migrating'), ...args], {
      env,
      reject: false,
    })
  }

  async function refused(name: string, args: string[], changes: Record<string, string> = {}) {
    const { exit, stderr } = spawnKsd(dataDir(name), ['--listen', '127.0.0.1:0', ...args], { ...env, ...changes })
    return { exit: await exit, stderr: stderr() }
  }

  it.skipIf(!hasVectors)('search in the database if configured, which needs pgvector', async () => {
    await migrate()
    expect(await refused('first', ['--search', 'postgres'])).toMatchObject({
      exit: 8,
      stderr: expect.stringContaining('CREATE EXTENSION vector'),
    })
    const admin = await connect(database, SUPERUSER)
    await admin.query('CREATE EXTENSION vector')
    await admin.end()
    const client = await connect(database)
    const { ready } = await gateway('first', { KS_DAEMON_SEARCH: 'postgres' })
    expect(await (await fetch(`${ready.url}/health`)).json()).toMatchObject({ ok: true, components: { indexes: true } })
    const { rows } = await client.query("SELECT 1 FROM pg_namespace WHERE nspname LIKE 'search%'")
    await client.end()
    expect(rows).toHaveLength(1)
  })

  it('serve documents that another gateway has published, with the same tokens', async () => {
    expect(await refused('first', [])).toMatchObject({ exit: 8, stderr: expect.stringContaining('run ksd migrate') })
    expect(JSON.parse((await migrate('--json')).stdout)).toEqual({ from: null, to: SCHEMA })
    expect((await migrate()).stdout).toContain('nothing to do')
    const [one, two] = await Promise.all([gateway('first'), gateway('second')])
    const { token } = await createToken(dataDir('first'), {
      tenant: 'tenant-a',
      subject: 'ada',
      scopes: ['knowledge-spaces:*'],
    })
    const headers = { authorization: `Bearer ${token}` }
    const json = { ...headers, 'content-type': 'application/json' }
    const made = await fetch(`${one.ready.url}/knowledge-spaces`, {
      method: 'POST',
      headers: json,
      body: JSON.stringify({ name: 'Tides', slug: 'tides' }),
    })
    const { id } = await bodyOf<{ id: string }>(made)
    const form = new FormData()
    form.append('file', new File([TIDES], 'tides.md'))
    const sent = await fetch(`${one.ready.url}/knowledge-spaces/${id}/documents`, {
      method: 'POST',
      headers,
      body: form,
    })
    const { asset, statusUrl } = await bodyOf<AcceptedDocument>(sent)
    await until(async () => {
      const found = await fetch(new URL(statusUrl, one.ready.url), { headers })
      return (await bodyOf<{ stage: string }>(found)).stage === 'published'
    })

    const asked = await fetch(`${two.ready.url}/queries`, {
      method: 'POST',
      headers: json,
      body: JSON.stringify({ knowledgeSpaceId: id, query: 'When does high water come at Brest?', mode: 'fast' }),
    })
    const answer = await asked.text()
    expect(answer).toContain('four hours')
    expect(answer).toContain(asset.id)
    expect(await (await fetch(`${two.ready.url}/health`)).json()).toMatchObject({ ok: true, durability: 'single' })
    for (const name of ['first', 'second'])
      expect(readFileSync(join(dataDir(name), 'logs', 'daemon.log'), 'utf8')).not.toContain(PASSWORD)
    const client = await connect(database)
    await client.query('UPDATE schema_version SET version = 47')
    expect(await migrate()).toMatchObject({ exitCode: 8, stderr: expect.stringContaining('ks bundle export') })
    await client.end()
  })

  it('refuse to start without the same keys and the same object storage', async () => {
    await migrate()
    const first = await gateway('first')
    const other = { KS_DAEMON_KEYS: '' }
    expect(await refused('second', [], other)).toMatchObject({
      exit: 65,
      stderr: expect.stringContaining('not that of the other gateways'),
    })
    expect(await refused('third', [], { KS_DAEMON_OBJECTS: '' })).toMatchObject({
      exit: 65,
      stderr: expect.stringContaining('give all gateways of a database the same --objects'),
    })
    await first.end('SIGTERM')
    running.splice(0)
    await migrate('--new-keys')
    await gateway('second', other)
    expect(await refused('first', [])).toMatchObject({ exit: 65 })
  })

  it('refuse to create a separate database, and a password on the command line', async () => {
    await migrate()
    const first = await gateway('first')
    await first.end('SIGTERM')
    running.splice(0)
    expect(await refused('first', [], { KS_DAEMON_BACKEND: '', KS_DAEMON_OBJECTS: '' })).toMatchObject({
      exit: 65,
      stderr: expect.stringMatching(/start with --(backend|objects)/),
    })
    const told = await refused('second', ['--backend', `postgres://ks:${PASSWORD}@localhost/${database}`])
    expect(told).toMatchObject({ exit: 2, stderr: expect.stringContaining('remove it from --backend') })
    expect(told.stderr).not.toContain(PASSWORD)
  })
})
