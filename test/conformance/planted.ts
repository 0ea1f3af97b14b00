import type { ChatApp } from '../../src/contract/chat/apps.js'
import type { AcceptedDocument, BulkUpload } from '../../src/contract/gateway/documents.js'
import type { Source } from '../../src/contract/gateway/sources.js'
import type { RouteDefinition } from '../../src/contract/route.js'
import { bodyOf, type EdgeRequest, type TestEdge } from '../helpers/daemon.js'
import { ADA, ingest } from '../helpers/engine.js'
import { page, startSite } from '../helpers/site.js'
import { until } from '../helpers/until.js'
import { SOME_UUID, sample, schemaOf } from './samples.js'

/** Words that occur in the planted documents and their names, but in no request. */
export const MARKERS = /zanzibarium|brumborax|quellwasser/i
/** A word of other data of the planted tenant: its subjects may see it, other tenants may not. */
export const TENANT_MARKER = /velvetine/i
export const QUESTION = 'Which agreement does the guild depend on, and where does it meet?'

const LEDGER = `# Zanzibarium

The Zanzibarium Guild depends on the Brumborax Agreement. The guild meets in Quellwasser Hall every ninety days.

## Brumborax members

Quellwasser Hall was founded by Zanzibarium Guild. Brumborax Agreement supersedes the Quellwasser Treaty.
`
const OPEN = `# Harbour

The harbour opens at nine. The pilot guild meets at noon in the velvetine harbour office, and the tide decides.
`

/** The data that `plant` created: values of path parts by name, for gateway and chat service. */
export interface Planted {
  space: string
  source: string
  documents: string[]
  ids: Record<string, string>
  /** of the space itself and its public parts: no secret */
  open: string[]
  app: ChatApp
  key: string
}

type Call = <T>(method: string, path: string, sent?: EdgeRequest) => Promise<T>

/**
 * Creates a space with public documents, documents of a source that only Ada may see, and everything that can be
 * derived from them.
 *
 * @param word part of the name and address of the source
 */
export async function plant(edge: TestEdge, word = 'zanzibarium'): Promise<Planted> {
  const token = edge.tokens.ada
  const call: Call = async (method, path, sent = {}) => {
    const response = await edge.send(method, path, { token, ...sent })
    if (response.status >= 300) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
    return response.status === 204 ? (undefined as never) : await bodyOf(response)
  }
  const space = (
    await call<{ id: string }>('POST', '/knowledge-spaces', { json: { name: 'Velvetine Sea', slug: 'sea' } })
  ).id
  const at = `/knowledge-spaces/${space}`
  const [harbour] = await ingest(edge.engine, ADA, space, { 'harbour.md': OPEN })
  const site = await startSite({ [`/${word}/`]: page('Zanzibarium', 'The Brumborax Agreement binds Quellwasser.') })
  const about = { name: `The ${word}`, type: 'web', uri: `${site.url}/${word}/`, permissionScope: ['ada'] }
  const source = await call<Source>('POST', `${at}/sources`, { json: about })
  await call('POST', `${at}/sources/${source.id}/crawl`)
  await site.end()
  const form = new FormData()
  form.append('sourceId', source.id)
  form.append('files', new File([LEDGER], 'zanzibarium-ledger.md'))
  form.append('files', new File(['%PDF-1.7\nbrumborax'], 'brumborax-broken.pdf'))
  const bulk = await call<BulkUpload>('POST', `${at}/documents/bulk`, { body: form })
  for (const item of bulk.items) await edge.engine.documents.settled(ADA, space, item as AcceptedDocument)
  const ledger = bulk.items[0] as AcceptedDocument
  const reindexed = await call<{ items: { compilationJob: { id: string } }[] }>(
    'POST',
    `${at}/documents/bulk/reindex`,
    {
      json: { documentIds: [ledger.asset.id] },
    },
  )
  await until(async () => {
    const job = await call<{ stage: string }>('GET', `/jobs/${reindexed.items[0]!.compilationJob.id}`)
    return job.stage === 'published'
  })
  const documents = (await call<{ items: { id: string; sourceId?: string }[] }>('GET', `${at}/documents`)).items
    .filter(({ sourceId }) => sourceId === source.id)
    .map(({ id }) => id)
  const derived = await derive(call, edge, space, ledger.asset.id)
  const chat = await converse(call, space)
  return {
    space,
    source: source.id,
    documents,
    open: [space, harbour!.asset.id],
    app: chat.app,
    key: chat.key,
    ids: {
      ...derived,
      ...chat.ids,
      sourceId: source.id,
      brokenJob: (bulk.items[1] as AcceptedDocument).compilationJob.id,
      documentId: ledger.asset.id,
      job: ledger.compilationJob.id,
      bulk: bulk.bulkJobId,
    },
  }
}

/** Graph, views, golden question, failed query, trace, report, workspace, snapshot. */
async function derive(call: Call, edge: TestEdge, space: string, documentId: string): Promise<Record<string, string>> {
  const at = `/knowledge-spaces/${space}`
  await call('POST', `${at}/semantic-views/entities/extract`, { json: { limit: 100 } })
  await call('POST', `${at}/semantic-views/topic/materialize`, { json: {} })
  await call('POST', `${at}/semantic-views/communities/materialize`, { json: {} })
  const entities = await call<{ items: { id: string; name: string }[] }>('GET', `${at}/graph/entities?limit=100`)
  const entityId = entities.items.find(({ name }) => /brumborax/i.test(name))!.id
  const token = edge.tokens.ada
  const ask = async (query: string) => {
    const answer = await edge.send('POST', '/queries', { token, json: { knowledgeSpaceId: space, query } })
    await answer.text()
    return answer.headers.get('x-query-run-id')!
  }
  const traceId = await ask(QUESTION)
  const golden = await call<{ id: string; expectedEvidenceIds: string[] }>('POST', `${at}/production-bad-cases`, {
    json: { traceId, reason: 'stale' },
  })
  const run = await call<{ id: string }>('POST', `${at}/golden-runs`, { json: {} })
  await until(
    async () => (await call<{ status: string }>('GET', `${at}/golden-runs/${run.id}`)).status === 'completed',
    60_000,
  )
  await ask('Who conducts the orchestra of the guild in Vienna?')
  const failed = async () =>
    (await call<{ items: { id: string }[] }>('GET', `${at}/failed-queries`)).items.map(({ id }) => id)
  await until(async () => (await failed()).length > 0)
  const [failedQueryId] = await failed()
  await call('POST', `${at}/failed-queries/triage?limit=10`)
  const verdict = { verdict: 'retrieval-miss', expectedEvidenceIds: golden.expectedEvidenceIds.slice(0, 1) }
  await call('PATCH', `${at}/failed-queries/${failedQueryId}`, { json: verdict })
  const task = await call<{ id: string }>('POST', '/research-tasks', {
    json: { knowledgeSpaceId: space, query: QUESTION },
  })
  await until(
    async () => (await call<{ stage: string }>('GET', `/research-tasks/${task.id}`)).stage === 'completed',
    60_000,
  )
  await call('PUT', `${at}/fs/write`, { json: { path: '/workspaces/audit/notes.md', content: '# Velvetine notes' } })
  const body = { knowledgeSpaceId: space, workspace: 'audit' }
  const snapshot = await call<{ id: string }>('POST', '/agent-workspace-snapshots', { json: body })
  const missing = `sha256:${'a'.repeat(64)}`
  const nodeId = golden.expectedEvidenceIds[0]!
  return {
    entityId,
    traceId,
    questionId: golden.id,
    runId: run.id,
    failedQueryId: failedQueryId!,
    task: task.id,
    snapshotId: snapshot.id,
    itemKey: missing,
    version: '1',
    itemId: 'table-1',
    nodeId,
    document: documentId,
  }
}

/** An application of Ada's with a conversation that quotes, a rating and an annotation. */
async function converse(call: Call, space: string) {
  const json = { name: 'Velvetine desk', knowledgeSpaceIds: [space] }
  const app = await call<ChatApp>('POST', '/chat-apps', { json })
  const { key, id: keyId } = await call<{ key: string; id: string }>('POST', `/chat-apps/${app.id}/keys`)
  const send = { query: QUESTION, user: 'eve', inputs: {}, response_mode: 'blocking' }
  type Sent = { message_id: string; conversation_id: string; task_id: string; answer: string }
  const message = await call<Sent>('POST', '/v1/chat-messages', { token: key, json: send })
  if (!MARKERS.test(message.answer)) throw new Error(`the planted answer quotes nothing: ${message.answer}`)
  await call('POST', `/v1/messages/${message.message_id}/feedbacks`, {
    token: key,
    json: { rating: 'like', user: 'eve' },
  })
  const annotation = await call<{ id: string }>('POST', '/v1/apps/annotations', {
    token: key,
    json: { question: 'When?', answer: 'At noon, velvetine.' },
  })
  const ids = { appId: app.id, keyId, message_id: message.message_id, task_id: message.task_id }
  const chat = { conversation_id: message.conversation_id, annotation_id: annotation.id }
  return { app, key, ids: { ...ids, ...chat } }
}

/** Requests of a route with the planted values in its path; several where one is not enough. */
export function requestsOf(
  route: RouteDefinition,
  { space, ids }: Pick<Planted, 'space' | 'ids'>,
  asked: { bodies: Record<string, unknown[]>; queries: Record<string, Record<string, string>[]> },
): { path: string; sent: EdgeRequest }[] {
  const path = route.path.replace(/\{(\w+)\}/g, (_whole, name: string) => {
    if (name !== 'id') return encodeURIComponent(ids[name] ?? OTHERS[name] ?? SOME_UUID)
    if (route.path.startsWith('/jobs/')) return ids.job ?? ''
    if (route.path.startsWith('/bulk-jobs/')) return ids.bulk ?? ''
    return route.path.startsWith('/research-tasks/') ? (ids.task ?? '') : space
  })
  const queries = asked.queries[route.id] ?? [required(route.query, 'query')]
  const bodies = route.body === undefined ? [undefined] : (asked.bodies[route.id] ?? [required(route.body, 'body')])
  return queries.flatMap((query) =>
    bodies.map((json) => {
      const text = new URLSearchParams(query as Record<string, string>).toString()
      return { path: text === '' ? path : `${path}?${text}`, sent: json === undefined ? {} : { json } }
    }),
  )
}

const OTHERS: Record<string, string> = { jti: 'none', action: 'enable' }

function required(schema: RouteDefinition['query'] | RouteDefinition['body'], where: 'query' | 'body'): unknown {
  return schema === undefined ? {} : sample(schemaOf(schema, where))
}

/** Listings and searches of the virtual file system that reach everything. */
export function looks(route: string): Record<string, string>[] {
  const roots = ['/sources', '/knowledge', '/knowledge/documents', '/knowledge/topics', '/knowledge/communities']
  const all = [...roots, '/knowledge/entities', '/knowledge/entities/term', '/evidence', '/workspaces']
  if (route === 'fsTree') return all.map((path) => ({ path, limit: '100', depth: '8' }))
  if (route === 'fsLs') return all.map((path) => ({ path, limit: '100' }))
  if (route === 'fsGrep') return ['guild', 'agreement'].flatMap((q) => all.map((path) => ({ path, limit: '50', q })))
  return all.map((path) => ({ path, limit: '100', nameContains: 'e' }))
}
