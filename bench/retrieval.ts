/**
 * Retrieval quality through the real daemon: every set becomes a space, every corpus entry a Markdown file, every judged
 * query a question over HTTP. Documents are ranked by their best passage. `retrieval [SET …] [--search postgres]`: with a
 * database on a server, in which the daemon searches.
 */
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type { Client } from '../src/client/client.js'
import { analyzeQuery } from '../src/lib/text/analyze.js'
import { ask, listRankedDocuments } from './lib/ask.js'
import { buildTextIndex } from './lib/bare-text.js'
import { startDaemon, temporaryFolder } from './lib/daemon.js'
import { type Dataset, findDataFolder, loadDataset, RETRIEVAL_SETS, type RetrievalSet } from './lib/datasets.js'
import { type Figure, percentile, report } from './lib/report.js'
import { startSearchServer } from './lib/search-server.js'
import { computeNdcg, computeRecall, computeReciprocalRank } from './lib/trec.js'
import { fillSpace } from './lib/upload.js'

/** nDCG@10 that a set must reach; from the measured recipe less its noise (docs/retrieval.md). */
const BARS: Record<RetrievalSet, number> = {
  scifact: 0.69,
  'squad2-dev': 0.9,
  cranfield: 0.385,
  'cmrc2018-dev-zh': 0.98,
}
const MEAN_BAR = 0.742
const TOP_K = 50
const TRAINING_TIMEOUT_MS = 300_000
const QUIET_MS = 15_000
const MIN_READY_FRACTION = 0.99
const POLL_MS = 500

interface RetrievalQuality {
  ndcg10: number
  recall10: number
  recall50: number
  mrr: number
}

const folder = findDataFolder()
if (folder === undefined) {
  process.stdout.write('skipped: no ../shared/data and no KS_SHARED_DATA\n')
} else {
  await measureSets(folder)
}

async function measureSets(data: string): Promise<void> {
  const { values, positionals: requestedSets } = parseArgs({
    allowPositionals: true,
    options: { search: { type: 'string', default: 'index' } },
  })
  const sets = RETRIEVAL_SETS.filter((name) => requestedSets.length === 0 || requestedSets.includes(name))
  const home = temporaryFolder('bench-retrieval')
  const server = values.search === 'postgres' ? await startSearchServer() : undefined
  const daemon = await startDaemon(
    join(home.path, 'data'),
    server === undefined ? {} : { KS_DAEMON_BACKEND: server.url, KS_DAEMON_SEARCH: 'postgres' },
  )
  const figures: Figure[] = []
  const hybrid: RetrievalQuality[] = []
  const lexical: RetrievalQuality[] = []
  try {
    for (const name of sets) {
      const set = loadDataset(data, name)
      const measured = await measureOverHttp(daemon.client, set)
      const text = await measureTextIndex(join(home.path, name), set)
      hybrid.push(measured.quality)
      lexical.push(text)
      figures.push(...computeFigures(name, measured, text))
    }
  } finally {
    await daemon.stop()
    server?.stop()
    home.remove()
  }
  const mean = computeMean(hybrid.map((one) => one.ndcg10))
  const textMean = computeMean(lexical.map((one) => one.ndcg10))
  const all = sets.length === RETRIEVAL_SETS.length
  figures.push({
    name: `mean nDCG@10 of ${sets.length} sets`,
    value: mean,
    unit: '',
    ...(all ? { bar: { atLeast: MEAN_BAR } } : {}),
  })
  figures.push({
    name: `mean nDCG@10 of ${sets.length} sets over text leg alone`,
    value: mean - textMean,
    unit: '',
    bar: { atLeast: 0 },
  })
  report(server === undefined ? 'retrieval' : 'retrieval-postgres', figures)
}

async function measureOverHttp(client: Client, set: Dataset<RetrievalSet>) {
  const started = performance.now()
  const files = set.documents.map((document) => ({
    filename: `${document.id}.md`,
    text: `# ${document.title}\n\n${document.text}\n`,
  }))
  const { spaceId, documents, failed } = await fillSpace(client, set.name, files)
  const ingestSeconds = (performance.now() - started) / 1000
  const idByDocument = new Map(
    [...documents].map(([filename, documentId]) => [documentId, filename.slice(0, -'.md'.length)]),
  )
  const path = { id: spaceId }
  const { revision: _, ...profile } = await client.request('GET /knowledge-spaces/{id}/retrieval-profile', { path })
  await client.request('PUT /knowledge-spaces/{id}/retrieval-profile', { path, body: { ...profile, topK: TOP_K } })
  await waitForModel(client, spaceId)
  const runs = new Map<string, string[]>()
  const latencies: number[] = []
  for (const query of set.queries) {
    const answer = await ask(client, spaceId, query.text)
    latencies.push(answer.ms)
    runs.set(
      query.id,
      listRankedDocuments(answer.bundle).flatMap((documentId) => idByDocument.get(documentId) ?? []),
    )
  }
  return { quality: computeQuality(runs, set), latencies, ingestSeconds, failed }
}

/**
 * Waits until the model of a space is trained, after publication: until it has not changed for a while and almost all
 * vectors exist (a text without a known word gets none).
 */
async function waitForModel(client: Client, spaceId: string): Promise<void> {
  const path = { id: spaceId }
  const deadline = Date.now() + TRAINING_TIMEOUT_MS
  let model = ''
  let since = Date.now()
  for (;;) {
    const { embeddingProfile } = await client.request('GET /knowledge-spaces/{id}/manifest', { path })
    const { projections } = await client.request('GET /knowledge-spaces/{id}/stats', { path })
    const { total, ready } = projections.denseVector
    if (embeddingProfile?.vectorSpaceId !== model) since = Date.now()
    model = embeddingProfile?.vectorSpaceId ?? ''
    if (ready >= total * MIN_READY_FRACTION && Date.now() - since > QUIET_MS) return
    if (Date.now() > deadline) throw new Error(`vectors: ${ready} of ${total} ready after ${TRAINING_TIMEOUT_MS} ms`)
    await sleep(POLL_MS)
  }
}

/** Measures the text index alone in this process, with one node for each document. */
async function measureTextIndex(dir: string, set: Dataset<RetrievalSet>): Promise<RetrievalQuality> {
  const texts = set.documents.map((document) => `${document.title}\n${document.title}\n${document.text}`)
  const index = await buildTextIndex(dir, texts)
  const runs = new Map<string, string[]>()
  for (const query of set.queries) {
    const { keys } = await index.search(analyzeQuery(query.text), TOP_K)
    runs.set(
      query.id,
      keys.flatMap((key) => set.documents[key - 1]?.id ?? []),
    )
  }
  await index.close()
  return computeQuality(runs, set)
}

function computeQuality(runs: ReadonlyMap<string, string[]>, set: Dataset<RetrievalSet>): RetrievalQuality {
  const scores = [...set.gradesByQuery].map(([query, grades]) => {
    const ranked = runs.get(query) ?? []
    return {
      ndcg10: computeNdcg(ranked, grades),
      recall10: computeRecall(ranked, grades, 10),
      recall50: computeRecall(ranked, grades, TOP_K),
      mrr: computeReciprocalRank(ranked, grades, TOP_K),
    }
  })
  const mean = (key: keyof RetrievalQuality) => computeMean(scores.map((score) => score[key]))
  return { ndcg10: mean('ndcg10'), recall10: mean('recall10'), recall50: mean('recall50'), mrr: mean('mrr') }
}

function computeFigures(
  name: RetrievalSet,
  run: Awaited<ReturnType<typeof measureOverHttp>>,
  text: RetrievalQuality,
): Figure[] {
  const measured = run.quality
  return [
    { name: `${name} nDCG@10`, value: measured.ndcg10, unit: '', bar: { atLeast: BARS[name] } },
    { name: `${name} recall@10`, value: measured.recall10, unit: '' },
    { name: `${name} recall@50`, value: measured.recall50, unit: '' },
    { name: `${name} MRR`, value: measured.mrr, unit: '' },
    { name: `${name} text leg alone nDCG@10`, value: text.ndcg10, unit: '', note: 'in process, whole documents' },
    { name: `${name} query p95`, value: percentile(run.latencies, 0.95), unit: 'ms' },
    { name: `${name} ingest`, value: run.ingestSeconds, unit: 's', note: `${run.failed} entries without text` },
  ]
}

function computeMean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length)
}
