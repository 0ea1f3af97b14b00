import { readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { AcceptedDocument } from '../../src/contract/gateway/documents.js'
import { type GatewayRoute, gatewayRoutes } from '../../src/contract/gateway/routes.js'
import type { RouteDefinition, RouteResult } from '../../src/contract/route.js'
import { type EdgeRequest, startEdge, type TestEdge } from '../helpers/daemon.js'
import { startNotion } from '../helpers/places/notion.js'
import type { RemoteServer } from '../helpers/places/place.js'
import { startS3 } from '../helpers/places/s3.js'
import { page, startSite } from '../helpers/site.js'
import { until } from '../helpers/until.js'

const routes: readonly RouteDefinition[] = gatewayRoutes
const DOCUMENT =
  '# Tides\n\nThe moon pulls the sea.\n\n## Spring tides\n\nSun and moon in line pull the highest tides of the month.\n\n| Port | Range |\n| --- | --- |\n| Brest | 6 m |\n'

let edge: TestEdge
const called = new Set<string>()
/** ids from earlier calls for later ones */
const made = { space: '', document: '', other: '', job: '', bulk: '', trace: '', item: '', task: '' }

beforeAll(async () => {
  edge = await startEdge({ settings: { egressAllow: ['127.0.0.2'] } })
})
afterAll(() => edge.end())

type RouteOf<Id extends GatewayRoute['id']> = Extract<GatewayRoute, { id: Id }>
interface Streamed {
  headers: Headers
  frames: { event: string; data: { traceId: string } }[]
}
type Answer<Id extends GatewayRoute['id']> = Id extends 'query' | 'querySpaces' | 'streamResearchEvents'
  ? Streamed
  : Id extends 'getMultimodalAsset'
    ? Uint8Array
    : Id extends 'uploadDocument'
      ? AcceptedDocument // Compilation is durable here, not inline.
      : RouteResult<RouteOf<Id>>

/** Calls an operation as its route describes it, and checks status, type and body of the response. */
async function call<Id extends GatewayRoute['id']>(
  id: Id,
  values: Record<string, string> = {},
  sent: EdgeRequest & { query?: Record<string, string> } = {},
): Promise<Answer<Id>> {
  return (await checkedCall(id, values, sent)) as Answer<Id>
}

/** HEAD is GET without the body. */
async function checkHead(target: string, sent: EdgeRequest, get: Response): Promise<void> {
  const head = await edge.send('HEAD', target, { token: edge.tokens.ada, ...sent })
  expect([head.status, await head.text()]).toEqual([get.status, ''])
  expect(head.headers.get('content-type')).toBe(get.headers.get('content-type'))
  const isStream = /^(text\/event-stream|application\/x-tar)/.test(get.headers.get('content-type') ?? '')
  if (isStream) expect(head.headers.get('content-length')).toBeNull()
  else expect(Number(head.headers.get('content-length'))).toBeGreaterThan(0)
}

async function checkedCall(
  id: string,
  values: Record<string, string>,
  sent: EdgeRequest & { query?: Record<string, string> },
): Promise<unknown> {
  const route = routes.find((each) => each.id === id)!
  const path = route.path.replace(/\{(\w+)\}/g, (_whole, name: string) => encodeURIComponent(values[name] ?? ''))
  const query = sent.query === undefined ? '' : `?${new URLSearchParams(sent.query)}`
  const response = await edge.send(route.method, path + query, { token: edge.tokens.ada, ...sent })
  const body = route.ok[response.status]
  if (body === undefined) throw new Error(`${id} answered ${response.status}: ${await response.text()}`)
  called.add(id)
  const type = response.headers.get('content-type')
  if (route.method === 'GET') await checkHead(path + query, sent, response)
  if (body === 'empty') {
    expect(await response.text()).toBe('')
    return undefined
  }
  if (body === 'binary') {
    expect(type).toBe(route.streamed === true ? route.binary?.[0] : 'application/octet-stream')
    return new Uint8Array(await response.arrayBuffer())
  }
  if (body === 'text') {
    expect(type).toBe(route.text)
    return await response.text()
  }
  if (body === 'event-stream') {
    expect(type).toBe('text/event-stream; charset=utf-8')
    return { headers: response.headers, frames: parseFrames(await response.text(), route) }
  }
  expect(type).toBe('application/json')
  const value = await response.json()
  expect(body.safeParse(value).error).toBeUndefined()
  return value
}

function parseFrames(text: string, route: RouteDefinition) {
  return text
    .split('\n\n')
    .filter((block) => block !== '' && !block.startsWith(':'))
    .map((block) => {
      const [first, second, ...rest] = block.split('\n').filter((line) => !line.startsWith('id: '))
      expect(rest).toEqual([])
      const event = first!.replace(/^event: /, '')
      const data = JSON.parse(second!.replace(/^data: /, ''))
      expect(route.events?.[event]?.safeParse(data).error).toBeUndefined()
      return { event, data }
    })
}

function form(files: [name: string, text: string][], field: string): FormData {
  const data = new FormData()
  for (const [name, text] of files) data.append(field, new File([text], name))
  return data
}

describe('responses of operations', () => {
  test('match their documented shape for spaces', async () => {
    const body = { name: 'Sea', slug: 'sea', description: 'All about the sea' }
    const space = await call('createKnowledgeSpace', {}, { json: body })
    expect(space).toMatchObject({ ...body, tenantId: 'tenant-a' })
    made.space = space.id
    const id = { id: made.space }
    expect((await call('listKnowledgeSpaces')).items).toEqual([space])
    expect(await call('getKnowledgeSpace', id)).toEqual(space)
    expect(await call('updateKnowledgeSpace', id, { json: { name: 'Ocean' } })).toMatchObject({
      name: 'Ocean',
      slug: 'sea',
    })
    await call('getKnowledgeSpaceManifest', id)
    const model = { pluginId: 'builtin', provider: 'lsa', model: 'lsa-200' }
    await call('setEmbeddingProfile', id, { json: model })
    const { id: migrationId } = await call('startEmbeddingMigration', id, { json: model })
    const migration = () => call('getEmbeddingMigration', { ...id, migrationId })
    await until(async () => (await migration()).state === 'published')
    await call('getKnowledgeSpaceStatus', id)
    await call('getKnowledgeSpaceStats', id, { query: { windowMinutes: '5' } })
    const { revision, ...profile } = await call('getRetrievalProfile', id)
    expect((await call('setRetrievalProfile', id, { json: profile })).revision).toBe(revision + 1)
    // An omitted key resets its value to the default.
    const least = { defaultMode: 'fast', modes: ['fast', 'deep', 'research'], topK: 10, scoreThreshold: 0 }
    expect(await call('setRetrievalProfile', id, { json: least })).toEqual({ ...profile, revision: revision + 2 })
  })

  test('match their documented shape for documents and jobs', async () => {
    const id = { id: made.space }
    const uploaded = await call('uploadDocument', id, { body: form([['folder/tides.md', DOCUMENT]], 'file') })
    expect(uploaded.asset.filename).toBe('folder/tides.md')
    expect(uploaded.statusUrl).toBe(`/jobs/${uploaded.compilationJob.id}`)
    made.document = uploaded.asset.id
    made.job = uploaded.compilationJob.id
    const bulk = await call('uploadDocuments', id, {
      body: form(
        [
          ['a.md', '# A\n\nOne.'],
          ['b.md', '# B\n\nTwo.'],
        ],
        'files',
      ),
    })
    expect(bulk.total).toBe(2)
    made.bulk = bulk.bulkJobId
    made.other = bulk.items[0].asset.id
    await until(async () => (await call('getJob', { id: made.job })).stage === 'published')
    await until(async () => (await call('getBulkJob', { id: made.bulk })).status === 'completed')
    const document = { ...id, documentId: made.document }
    expect((await call('listDocuments', id)).items).toHaveLength(3)
    expect(await call('getDocument', document)).toMatchObject({ parserStatus: 'parsed', version: 1 })
    await call('getParseArtifact', { ...document, version: '1' })
    expect((await call('getDocumentOutline', document)).nodes).not.toEqual([])
    const { items } = await call('getMultimodalManifest', document)
    made.item = items[0].id
    const sha256 = uploaded.asset.sha256
    const checked = await call('checkDocuments', id, { json: { items: [{ filename: 'folder/tides.md', sha256 }] } })
    expect(checked.items).toMatchObject([{ status: 'unchanged', documentId: made.document }])
    await call('recordSkippedFiles', id, { json: { files: [{ filename: 'empty.md', reason: 'the file is empty' }] } })
    expect((await call('listSkippedFiles', id)).items).toMatchObject([{ filename: 'empty.md' }])
  })

  test('match their documented shape for the bytes of a picture', async () => {
    const id = { id: made.space }
    const data = new FormData()
    const fixture = new URL('../fixtures/docs/contains-pictures.docx', import.meta.url)
    data.append('file', new File([readFileSync(fixture)], 'pictures.docx'))
    const { asset, compilationJob } = await call('uploadDocument', id, { body: data })
    await until(async () => (await call('getJob', { id: compilationJob.id })).stage === 'published')
    const document = { ...id, documentId: asset.id }
    const { items } = await call('getMultimodalManifest', document)
    const picture = items.find((item) => item.assetRef !== undefined)!
    expect((await call('getMultimodalAsset', { ...document, itemId: picture.id })).byteLength).toBeGreaterThan(100)
  })

  test('match their documented shape for a reindex and a finished job', async () => {
    const listed = await call('listJobs', { id: made.space }, { query: { limit: '1' } })
    expect(listed.items).toMatchObject([{ stage: 'published', filename: expect.any(String), attempts: 0 }])
    expect((await call('listJobs', { id: made.space }, { query: { state: 'failed' } })).items).toEqual([])
    expect(await call('retryFailedJobs', { id: made.space })).toMatchObject({ total: 0, jobs: [] })
    const reindexed = await call('reindexDocuments', { id: made.space }, { json: { documentIds: [made.other] } })
    expect(reindexed.items).toMatchObject([{ status: 'queued' }])
    const [item] = reindexed.items
    const job = item !== undefined && 'compilationJob' in item ? item.compilationJob.id : ''
    const response = await edge.send('DELETE', `/jobs/${job}`, { token: edge.tokens.ada })
    expect([200, 409]).toContain(response.status)
    const over = await edge.send('DELETE', `/jobs/${made.job}`, { token: edge.tokens.ada })
    expect({ status: over.status, code: over.headers.get('x-error-code') }).toEqual({
      status: 409,
      code: 'already-terminal',
    })
  })

  test('match their documented shape for queries and traces', async () => {
    const json = { knowledgeSpaceId: made.space, query: 'What pulls the highest tides?' }
    const { headers, frames } = await call('query', {}, { json })
    expect(frames.at(-1)).toMatchObject({ event: 'answer.done', data: { finishReason: 'retrieval-evidence' } })
    made.trace = headers.get('x-query-run-id')!
    expect(headers.get('x-session-id')).toMatch(/^[0-9a-f-]{36}$/)
    expect(new Set(frames.map((frame) => frame.data.traceId))).toEqual(new Set([made.trace]))
    const trace = { traceId: made.trace }
    expect(await call('getTrace', trace)).toMatchObject({ id: made.trace, query: json.query })
    expect((await call('listTraceEvidence', trace)).items).not.toEqual([])
    await call('listTraceConflicts', trace)
    await call('listTraceMissing', trace)
    const found = await call('searchSpace', { id: made.space }, { json: { query: json.query } })
    expect(found.items[0]).toMatchObject({ citations: [{ documentAssetId: made.document }] })
    const several = { knowledgeSpaceIds: [made.space], query: json.query }
    const streamed = await call('querySpaces', {}, { json: several })
    expect(streamed.headers.get('x-session-id')).toBeNull()
    expect(streamed.frames.at(-1)).toMatchObject({
      event: 'answer.done',
      data: { metadata: { citations: [{ knowledgeSpaceId: made.space }], spaces: [{ knowledgeSpaceId: made.space }] } },
    })
    const over = await call('searchSpaces', {}, { json: several })
    expect(over.items[0]).toMatchObject({ citations: [{ knowledgeSpaceId: made.space }] })
    const asked = { traceId: made.trace, documentId: made.document }
    expect((await call('explainQuery', { id: made.space }, { json: asked })).verdict).toBe('shown')
  })

  test('match their documented shape for quality traces and missing evidence', async () => {
    const id = { id: made.space }
    const json = { knowledgeSpaceId: made.space, query: 'Who conducts the orchestra of Vienna?' }
    const { headers } = await call('query', {}, { json })
    const traceId = headers.get('x-query-run-id')!
    const { items } = await call('listQualityTraces', id, { query: { status: 'completed', query: ' ORCHESTRA ' } })
    expect(items).toMatchObject([{ id: traceId, completed: true, evidenceState: 'not-enough-evidence' }])
    expect(items[0]?.stages.map(({ name }) => name)).toContain('query.retrieve')
    const lacked = (await call('listTraceMissing', { traceId })).items[0]!
    const item = { ...id, traceId, itemKey: String(lacked.metadata.itemKey) }
    const review = { expectedRevision: 0, status: 'dismissed', reason: 'foreign' }
    expect(await call('reviewMissingEvidence', item, { json: review })).toMatchObject({ revision: 1 })
    expect((await call('listMissingEvidenceHistory', item)).items).toMatchObject([{ action: 'dismiss' }])
  })

  test('match their documented shape for golden questions', async () => {
    const id = { id: made.space }
    const question = await call('createGoldenQuestion', id, { json: { question: 'What pulls the sea?' } })
    expect(question).toMatchObject({ expectedEvidenceIds: [], tags: [], metadata: {} })
    const one = { ...id, questionId: question.id }
    expect((await call('listGoldenQuestions', id)).items).toEqual([question])
    expect(await call('getGoldenQuestion', one)).toEqual(question)
    expect(await call('updateGoldenQuestion', one, { json: { tags: ['sea'] } })).toMatchObject({ tags: ['sea'] })
    const annotation = {
      answerCorrectness: 'correct',
      evidenceRelevance: [{ evidenceId: made.document, relevant: true }],
    }
    const annotated = await call('annotateGoldenQuestion', one, { json: annotation })
    expect(annotated.metadata).toMatchObject({ annotation })
    const run = await call('createGoldenRun', id, { json: { mode: 'fast' } })
    const started = { ...id, runId: run.id }
    await until(async () => (await call('getGoldenRun', started)).status === 'completed')
    expect((await call('listGoldenRuns', id)).items).toMatchObject([{ id: run.id, done: 1 }])
    expect((await call('listGoldenRunResults', started)).items).toMatchObject([{ id: question.id }])
    await call('deleteGoldenRun', started)
    await call('deleteGoldenQuestion', one)
    const bad = await call('createProductionBadCase', id, { json: { traceId: made.trace, reason: 'stale' } })
    expect(bad.expectedEvidenceIds).not.toEqual([])
  })

  test('match their documented shape for failed queries', async () => {
    const id = { id: made.space }
    await until(async () => (await call('listFailedQueries', id)).items.length > 0)
    const [failed] = (await call('listFailedQueries', id, { query: { status: 'pending-triage' } })).items
    expect(failed).toMatchObject({ trigger: 'no-retrieval-evidence', mode: 'fast' })
    expect((await call('listFailedQueryClusters', id)).clusters).toMatchObject([{ failedQueryIds: [failed!.id] }])
    expect(await call('triageFailedQueries', id, { query: { limit: '10' } })).toMatchObject({ triaged: 1 })
    const verdict = { verdict: 'retrieval-miss', expectedEvidenceIds: [made.document], note: '' }
    const decided = await call('decideFailedQuery', { ...id, failedQueryId: failed!.id }, { json: verdict })
    expect(decided.status).toBe('promoted')
    expect(await call('getFailedQueryMetrics', id)).toMatchObject({ total: 1, promotionRate: 1 })
  })

  test('match their documented shape for the virtual file system', async () => {
    const id = { id: made.space }
    const query = { path: '/sources', limit: '10' }
    await call('fsLs', id, { query })
    await call('fsTree', id, { query: { ...query, depth: '4' } })
    const found = await call('fsFind', id, { query: { ...query, nameContains: 'tides' } })
    expect(found.items).not.toEqual([])
    expect((await call('fsGrep', id, { query: { ...query, q: 'moon' } })).matches).not.toEqual([])
    expect((await call('fsCat', id, { query: { path: found.items[0].path } })).content).toContain('moon')
  })

  test('match their documented shape for workspaces and snapshots', async () => {
    const id = { id: made.space }
    const session = { knowledgeSpaceId: made.space, query: 'What pulls the highest tides?' }
    await call('query', {}, { json: session })
    const path = '/workspaces/audit/notes.md'
    const json = { path, content: '# Notes\n\nAsk about the moon.' }
    expect(await call('fsWrite', id, { json })).toMatchObject({ path, version: 1, resourceType: 'workspace' })
    const query = { path: '/workspaces', limit: '10' }
    expect((await call('fsGrep', id, { query: { ...query, q: 'moon' } })).matches).toMatchObject([{ path }])
    const body = { knowledgeSpaceId: made.space, workspace: 'audit', name: 'first' }
    const snapshot = await call('createWorkspaceSnapshot', {}, { json: body })
    expect(snapshot).toMatchObject({ workspace: 'audit', name: 'first', fileCount: 1, createdBy: 'ada' })
    const one = { snapshotId: snapshot.id }
    expect((await call('listWorkspaceSnapshots', {}, { query: { knowledgeSpaceId: made.space } })).items).toEqual([
      snapshot,
    ])
    const detail = await call('getWorkspaceSnapshot', one)
    expect(detail).toMatchObject({ files: [{ path: 'notes.md' }], queries: expect.arrayContaining([]) })
    expect(detail.queries.at(-1)?.query).toBe(session.query)
    const replay = await call('replayWorkspaceSnapshot', one)
    expect(replay).toMatchObject({ summary: { queries: detail.queries.length, added: 0, lost: 0 } })
    const moved = { oldPath: '/workspaces/audit', newPath: '/workspaces/done' }
    expect(await call('fsMv', id, { json: moved })).toEqual({ ...moved, files: 1 })
    expect(await call('fsRm', id, { query: { path: '/workspaces/done', recursive: 'true' } })).toMatchObject({
      files: 1,
    })
    expect((await call('readWorkspaceSnapshotFile', one, { query: { path: 'notes.md' } })).content).toBe(json.content)
    for (const token of [edge.tokens.bob, edge.tokens.carol])
      for (const part of ['', '/file?path=notes.md', '/replay'])
        expect(
          (
            await edge.send(part === '/replay' ? 'POST' : 'GET', `/agent-workspace-snapshots/${snapshot.id}${part}`, {
              token,
            })
          ).status,
        ).toBe(404)
    await call('deleteWorkspaceSnapshot', one)
  })

  test('match their documented shape for the graph and its views', async () => {
    const id = { id: made.space }
    const extraction = await call('extractEntities', id, { json: { limit: 100 } })
    expect(extraction).toMatchObject({ knowledgeSpaceId: made.space, extractionMode: 'provider' })
    expect(extraction.nodesScanned).toBeGreaterThan(0)
    expect(await call('listSpaceConflicts', id, { query: { limit: '1' } })).toMatchObject({ items: [] })
    const { items } = await call('listGraphEntities', id, { query: { limit: '1', query: 'tides' } })
    const entityId = items[0]?.id ?? ''
    const found = await call('traverseGraph', id, { query: { entityId } })
    expect(found.metrics).toMatchObject({ maxDepth: 2, fanout: 20, maxNodes: 50 })
    expect(found.entities[0]).toMatchObject({ id: entityId, knowledgeSpaceId: made.space, depth: 0 })
    await call('listGraphRelations', id, { query: { entityId } })
    for (const token of [edge.tokens.bob, edge.tokens.ada]) {
      const space = token === edge.tokens.bob ? made.space : made.document
      const answer = await edge.send('GET', `/knowledge-spaces/${space}/graph/traverse?entityId=${entityId}`, { token })
      expect(answer.status).toBe(404)
    }
    const topic = { topicName: 'Spring tides', topicSlug: 'springs', generatedVersion: 'v1' }
    expect(await call('materializeTopic', id, { json: topic })).toMatchObject({
      ...topic,
      documentCount: 1,
      pathCount: 2,
    })
    const communities = await call('materializeCommunities', id, { json: {} })
    expect(communities).toMatchObject({ knowledgeSpaceId: made.space })
    expect((await call('listCommunities', id)).items).toEqual(expect.any(Array))
    const reading = await call('startGraphReading', id, { json: { budgetTokens: 5000 } })
    expect(reading).toMatchObject({ knowledgeSpaceId: made.space, budgetTokens: 5000 })
    expect((await call('listGraphReadings', id)).items).toMatchObject([{ id: reading.id }])
    expect(await call('getGraphReading', { ...id, readingId: reading.id })).toMatchObject({ id: reading.id })
    const listed = await call('fsLs', id, { query: { path: '/knowledge/topics/springs', limit: '10' } })
    expect(listed.items).toMatchObject([{ kind: 'resource', resourceType: 'document', targetId: made.document }])
  })

  test('match their documented shape for sources', async () => {
    const id = { id: made.space }
    const site = await startSite({ '/': page('Start', 'The start of a small site.') })
    const json = {
      name: 'Site',
      type: 'web',
      uri: `${site.url}/`,
      metadata: { credentials: { token: 'top-secret-1' } },
    }
    const source = await call('createSource', id, { json })
    expect(source).toMatchObject({
      status: 'active',
      version: 1,
      permissionScope: [],
      metadata: { tenantId: 'tenant-a' },
    })
    const one = { ...id, sourceId: source.id }
    expect((await call('listSources', id)).items).toEqual([source])
    expect(await call('getSource', one)).toEqual(source)
    const change = { name: 'Small site', expectedVersion: 1 }
    expect(await call('updateSource', one, { json: change })).toMatchObject({ name: 'Small site', version: 2 })
    const late = await edge.send('PATCH', `/knowledge-spaces/${made.space}/sources/${source.id}`, {
      token: edge.tokens.ada,
      json: change,
    })
    expect({ status: late.status, code: late.headers.get('x-error-code') }).toEqual({
      status: 409,
      code: 'version-mismatch',
    })
    expect(await call('testSource', one)).toEqual({ valid: true })
    const crawl = await call('crawlSource', one)
    expect(crawl).toMatchObject({ total: 1, imported: 1, pages: [{ title: 'Start', sourceUrl: `${site.url}/` }] })
    const [document] = (await call('listDocuments', id)).items.filter(({ sourceId }) => sourceId === source.id)
    expect(document?.metadata).toMatchObject({ sourceUrl: `${site.url}/` })
    const form = new FormData()
    form.append('sourceId', source.id)
    form.append('file', new File(['# By hand'], 'hand.md'))
    expect((await call('uploadDocument', id, { body: form })).asset.sourceId).toBe(source.id)
    await site.end()
    await call('deleteSource', one)
    expect((await call('listDocuments', id)).items.filter(({ sourceId }) => sourceId === source.id)).toEqual([])
  })

  test('match their documented shape for research tasks', async () => {
    const json = { knowledgeSpaceId: made.space, query: 'What pulls the sea and which port has the largest range?' }
    const plan = await call('planResearchTask', {}, { json: { ...json, topK: 5, budgetUsd: 1 } })
    expect(plan).toMatchObject({ budget: { exceedsBudget: false, remainingBudgetUsd: 1 }, retrievalPlan: { topK: 5 } })
    const task = await call('createResearchTask', {}, { json: { ...json, limits: { timeoutMs: 60_000 } } })
    expect(task).toMatchObject({ stage: 'queued', tenantId: 'tenant-a', limits: { timeoutMs: 60_000 } })
    const one = { id: task.id }
    const { frames } = await call('streamResearchEvents', one, { query: { limit: '100' } })
    expect(frames.at(-1)?.event).toBe('research.completed')
    expect(await call('getResearchTask', one)).toMatchObject({ stage: 'completed', cost: { totalUsd: 0 } })
    expect((await call('listResearchTasks', {}, { query: { stage: 'completed' } })).items).toMatchObject([one])
    expect((await call('listResearchPartials', one, { query: { limit: '1' } })).items).toMatchObject([{ sequence: 1 }])
    expect((await call('getResearchReport', one)).text).toContain('## Sources')
    const after = await edge.send('DELETE', `/research-tasks/${task.id}`, { token: edge.tokens.ada })
    expect({ status: after.status, code: after.headers.get('x-error-code') }).toEqual({
      status: 409,
      code: 'already-terminal',
    })
    const small = { ...json, limits: { maxRetrievalSteps: 1 } }
    const refused = await edge.send('POST', '/research-tasks', { token: edge.tokens.ada, json: small })
    expect({ status: refused.status, body: await refused.json() }).toEqual({
      status: 422,
      body: {
        error: expect.stringContaining('maxRetrievalSteps is 1'),
        violations: [{ limit: 'maxRetrievalSteps', limitValue: 1, estimatedValue: expect.any(Number) }],
      },
    })
    made.task = task.id
  })

  test('match their documented shape for connectors and drives', async () => {
    const id = { id: made.space }
    const [notion, s3] = await Promise.all([startNotion(), startS3()])
    await notion.put('tides.md', 'The moon pulls the sea.')
    await s3.put('winds.md', '# Winds\n\nThe trade winds blow west.')
    const create = ({ type, uri, metadata }: RemoteServer) =>
      call('createSource', id, { json: { name: type, type, uri, metadata } })
    const documents = { ...id, sourceId: (await create(notion)).id }
    const [workspace] = (await call('listSourcePages', documents)).workspaces
    const { pageName: _, ...page } = workspace!.pages[0]!
    const json = { pages: [{ ...page, workspaceId: workspace!.workspaceId ?? '' }] }
    expect((await call('importSourcePages', documents, { json })).documents).toHaveLength(1)
    expect(await call('importSourcePages', documents, { json })).toEqual({
      documents: [],
      failed: [],
      skipped: [page.pageId],
    })
    const drive = { ...id, sourceId: (await create(s3)).id }
    const query = { bucket: 'docs', prefix: 'notes/', maxKeys: '10' }
    expect(await call('listSourceFiles', drive, { query })).toEqual({
      buckets: [
        {
          bucket: 'docs',
          isTruncated: false,
          files: [{ id: 'notes/winds.md', name: 'winds.md', type: 'file', size: 35 }],
        },
      ],
    })
    const files = [{ id: 'notes/winds.md', name: 'winds.md', bucket: 'docs', mimeType: 'text/markdown' }]
    expect((await call('importSourceFiles', drive, { json: { files } })).documents).toMatchObject([
      { filename: 'notes/winds.md' },
    ])
    await Promise.all([notion.end(), s3.end()])
    await call('deleteSource', documents)
    await call('deleteSource', drive)
  })

  test('match their documented shape for retention policies', async () => {
    const id = { id: made.space }
    const tenant = await call('getTenantRetentionPolicy')
    expect(tenant).toMatchObject({ scope: 'tenant', knowledgeSpaceId: null, rawDocumentRetentionDays: null })
    const days = { rawDocumentRetentionDays: 400 }
    expect(await call('updateTenantRetentionPolicy', {}, { json: days })).toMatchObject({ id: tenant.id, ...days })
    expect(await call('getSpaceRetentionPolicy', id)).toMatchObject({
      scope: 'knowledge_space',
      knowledgeSpaceId: made.space,
      rawDocumentRetentionDays: null,
    })
    const json = { answerTraceRetentionDays: 1, rawDocumentRetentionDays: null }
    expect(await call('updateSpaceRetentionPolicy', id, { json })).toMatchObject(json)
  })

  test('match their documented shape for integrity checks and garbage collection', async () => {
    const id = { id: made.space }
    const report = await call('fsck', id, { query: { check: 'references', deep: 'true' } })
    expect(report).toMatchObject({ knowledgeSpaceId: made.space, tenantId: 'tenant-a', issues: [] })
    const repair = await call('fsckRepair', id, { json: {} })
    expect(repair).toMatchObject({ dryRun: true, items: [] })
    const { candidates } = await call('gcDryRun', id, { query: { stagedObjectPrefix: 'abc/sha256' } })
    expect(await call('gcExecute', id, { json: { candidates } })).toMatchObject({ deleted: 0, skipped: 0, items: [] })
    const { items, nextCursor } = await call('listStagedCommits', id, { query: { limit: '1', status: 'published' } })
    expect(items).toMatchObject([{ status: 'published', operationType: 'document-upload' }])
    await call('listStagedCommits', id, { query: { limit: '1', cursor: nextCursor ?? '' } })
    expect(await call('listActiveLeases', id)).toEqual({ items: [] })
  })

  test('match their documented shape for local files and watched folders', async () => {
    const token = edge.tokens.operator
    const space = await call('createKnowledgeSpace', {}, { token, json: { name: 'Local', slug: 'local' } })
    const id = { id: space.id }
    const file = { filename: 'notes/a.md', path: '/notes/a.md', fingerprint: '1-2-3-4', device: '1', sizeBytes: 3 }
    const sha256 = 'a'.repeat(64)
    const json = { root: '/notes', files: [{ ...file, sha256 }] }
    expect(await call('recordLocalFiles', id, { token, json })).toEqual({ recorded: 1, forgotten: 0 })
    const { items } = await call('listLocalFiles', id, { token, query: { root: '/notes', limit: '1' } })
    expect(items).toEqual([{ ...file, sha256, root: '/notes', documents: [] }])
    const watch = await call('addWatch', {}, { token, json: { knowledgeSpaceId: space.id, folder: tmpdir() } })
    expect((await call('listWatches', {}, { token })).items).toEqual([watch])
    await call('removeWatch', { watchId: watch.id }, { token })
    await call('deleteKnowledgeSpace', id, { token })
  })

  test('match their documented shape for the daemon', async () => {
    await call('getHealth', {}, { token: undefined })
    const described = await call('getOpenapi', {}, { token: undefined })
    expect(described.openapi).toBe('3.1.0')
    expect(await call('getDaemonStatus', {}, { query: { reset: 'true' } })).toMatchObject({ instance: 'test-instance' })
  })

  test('match their documented shape for deletions', async () => {
    const id = { id: made.space }
    await call('streamChanges', {}, { query: { seconds: '1' } })
    const deleted = await call('deleteDocuments', id, { json: { documentIds: [made.other] } })
    expect(deleted.items).toMatchObject([{ documentId: made.other, status: 'deleted' }])
  })
})

describe('A14: the objects of a space', () => {
  test('get 404 for another tenant', async () => {
    const paths = [
      `/knowledge-spaces/${made.space}`,
      `/knowledge-spaces/${made.space}/retention-policy`,
      `/knowledge-spaces/${made.space}/documents/${made.document}`,
      `/knowledge-spaces/${made.space}/documents/${made.document}/outline`,
      `/jobs/${made.job}`,
      `/bulk-jobs/${made.bulk}`,
      `/queries/${made.trace}`,
      ...['', '/partials', '/events', '/report'].map((part) => `/research-tasks/${made.task}${part}`),
      ...[
        'quality/traces',
        'golden-questions',
        'failed-queries',
        'failed-queries/metrics',
        'failed-queries/clusters',
      ].map((path) => `/knowledge-spaces/${made.space}/${path}`),
    ]
    for (const path of paths) expect((await edge.send('GET', path, { token: edge.tokens.bob })).status, path).toBe(404)
    const json = { knowledgeSpaceId: made.space, query: 'tides' }
    expect((await edge.send('POST', '/queries', { token: edge.tokens.bob, json })).status).toBe(404)
    expect(await call('listKnowledgeSpaces', {}, { token: edge.tokens.bob })).toEqual({ items: [] })
  })

  test('A20: get 404 for another subject of the tenant if they are a trace', async () => {
    for (const part of ['', '/evidence', '/conflicts', '/missing'])
      expect((await edge.send('GET', `/queries/${made.trace}${part}`, { token: edge.tokens.carol })).status).toBe(404)
  })

  test('can be imported from a bundle once the space is deleted, but not before', async () => {
    const bundle: unknown = await call('exportBundle', {}, { query: { ids: String(made.space) } })
    if (!(bundle instanceof Uint8Array)) throw new Error('a bundle is bytes')
    const file = () => {
      const body = new FormData()
      body.append('file', new File([bundle], 'bundle.tar'))
      return body
    }
    const path = '/knowledge-spaces/bundle'
    const refused = await edge.send('POST', path, { token: edge.tokens.ada, body: file() })
    expect(refused.status).toBe(409)
    await call('deleteKnowledgeSpace', { id: made.space })
    await until(async () => {
      const again = await edge.send('POST', path, { token: edge.tokens.ada, body: file() })
      return again.status === 200
    })
    called.add('importBundle')
    expect((await call('getKnowledgeSpace', { id: made.space })) as object).toMatchObject({ id: made.space })
  })

  test('get 404 for their owner once the space is deleted', async () => {
    await call('deleteKnowledgeSpace', { id: made.space })
    for (const path of [`/knowledge-spaces/${made.space}`, `/knowledge-spaces/${made.space}/documents`])
      expect((await edge.send('GET', path, { token: edge.tokens.ada })).status).toBe(404)
  })
})

test('every operation of the contract was called by a test of response shapes, except those with a separate test', () => {
  const elsewhere = [
    'cancelEmbeddingMigration',
    'cancelJob',
    'retryJob',
    'revokeToken',
    'cancelResearchTask',
    'getMetrics',
    'cancelGraphReading',
  ]
  expect(routes.map(({ id }) => id).filter((id) => !called.has(id) && !elsewhere.includes(id))).toEqual([])
})
