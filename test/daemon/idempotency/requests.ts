import { tmpdir } from 'node:os'
import type { AcceptedDocument } from '../../../src/contract/gateway/documents.js'
import type { Source } from '../../../src/contract/gateway/sources.js'
import type { Planted } from '../../conformance/planted.js'
import type { EdgeRequest, TestEdge } from '../../helpers/daemon.js'
import { rowsOf } from '../../helpers/databases.js'
import { ADA } from '../../helpers/engine.js'
import { startNotion } from '../../helpers/places/notion.js'
import type { RemoteServer } from '../../helpers/places/place.js'
import { startS3 } from '../../helpers/places/s3.js'
import type { Site } from '../../helpers/site.js'
import { until } from '../../helpers/until.js'

/** A request of one operation that succeeds, and its path values if they are not the planted ones. */
export interface Wanted extends EdgeRequest {
  values?: Record<string, string>
  query?: Record<string, string>
}

/** Creates what a request needs, right before it is sent. */
export type Prepare = (at: Ground) => Promise<Wanted> | Wanted

/** The environment of the requests. */
export interface Ground {
  edge: TestEdge
  planted: Planted
  site: Site
  /** changes rows that no operation can change */
  sql(text: string): Promise<unknown>
  call<T>(method: string, path: string, sent?: EdgeRequest): Promise<T>
}

const MODEL = { pluginId: 'builtin', provider: 'lsa', model: 'lsa-200' }
const NOBODY = "'nobody'"
/** a claim in the name of a live gateway, which others must not take over */
const nobodyIsThere = () => `INSERT INTO gateways (id, started_at, beat_at)
  VALUES (${NOBODY}, ${Date.now()}, ${Date.now()}) ON CONFLICT (id) DO UPDATE SET beat_at = excluded.beat_at;`
let made = 0

/** Whether a space has a row, deleted or not. */
function isThere(dataDir: string, id: string): boolean {
  return rowsOf(dataDir).get('SELECT 1 FROM spaces WHERE id = ?', id) !== undefined
}

async function space({ call }: Ground, token?: string): Promise<string> {
  made++
  const json = { name: `Space ${made}`, slug: `space-${made}` }
  return (await call<{ id: string }>('POST', '/knowledge-spaces', { json, ...(token === undefined ? {} : { token }) }))
    .id
}

function form(field: string, ...names: string[]): FormData {
  const data = new FormData()
  for (const name of names) data.append(field, new File([`# ${name}\n\nThe pier of ${name} is long.`], name))
  return data
}

async function upload({ call, planted, edge }: Ground, name: string, settles = true): Promise<AcceptedDocument> {
  const path = `/knowledge-spaces/${planted.space}/documents`
  const accepted = await call<AcceptedDocument>('POST', path, { body: form('file', name) })
  if (settles) await edge.engine.documents.settled(ADA, planted.space, accepted)
  return accepted
}

async function source({ call, planted, site }: Ground, place?: RemoteServer): Promise<string> {
  const about = place ?? { type: 'web', uri: `${site.url}/`, metadata: {} }
  const { type, uri, metadata } = about
  const json = { name: type, type, uri, metadata }
  return (await call<Source>('POST', `/knowledge-spaces/${planted.space}/sources`, { json })).id
}

const question = async ({ call, planted }: Ground) =>
  await call<{ id: string }>('POST', `/knowledge-spaces/${planted.space}/golden-questions`, {
    json: { question: 'How long is the pier?' },
  })

const snapshot = async ({ call, planted }: Ground) => {
  await file('kept')({ call, planted } as Ground)
  const json = { knowledgeSpaceId: planted.space, workspace: 'kept' }
  return await call<{ id: string }>('POST', '/agent-workspace-snapshots', { json })
}

const file =
  (workspace: string) =>
  async ({ call, planted }: Ground): Promise<void> => {
    const json = { path: `/workspaces/${workspace}/note.md`, content: '# Note' }
    await call('PUT', `/knowledge-spaces/${planted.space}/fs/write`, { json })
  }

const app = async ({ call }: Ground) => await call<{ id: string }>('POST', '/chat-apps', { json: { name: 'Pier' } })

/** A request of each operation that takes an Idempotency-Key. */
export const REQUESTS: Readonly<Record<string, Prepare>> = {
  createKnowledgeSpace: () => ({ json: { name: 'Lake', slug: 'lake' } }),
  updateKnowledgeSpace: async (at) => ({ values: { id: await space(at) }, json: { name: 'Pond', slug: 'pond' } }),
  deleteKnowledgeSpace: async (at) => ({ values: { id: await space(at) } }),
  setEmbeddingProfile: async (at) => ({ values: { id: await space(at) }, json: MODEL }),
  startEmbeddingMigration: async (at) => ({ values: { id: await space(at) }, json: MODEL }),
  cancelEmbeddingMigration: async (at) => {
    const id = await space(at)
    const path = `/knowledge-spaces/${id}/embedding-profile/migrations`
    const { id: migrationId } = await at.call<{ id: string }>('POST', path, { json: MODEL })
    await until(async () => (await at.call<{ state: string }>('GET', `${path}/${migrationId}`)).state === 'published')
    await at.sql(`UPDATE embedding_migrations SET state = 'filling', completed_at = NULL WHERE id = '${migrationId}'`)
    return { values: { id, migrationId } }
  },
  setRetrievalProfile: () => ({
    json: { defaultMode: 'fast', modes: ['fast', 'deep', 'research'], topK: 9, scoreThreshold: 0 },
  }),
  uploadDocument: () => ({ body: form('file', 'once.md') }),
  uploadDocuments: () => ({ body: form('files', 'first.md', 'second.md') }),
  deleteDocuments: async (at) => ({ json: { documentIds: [(await upload(at, 'gone.md')).asset.id] } }),
  reindexDocuments: ({ planted }) => ({ json: { documentIds: [planted.open[1]] } }),
  recordSkippedFiles: () => ({ json: { files: [{ filename: 'blank.md', reason: 'is empty', sizeBytes: 0 }] } }),
  checkDocuments: () => ({ json: { items: [{ filename: 'a.md', sha256: 'a'.repeat(64) }] } }),
  cancelJob: async (at) => {
    await at.sql(`${nobodyIsThere()} CREATE TRIGGER held AFTER INSERT ON jobs
      WHEN (SELECT filename FROM documents WHERE key = NEW.doc_key) = 'held.md'
      BEGIN UPDATE jobs SET claimed_by = ${NOBODY} WHERE key = NEW.key; END`)
    return { values: { id: (await upload(at, 'held.md', false)).compilationJob.id } }
  },
  retryJob: ({ planted }) => ({ values: { id: planted.ids['brokenJob'] ?? '' } }),
  retryFailedJobs: () => ({}),
  reviewMissingEvidence: async (at) => {
    const json = { knowledgeSpaceId: at.planted.space, query: 'Who conducts the orchestra of Vienna?' }
    const answer = await at.edge.send('POST', '/queries', { token: at.edge.tokens.ada, json })
    await answer.text()
    const traceId = answer.headers.get('x-query-run-id') ?? ''
    type Lacked = { items: { metadata: { itemKey: string } }[] }
    const { items } = await at.call<Lacked>('GET', `/queries/${traceId}/missing`)
    const values = { traceId, itemKey: items[0]?.metadata.itemKey ?? '' }
    return { values, json: { expectedRevision: 0, status: 'dismissed' } }
  },
  createGoldenQuestion: () => ({ json: { question: 'Where is the pier?' } }),
  updateGoldenQuestion: async (at) => ({ values: { questionId: (await question(at)).id }, json: { tags: ['pier'] } }),
  annotateGoldenQuestion: async (at) => ({
    values: { questionId: (await question(at)).id },
    json: { answerCorrectness: 'correct', evidenceRelevance: [] },
  }),
  deleteGoldenQuestion: async (at) => ({ values: { questionId: (await question(at)).id } }),
  createGoldenRun: () => ({ json: { questions: [{ id: 'a', question: 'Where is the pier?' }] } }),
  deleteGoldenRun: async (at) => {
    const json = { questions: [{ id: 'a', question: 'Where is the pier?' }] }
    const run = await at.call<{ id: string }>('POST', `/knowledge-spaces/${at.planted.space}/golden-runs`, { json })
    return { values: { runId: run.id } }
  },
  createProductionBadCase: ({ planted }) => ({ json: { traceId: planted.ids['traceId'], reason: 'stale' } }),
  decideFailedQuery: () => ({ json: { verdict: 'irrelevant' } }),
  triageFailedQueries: () => ({ query: { limit: '10' } }),
  createSource: ({ site }) => ({ json: { name: 'Pier', type: 'web', uri: `${site.url}/pier/` } }),
  updateSource: async (at) => ({ values: { sourceId: await source(at) }, json: { name: 'Quay', status: 'disabled' } }),
  deleteSource: async (at) => ({ values: { sourceId: await source(at) } }),
  crawlSource: async (at) => ({ values: { sourceId: await source(at) } }),
  importSourcePages: async (at) => {
    const notion = await startNotion()
    await notion.put('tides.md', 'The moon pulls the sea.')
    const sourceId = await source(at, notion)
    type Listed = { workspaces: { workspaceId: string; pages: { pageId: string; type: string }[] }[] }
    const path = `/knowledge-spaces/${at.planted.space}/sources/${sourceId}/pages`
    const [workspace] = (await at.call<Listed>('GET', path)).workspaces
    const [first] = workspace?.pages ?? []
    const page = { pageId: first?.pageId, type: first?.type, workspaceId: workspace?.workspaceId }
    return { values: { sourceId }, json: { pages: [page] } }
  },
  importSourceFiles: async (at) => {
    const s3 = await startS3()
    await s3.put('winds.md', '# Winds\n\nThe trade winds blow west.')
    const files = [{ id: 'notes/winds.md', name: 'winds.md', bucket: 'docs', mimeType: 'text/markdown' }]
    return { values: { sourceId: await source(at, s3) }, json: { files } }
  },
  testSource: async (at) => ({ values: { sourceId: await source(at) } }),
  materializeTopic: () => ({ json: { topicName: 'Guild', topicSlug: 'guild', generatedVersion: 'v1' } }),
  extractEntities: () => ({ json: { limit: 100 } }),
  materializeCommunities: () => ({ json: {} }),
  startGraphReading: async (at) => ({ values: { id: await space(at) }, json: {} }),
  cancelGraphReading: async (at) => {
    const id = await space(at)
    const path = `/knowledge-spaces/${id}/graph/readings`
    const { id: readingId } = await at.call<{ id: string }>('POST', path, { json: {} })
    await until(async () => (await at.call<{ state: string }>('GET', `${path}/${readingId}`)).state === 'completed')
    await at.sql(`UPDATE graph_readings SET state = 'reading', completed_at = NULL WHERE id = '${readingId}'`)
    return { values: { id, readingId } }
  },
  createResearchTask: ({ planted }) => ({ json: { knowledgeSpaceId: planted.space, query: 'Where is the pier?' } }),
  cancelResearchTask: async (at) => {
    await at.sql(`${nobodyIsThere()} CREATE TRIGGER waits AFTER INSERT ON research_tasks WHEN NEW.query = 'Who waits?'
      BEGIN UPDATE research_tasks SET claimed_by = ${NOBODY} WHERE id = NEW.id; END`)
    const json = { knowledgeSpaceId: at.planted.space, query: 'Who waits?' }
    return { values: { id: (await at.call<{ id: string }>('POST', '/research-tasks', { json })).id } }
  },
  fsckRepair: () => ({ json: { dryRun: false } }),
  gcExecute: async ({ call, planted }) => {
    const path = `/knowledge-spaces/${planted.space}/gc/staged-objects`
    return { json: { candidates: (await call<{ candidates: unknown[] }>('GET', path)).candidates.slice(0, 3) } }
  },
  revokeToken: ({ edge }) => ({ token: edge.tokens.operator, values: { jti: 'none' } }),
  updateTenantRetentionPolicy: () => ({ json: { rawDocumentRetentionDays: 400 } }),
  updateSpaceRetentionPolicy: () => ({ json: { answerTraceRetentionDays: 20 } }),
  fsWrite: () => ({ json: { path: '/workspaces/own/note.md', content: 'mine' } }),
  fsMv: async (at) => {
    await file('moved')(at)
    return { json: { oldPath: '/workspaces/moved', newPath: '/workspaces/there' } }
  },
  fsRm: async (at) => {
    await file('gone')(at)
    return { query: { path: '/workspaces/gone', recursive: 'true' } }
  },
  createWorkspaceSnapshot: async (at) => {
    await file('frozen')(at)
    return { json: { knowledgeSpaceId: at.planted.space, workspace: 'frozen' } }
  },
  deleteWorkspaceSnapshot: async (at) => ({ values: { snapshotId: (await snapshot(at)).id } }),
  recordLocalFiles: async (at) => {
    const token = at.edge.tokens.operator
    const one = { filename: 'a.md', path: '/notes/a.md', fingerprint: '1-2-3-4', device: '1', sizeBytes: 3 }
    const json = { root: '/notes', files: [{ ...one, sha256: 'a'.repeat(64) }] }
    return { token, values: { id: await space(at, token) }, json }
  },
  addWatch: async (at) => {
    const token = at.edge.tokens.operator
    return { token, json: { knowledgeSpaceId: await space(at, token), folder: tmpdir() } }
  },
  removeWatch: async (at) => {
    const token = at.edge.tokens.operator
    const json = { knowledgeSpaceId: await space(at, token), folder: tmpdir() }
    return {
      token,
      values: { watchId: (await at.call<{ id: string }>('POST', '/daemon/watches', { token, json })).id },
    }
  },
  importBundle: async (at) => {
    const { edge } = at
    const id = await space(at)
    const bundle = await edge.send('GET', `/knowledge-spaces/bundle?ids=${id}`, { token: edge.tokens.ada })
    const bytes = new Uint8Array(await bundle.arrayBuffer())
    await at.call('DELETE', `/knowledge-spaces/${id}`)
    await until(() => !isThere(edge.dataDir, id))
    const body = new FormData()
    body.append('file', new File([bytes], 'bundle.tar'))
    return { body }
  },
  createChatApp: () => ({ json: { name: 'Quay' } }),
  updateChatApp: async (at) => ({ values: { appId: (await app(at)).id }, json: { name: 'Jetty' } }),
  deleteChatApp: async (at) => ({ values: { appId: (await app(at)).id } }),
  createChatAppKey: async (at) => ({ values: { appId: (await app(at)).id } }),
  revokeChatAppKey: async (at) => {
    const { id } = await app(at)
    return { values: { appId: id, keyId: (await at.call<{ id: string }>('POST', `/chat-apps/${id}/keys`)).id } }
  },
}
