import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { AcceptedDocument } from '../../../src/contract/gateway/documents.js'
import { createToken } from '../../../src/local/keys.js'
import { isFile } from '../../helpers/backend.js'
import { bodyOf, startEdge, type TestEdge } from '../../helpers/daemon.js'
import { ingest } from '../../helpers/engine.js'
import { statementsDuring } from '../../helpers/plans.js'
import { until } from '../../helpers/until.js'

/** Words that each appear in the document of one tenant, and in every query. */
const MARKERS = ['alvarite', 'bromelow', 'cindervane', 'dorinth', 'elmarrow', 'fennoxid', 'galbrith', 'hesperule']
/** Secrets next to these words, in no query. */
const SECRETS = MARKERS.map((marker) => [...marker].reverse().join(''))
const COMMON = `# Handbook

The office opens at nine and closes at five. The pass for the harbour is renewed every spring by the harbour master.
`

interface Tenant {
  name: string
  token: string
  space: string
  marker: string
  secret: string
}

let edge: TestEdge
const tenants: Tenant[] = []

beforeAll(async () => {
  edge = await startEdge()
  for (const [n, marker] of MARKERS.entries()) {
    const name = `tenant-${n}`
    const { token } = await createToken(edge.dataDir, { tenant: name, subject: 'sam', scopes: ['knowledge-spaces:*'] })
    const caller = { tenant: name, subject: 'sam' }
    const { id: space } = await edge.engine.spaces.create(caller, { name: `Space of ${marker}`, slug: 'notes' })
    await ingest(edge.engine, caller, space, {
      'handbook.md': COMMON,
      [`${marker}.md`]: `# Harbour notes\n\nThe pass for the harbour is kept by ${marker} under the sign ${SECRETS[n]}.\n`,
    })
    tenants.push({ name, token, space, marker, secret: SECRETS[n] ?? '' })
  }
}, 120_000)
afterAll(() => edge.end())

const [first, second] = [() => tenants[0] as Tenant, () => tenants[1] as Tenant]
const foreign = (text: string, own: string) => SECRETS.filter((secret) => secret !== own && text.includes(secret))

async function ask(token: string, json: Record<string, unknown>) {
  const response = await edge.send('POST', '/queries', { token, json })
  const text = await response.text()
  const trace = response.headers.get('x-query-run-id') ?? ''
  return { status: response.status, text, trace, session: response.headers.get('x-session-id') ?? '' }
}

describe('A15: the session id of another tenant, subject or space', () => {
  test('counts as unknown: the query runs in a new session without the questions of the named session', async () => {
    const { token, space, name, marker, secret } = first()
    const mine = await ask(token, { knowledgeSpaceId: space, query: `Where is the pass kept by ${marker}?` })
    const sessionId = mine.session
    const turns = async () =>
      (await ask(token, { knowledgeSpaceId: space, query: 'And under which sign?', sessionId })).text
    const subject = await createToken(edge.dataDir, { tenant: name, subject: 'kim', scopes: ['knowledge-spaces:*'] })
    const { id: elsewhere } = await edge.engine.spaces.create(
      { tenant: name, subject: 'sam' },
      { name: 'E', slug: 'e' },
    )
    const strangers = [
      { token: second().token, knowledgeSpaceId: second().space },
      { token: subject.token, knowledgeSpaceId: space },
      { token, knowledgeSpaceId: elsewhere },
    ]
    for (const { token: theirs, knowledgeSpaceId } of strangers) {
      const query = 'And under which sign?'
      const answer = await ask(theirs, { knowledgeSpaceId, query, sessionId })
      expect(answer.status).toBe(200)
      expect(answer.session).not.toBe(sessionId)
      // The subject is in a previous question of the other session, so the answer equals one without a session id.
      const alone = await ask(theirs, { knowledgeSpaceId, query })
      expect(deltasOf(answer.text)).toBe(deltasOf(alone.text))
      expect(foreign(answer.text, knowledgeSpaceId === space ? secret : second().secret)).toEqual([])
    }
    // The owner's conversation continues with its own turns only.
    expect(deltasOf(await turns())).toContain(secret)
    const workspace = { knowledgeSpaceId: space, workspace: 'w' }
    await edge.send('PUT', `/knowledge-spaces/${space}/fs/write`, {
      token: subject.token,
      json: { path: '/workspaces/w/a.md', content: 'a' },
    })
    const snapshot = await edge.send('POST', '/agent-workspace-snapshots', {
      token: subject.token,
      json: { ...workspace, sessionId },
    })
    expect(foreign(await snapshot.text(), '')).toEqual([])
    expect(snapshot.status).toBe(404)
  })
})

/** The text of an answer. */
function deltasOf(stream: string): string {
  return [...stream.matchAll(/event: answer\.delta\ndata: (.*)/g)]
    .map(([, data]) => (JSON.parse(data ?? '{}') as { delta: string }).delta)
    .join('')
}

describe('A18: bytes that another tenant has stored', () => {
  const bytes = (seed: number) => `${seed} `.repeat(60_000)
  const upload = async ({ token, space }: Tenant, text: string, name = 'same.md') => {
    const form = new FormData()
    form.append('file', new File([text], name))
    const response = await edge.send('POST', `/knowledge-spaces/${space}/documents`, { token, body: form })
    return { status: response.status, body: await bodyOf<AcceptedDocument>(response) }
  }
  const remove = async ({ token, space }: Tenant, id: string) =>
    await (
      await edge.send('DELETE', `/knowledge-spaces/${space}/documents/bulk`, { token, json: { documentIds: [id] } })
    ).text()

  test('cannot be detected by status, size, id, deletion or check', async () => {
    const text = bytes(1)
    const held = await upload(first(), text)
    await edge.engine.documents.settled({ tenant: first().name, subject: 'sam' }, first().space, held.body)
    const check = async (sha256: string) =>
      await (
        await edge.send('POST', `/knowledge-spaces/${second().space}/documents/check`, {
          token: second().token,
          json: { items: [{ filename: 'same.md', sha256 }] },
        })
      ).text()
    const known = held.body.asset.sha256
    expect((await check(known)).replace(known, '')).toBe((await check('f'.repeat(64))).replace('f'.repeat(64), ''))

    const same = await upload(second(), text)
    const fresh = await upload(second(), bytes(2), 'fresh.md')
    expect([same.status, fresh.status]).toEqual([202, 202])
    expect(shapeOf(same.body)).toEqual(shapeOf(fresh.body))
    expect(same.body.asset.id).not.toBe(held.body.asset.id)
    for (const { body } of [same, fresh])
      await edge.engine.documents.settled({ tenant: second().name, subject: 'sam' }, second().space, body)
    // Each tenant has a separate file.
    const files = readdirSync(join(edge.dataDir, 'objects'), { recursive: true }).map(String)
    expect(files.filter((name) => name.endsWith(known))).toHaveLength(2)
    const removed = [await remove(second(), same.body.asset.id), await remove(second(), fresh.body.asset.id)]
    expect(shapeOf(JSON.parse(removed[0] ?? ''))).toEqual(shapeOf(JSON.parse(removed[1] ?? '')))
    expect(removed[0]).toContain('"objectDeleted":true')
    // The other tenant's file still exists.
    const asset = await edge.send('GET', `/knowledge-spaces/${first().space}/documents/${held.body.asset.id}`, {
      token: first().token,
    })
    expect(asset.status).toBe(200)
    const left = readdirSync(join(edge.dataDir, 'objects'), { recursive: true }).map(String)
    expect(left.filter((name) => name.endsWith(known))).toHaveLength(1)
  })

  test.runIf(isFile)('cause the same SQL statements as unknown bytes when a second tenant uploads them', async () => {
    // Compilation runs in the background, at its own time, and writes to other tables.
    const insertsOf = async (tenant: Tenant, text: string, name: string) => {
      await until(async () => (await edge.engine.activity()).activeJobs === 0)
      const statements = await statementsDuring(() => upload(tenant, text, name))
      return statements.filter((sql) => /^INSERT INTO (staged_commits|objects|documents|jobs)\b/.test(sql))
    }
    await insertsOf(first(), bytes(1000), 'known.md')
    const known = await insertsOf(second(), bytes(1000), 'known.md')
    expect(known.length).toBeGreaterThan(2)
    expect(known).toEqual(await insertsOf(second(), bytes(2000), 'fresh.md'))
  })
})

/** An answer without the values that always differ. */
function shapeOf(value: unknown): unknown {
  const text = JSON.stringify(value)
    .replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, '<id>')
    .replace(/[0-9a-f]{64}/g, '<hash>')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>')
    .replace(/(same|fresh)\.md/g, '<name>')
    .replace(/[0-9a-f]{24}\/sha256\/[0-9a-f]{2}/g, '<place>')
    .replace(/"(\w*[Ss]izeBytes|size|revision|publicationId|bulkJobId)":[^,}]+/g, '"$1":0')
  return JSON.parse(text)
}

describe('A21: random searches by several tenants', () => {
  const words = ['harbour', 'pass', 'kept', 'number', 'office', 'spring', 'master', 'notes', 'renewed']
  const random = generator(20261122)
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T

  test('return no data of another tenant in an answer, trace, search or grep', async () => {
    let asked = 0
    for (let n = 0; n < 150; n++) {
      const { token, space, secret } = pick(tenants)
      const query = `${pick(words)} ${pick(MARKERS)} ${pick(words)} ${pick(MARKERS)} ${n}?`
      const mode = pick(['fast', 'deep', 'research'])
      const topK = pick([1, 2, 50])
      const { status, text, trace } = await ask(token, { knowledgeSpaceId: space, query, mode })
      expect(status).toBe(200)
      const at = [`/queries/${trace}`, `/queries/${trace}/evidence`, `/queries/${trace}/missing`]
      const reads = await Promise.all(at.map((path) => edge.send('GET', path, { token })))
      const search = { query, limit: topK }
      const found = await edge.send('POST', `/knowledge-spaces/${space}/queries/search`, { token, json: search })
      const grep = `/knowledge-spaces/${space}/fs/grep?path=/knowledge/documents&q=${pick(MARKERS)}&limit=50`
      const texts = [text, ...(await Promise.all([...reads, found].map((one) => one.text())))]
      texts.push(await (await edge.send('GET', grep, { token })).text())
      for (const one of texts) expect(foreign(one, secret)).toEqual([])
      asked++
    }
    expect(asked).toBe(150)
  })

  test('find the secret that the searching tenant has stored', async () => {
    for (const { token, space, marker, secret } of tenants)
      expect((await ask(token, { knowledgeSpaceId: space, query: `Who keeps the ${marker} pass?` })).text).toContain(
        secret,
      )
  })
})

/** A deterministic generator of numbers from 0 to 1. */
function generator(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

describe('A22: counts, names and ids', () => {
  test("another tenant's data appears in no status, list, cluster or refusal", async () => {
    const { token } = await createToken(edge.dataDir, {
      tenant: 'newcomer',
      subject: 'eve',
      scopes: ['knowledge-spaces:*'] as const,
    })
    expect(await bodyOf(await edge.send('GET', '/knowledge-spaces', { token }))).toMatchObject({ items: [] })
    const status = await bodyOf<Record<string, unknown>>(await edge.send('GET', '/daemon/status', { token }))
    expect(JSON.stringify(status)).not.toMatch(/tenant-|Space of/)
    expect(status).not.toHaveProperty('memory')
    const { space } = first()
    const random = crypto.randomUUID()
    const at = (id: string) =>
      [
        '',
        '/manifest',
        '/status',
        '/stats',
        '/retrieval-profile',
        '/documents',
        '/sources',
        '/failed-queries',
        '/failed-queries/clusters',
        '/quality/traces',
        '/golden-questions',
        '/graph/entities',
        '/conflicts',
        '/fs/ls?path=/knowledge&limit=50',
      ].map((path) => `/knowledge-spaces/${id}${path}`)
    for (const [n, path] of at(space).entries()) {
      const [there, nowhere] = await Promise.all(
        [path, at(random)[n] ?? ''].map((one) => edge.send('GET', one, { token })),
      )
      expect(there?.status, path).toBe(404)
      expect((await there?.text())?.replaceAll(space, '<id>')).toBe((await nowhere?.text())?.replaceAll(random, '<id>'))
    }
  })

  test('ids of new sources contain random bits, so that no id can be computed from another', async () => {
    const { token, space } = first()
    const made = await Promise.all(
      Array.from({ length: 40 }, async (_, n) => {
        const source = { name: `S${n}`, type: 'upload', uri: 'upload:x', permissionScope: [], metadata: {} }
        const path = `/knowledge-spaces/${space}/sources`
        return (await bodyOf<{ id: string }>(await edge.send('POST', path, { token, json: source }))).id
      }),
    )
    expect(
      made.every((id) => /^[0-9a-f]{8}-[0-9a-f]{4}-[47][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(id)),
    ).toBe(true)
    // The last 62 bits are random: no two ids share the upper half of them, and they do not count up.
    const tails = made.map((id) => BigInt(`0x${id.slice(19).replaceAll('-', '')}`) & ((1n << 62n) - 1n))
    expect(new Set(tails.map((tail) => tail >> 31n)).size).toBe(made.length)
    const steps = tails.slice(1).map((tail, n) => tail - (tails[n] ?? 0n))
    expect(steps.filter((step) => step > -(1n << 31n) && step < 1n << 31n)).toEqual([])
  })
})
