import { createHash } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { AnswerTrace } from '../../src/contract/gateway/queries.js'
import { bodyOf, startEdge, type TestEdge } from '../helpers/daemon.js'
import { rowsOf } from '../helpers/databases.js'
import { startEngine, type TestEngine } from '../helpers/engine.js'
import { type FakeOpenAi, startFakeOpenAi } from '../helpers/fake-openai.js'
import { until } from '../helpers/until.js'

const MODEL = { pluginId: 'openai-compatible', provider: 'acme', model: 'chat' }

/** answer and reported name of the fake model */
const model: { answer: string; served?: string } = { answer: 'An answer.' }
let fake: FakeOpenAi
let engine: TestEngine
let edge: TestEdge

beforeAll(async () => {
  fake = await startFakeOpenAi({
    answer: () => model.answer,
    get responseModel() {
      return model.served ?? 'chat-2025'
    },
  })
  engine = await startEngine({ providers: [{ ...MODEL, baseUrl: fake.url }] })
  edge = await startEdge({ engine: engine.engine })
})
afterAll(async () => {
  await edge.end()
  await engine.end()
  await fake.close()
})

interface Uploaded {
  asset: { id: string }
  compilationJob: { id: string }
}

const send = (method: string, path: string, json?: unknown) =>
  edge.send(method, path, { token: edge.tokens.ada, ...(json === undefined ? {} : { json }) })

async function space(slug: string): Promise<string> {
  return (await bodyOf<{ id: string }>(await send('POST', '/knowledge-spaces', { name: slug, slug }))).id
}

async function upload(spaceId: string, filename: string, text: string): Promise<Uploaded> {
  const body = new FormData()
  body.append('file', new File([text], filename))
  return bodyOf(await edge.send('POST', `/knowledge-spaces/${spaceId}/documents`, { token: edge.tokens.ada, body }))
}

const job = async (id: string) => bodyOf<{ stage: string; documentAssetId: string }>(await send('GET', `/jobs/${id}`))

const ended = (id: string) => until(async () => ['published', 'failed', 'canceled'].includes((await job(id)).stage))

/** One row of the database, as another program would read it. */
function row<T>(sql: string, ...values: (string | null)[]): T | undefined {
  return rowsOf(engine.dataDir).get<T>(sql, ...values)
}

async function profile(spaceId: string, changes: object): Promise<void> {
  const path = `/knowledge-spaces/${spaceId}/retrieval-profile`
  const { revision: _, ...body } = await bodyOf<{ revision: number }>(await send('GET', path))
  expect((await send('PUT', path, { ...body, ...changes })).status).toBe(200)
}

describe('a job', () => {
  test('keeps its final state after its document and the rows of the document were deleted', async () => {
    const id = await space('deleted-later')
    const first = await upload(id, 'a.md', '# One\n\nFirst text.')
    await ended(first.compilationJob.id)
    await send('DELETE', `/knowledge-spaces/${id}/documents/bulk`, { documentIds: [first.asset.id] })
    await until(() => row('SELECT 1 FROM documents WHERE id = ?', first.asset.id) === undefined)
    expect((await job(first.compilationJob.id)).documentAssetId).toBe(first.asset.id)
  })

  test('whose document is deleted right after the upload leaves no commit in progress', async () => {
    const id = await space('deleted-early')
    const { asset, compilationJob } = await upload(id, 'a.md', '# A\n\nSome text.')
    const answer = await send('DELETE', `/knowledge-spaces/${id}/documents/bulk`, { documentIds: [asset.id] })
    const { items } = await bodyOf<{ items: { objectDeleted: boolean }[] }>(answer)
    expect(items[0]?.objectDeleted).toBe(true)
    const commit = row<{ status: string }>('SELECT status FROM staged_commits WHERE job_id = ?', compilationJob.id)
    expect({ published: 'published', canceled: 'canceled' }[(await job(compilationJob.id)).stage]).toBe(commit?.status)
  })
})

test('an upload into a space that is deleted at the same time leaves neither bytes nor a commit in progress', async () => {
  const id = await space('deleted-meanwhile')
  const caller = { tenant: 'tenant-a', subject: 'ada' }
  const parts = await engine.engine.documents.upload(caller, id, { many: false })
  await parts.add({ filename: 'a.md', content: Readable.from([Buffer.from('# Only here\n\nNobody else has this.')]) })
  const committed = parts.commit({})
  const removed = send('DELETE', `/knowledge-spaces/${id}`)
  expect((await removed).status).toBe(204)
  await expect(committed).rejects.toMatchObject({ code: 'not-found' })
  const commit = row<{ status: string; published_object_key: string }>(
    `SELECT status, published_object_key FROM staged_commits WHERE status IN ('object-staged', 'failed-terminal')
     ORDER BY id DESC`,
  )
  if (commit !== undefined) expect(commit.status).toBe('failed-terminal')
  const digest = createHash('sha256').update('# Only here\n\nNobody else has this.').digest('hex')
  await until(() =>
    readdirSync(join(engine.dataDir, 'objects'), { recursive: true }).every((name) => !String(name).endsWith(digest)),
  )
})

describe('a query', () => {
  test('whose model breaks off ends with an error event and a trace with the failed step', async () => {
    const id = await space('broken-model')
    await ended((await upload(id, 'a.md', '# Tides\n\nThe moon raises the tides of the sea.')).compilationJob.id)
    await profile(id, { reasoningModel: MODEL })
    model.answer = 'The moon raises the tides [1]. The tides'
    // One sentence must be complete by then: otherwise a quotation replaces the answer.
    fake.script({ kind: 'reset-after', deltas: 7 })
    const stream = await send('POST', '/queries', { knowledgeSpaceId: id, query: 'What raises the tides?' })
    const frames = (await stream.text()).split('\n\n').filter((frame) => frame !== '')
    expect(frames.at(-1)).toMatch(/^event: answer\.error\n/)
    const traceId = stream.headers.get('x-query-run-id') ?? ''
    const answer = await send('GET', `/queries/${traceId}`)
    expect(answer.status).toBe(200)
    const trace = await bodyOf<AnswerTrace>(answer)
    expect(trace).toMatchObject({ id: traceId, mode: 'fast' })
    expect(trace).not.toHaveProperty('evidenceBundleId')
    expect(trace.steps.map(({ name, status }) => `${name} ${status}`)).toEqual([
      'query.route ok',
      'query.embed ok',
      'query.retrieve ok',
      'query.generate error',
    ])
    for (const list of ['evidence', 'conflicts', 'missing'])
      expect(await bodyOf(await send('GET', `/queries/${traceId}/${list}`))).toMatchObject({ items: [] })
    expect((await edge.send('GET', `/queries/${traceId}`, { token: edge.tokens.carol })).status).toBe(404)
  })

  test('in mode auto without a reasoning model runs in the default mode of the space', async () => {
    const id = await space('no-router')
    for (const defaultMode of ['deep', 'research'] as const) {
      await profile(id, { defaultMode })
      const stream = await send('POST', '/queries', { knowledgeSpaceId: id, query: 'Anything?', mode: 'auto' })
      expect(stream.status).toBe(200)
      await stream.text()
      const trace = await bodyOf<AnswerTrace>(await send('GET', `/queries/${stream.headers.get('x-query-run-id')}`))
      expect(trace).toMatchObject({ mode: defaultMode })
      expect(trace.steps[0]?.metadata).toMatchObject({
        requestedMode: 'auto',
        resolver: 'fallback',
        degraded: true,
        errorClass: 'reasoning-model-unavailable',
      })
    }
  })
})

describe('mode auto', () => {
  const route = async (id: string) => {
    const stream = await send('POST', '/queries', { knowledgeSpaceId: id, query: 'What is it?', mode: 'auto' })
    await stream.text()
    const trace = await bodyOf<AnswerTrace>(await send('GET', `/queries/${stream.headers.get('x-query-run-id')}`))
    return trace.steps[0]?.metadata
  }

  test('F41: uses the mode that the reasoning model selects, unless a different model answered', async () => {
    const id = await space('routed')
    await profile(id, { reasoningModel: MODEL })
    model.answer = '{"mode": "fast"}'
    for (const served of ['chat', 'org/Chat-2025-01-31', undefined]) {
      model.served = served
      expect(await route(id)).toMatchObject({ resolver: 'llm', resolvedMode: 'fast', degraded: false })
    }
    model.served = 'other-model'
    const mismatch = {
      resolver: 'fallback',
      resolvedMode: 'fast',
      degraded: true,
      errorClass: 'model-identity-mismatch',
    }
    expect(await route(id)).toMatchObject(mismatch)
    model.served = undefined
    for (const answer of ['fast', '{"mode": "turbo"}', '{}', '']) {
      model.answer = answer
      expect(await route(id)).toMatchObject({
        ...mismatch,
        errorClass: expect.stringMatching(/^invalid-reply|provider-failed$/),
      })
    }
    fake.script({ kind: 'status', status: 401 })
    expect(await route(id)).toMatchObject({ ...mismatch, errorClass: 'provider-failed' })
  })
})

test('an expired session is deleted with its questions and answers', async () => {
  const id = await space('expired')
  await ended((await upload(id, 'a.md', '# Owls\n\nOwls hunt at night.')).compilationJob.id)
  const stream = await send('POST', '/queries', { knowledgeSpaceId: id, query: 'When do owls hunt?' })
  await stream.text()
  const session = stream.headers.get('x-session-id')
  const turns = () => row<{ n: number }>('SELECT count(*) n FROM session_turns WHERE session_id = ?', session)?.n
  expect(turns()).toBe(1)
  await rowsOf(engine.dataDir).run('UPDATE sessions SET expires_at = 1 WHERE id = ?', session)
  await upload(id, 'b.md', '# Bats\n\nSo do bats.') // Other work makes the runner check for due tasks.
  await until(() => turns() === 0)
})

describe('an id in upper case', () => {
  test('works in a path and in a body', async () => {
    const id = (await space('capitals')).toUpperCase()
    const path = `/knowledge-spaces/${id}`
    expect((await bodyOf<{ id: string }>(await send('GET', path))).id).toBe(id.toLowerCase())
    expect((await send('POST', '/queries', { knowledgeSpaceId: id, query: 'Anything?' })).status).toBe(200)
  })
})

test('a slug and a model name have no length limit in documented responses', async () => {
  const slug = `a${'-b'.repeat(300)}`
  expect((await send('POST', '/knowledge-spaces', { name: 'Long', slug })).status).toBe(201)
  const model = { pluginId: 'builtin', provider: 'lsa', model: 'm'.repeat(300) }
  expect((await send('POST', '/knowledge-spaces', { name: 'M', slug: 'm', embeddingProfile: model })).status).toBe(503)
})

describe('documented rules of paths, times and active documents', () => {
  test('a malformed key of missing evidence gets 400, a malformed id gets 404', async () => {
    const id = await space('keys')
    const missing = (traceId: string, key: string) => `/knowledge-spaces/${id}/quality/traces/${traceId}/missing/${key}`
    const [trace, key] = ['018f0000-0000-7000-8000-000000000000', `sha256:${'a'.repeat(64)}`]
    const body = { expectedRevision: 0, status: 'active' }
    for (const wrong of ['x', `sha256:${'A'.repeat(64)}`, `sha256:${'a'.repeat(63)}`]) {
      expect((await send('PATCH', missing(trace, wrong), body)).status).toBe(400)
      expect((await send('GET', `${missing(trace, wrong)}/history`)).status).toBe(400)
    }
    expect((await send('PATCH', missing('x', 'x'), body)).status).toBe(404)
    expect((await send('PATCH', missing(trace, key), body)).status).toBe(404)
  })

  test('a time with an offset counts as that instant', async () => {
    const id = await space('times')
    const asked = await send('POST', '/queries', { knowledgeSpaceId: id, query: 'Is anybody here?' })
    await asked.text()
    const listed = async (query: string) => {
      const response = await send('GET', `/knowledge-spaces/${id}/quality/traces?${query}`)
      return (await bodyOf<{ items: unknown[] }>(response)).items.length
    }
    // The clock is two hours ahead of UTC: its time in an hour is an hour ago in UTC.
    const clock = new Date(Date.now() + 60 * 60 * 1000).toISOString().replace('Z', '')
    expect(await listed(`from=${encodeURIComponent(`${clock}+02:00`)}`)).toBe(1)
    expect(await listed(`to=${encodeURIComponent(`${clock}+02:00`)}`)).toBe(0)
  })

  test('an unknown active document is refused', async () => {
    const id = await space('active')
    const activeDocumentIds = ['018f0000-0000-7000-8000-000000000000']
    const asked = await send('POST', '/queries', { knowledgeSpaceId: id, query: 'Is anybody here?', activeDocumentIds })
    expect(asked.status).toBe(404)
  })
})
