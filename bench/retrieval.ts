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
import { ask, rankedDocuments } from './lib/ask.js'
import { bareTextIndex } from './lib/bare-text.js'
import { startDaemon, temporaryFolder } from './lib/daemon.js'
import { type Dataset, dataFolder, loadDataset, RETRIEVAL_SETS, type RetrievalSet } from './lib/datasets.js'
import { type Figure, percentile, report } from './lib/report.js'
import { searchableServer } from './lib/search-server.js'
import { ndcg, recall, reciprocalRank } from './lib/trec.js'
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
const TRAINING_MS = 300_000
const AT_REST_MS = 15_000
const NEARLY_ALL = 0.99
const POLL_MS = 500

interface Measured {
  ndcg10: number
  recall10: number
  recall50: number
  mrr: number
}

const folder = dataFolder()
if (folder === undefined) {
  process.stdout.write('skipped: no ../shared/data and no KS_SHARED_DATA\n')
} else {
  await main(folder)
}

async function main(data: string): Promise<void> {
  const { values, positionals: wanted } = parseArgs({
    allowPositionals: true,
    options: { search: { type: 'string', default: 'index' } },
  })
  const sets = RETRIEVAL_SETS.filter((name) => wanted.length === 0 || wanted.includes(name))
  const home = temporaryFolder('bench-retrieval')
  const server = values.search === 'postgres' ? await searchableServer() : undefined
  const daemon = await startDaemon(
    join(home.path, 'data'),
    server === undefined ? {} : { KS_DAEMON_BACKEND: server.url, KS_DAEMON_SEARCH: 'postgres' },
  )
  const figures: Figure[] = []
  const hybrid: Measured[] = []
  const lexical: Measured[] = []
  try {
    for (const name of sets) {
      const set = loadDataset(data, name)
      const measured = await overHttp(daemon.client, set)
      const text = await textLegAlone(join(home.path, name), set)
      hybrid.push(measured.quality)
      lexical.push(text)
      figures.push(...figuresOf(name, measured, text))
    }
  } finally {
    await daemon.stop()
    server?.stop()
    home.remove()
  }
  const mean = average(hybrid.map((one) => one.ndcg10))
  const textMean = average(lexical.map((one) => one.ndcg10))
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

async function overHttp(client: Client, set: Dataset<RetrievalSet>) {
  const started = performance.now()
  const files = set.documents.map((document) => ({
    filename: `${document.id}.md`,
    text: `# ${document.title}\n\n${document.text}\n`,
  }))
  const { spaceId, documents, failed } = await fillSpace(client, set.name, files)
  const ingestSeconds = (performance.now() - started) / 1000
  const idOf = new Map([...documents].map(([filename, documentId]) => [documentId, filename.slice(0, -'.md'.length)]))
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
      rankedDocuments(answer.bundle).flatMap((documentId) => idOf.get(documentId) ?? []),
    )
  }
  return { quality: quality(runs, set), latencies, ingestSeconds, failed }
}

/**
 * The model of a space is trained behind publication; quality is that of the trained space. It is at rest when its
 * model has not changed for a while and all but a few vectors are there (a text without a known word gets none).
 */
async function waitForModel(client: Client, spaceId: string): Promise<void> {
  const path = { id: spaceId }
  const deadline = Date.now() + TRAINING_MS
  let model = ''
  let since = Date.now()
  for (;;) {
    const { embeddingProfile } = await client.request('GET /knowledge-spaces/{id}/manifest', { path })
    const { projections } = await client.request('GET /knowledge-spaces/{id}/stats', { path })
    const { total, ready } = projections.denseVector
    if (embeddingProfile?.vectorSpaceId !== model) since = Date.now()
    model = embeddingProfile?.vectorSpaceId ?? ''
    if (ready >= total * NEARLY_ALL && Date.now() - since > AT_REST_MS) return
    if (Date.now() > deadline) throw new Error(`vectors: ${ready} of ${total} ready after ${TRAINING_MS} ms`)
    await sleep(POLL_MS)
  }
}

/** The same sets on the text index alone, a document an entry, in this process. */
async function textLegAlone(dir: string, set: Dataset<RetrievalSet>): Promise<Measured> {
  const texts = set.documents.map((document) => `${document.title}\n${document.title}\n${document.text}`)
  const index = await bareTextIndex(dir, texts)
  const runs = new Map<string, string[]>()
  for (const query of set.queries) {
    const { keys } = await index.search(analyzeQuery(query.text), TOP_K)
    runs.set(
      query.id,
      keys.flatMap((key) => set.documents[key - 1]?.id ?? []),
    )
  }
  await index.close()
  return quality(runs, set)
}

function quality(runs: ReadonlyMap<string, string[]>, set: Dataset<RetrievalSet>): Measured {
  const scores = [...set.judged].map(([query, grades]) => {
    const ranked = runs.get(query) ?? []
    return {
      ndcg10: ndcg(ranked, grades),
      recall10: recall(ranked, grades, 10),
      recall50: recall(ranked, grades, TOP_K),
      mrr: reciprocalRank(ranked, grades, TOP_K),
    }
  })
  const mean = (key: keyof Measured) => average(scores.map((score) => score[key]))
  return { ndcg10: mean('ndcg10'), recall10: mean('recall10'), recall50: mean('recall50'), mrr: mean('mrr') }
}

function figuresOf(name: RetrievalSet, run: Awaited<ReturnType<typeof overHttp>>, text: Measured): Figure[] {
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

function average(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length)
}
