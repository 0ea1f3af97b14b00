/**
 * Triage of failed queries: questions of SQuAD 2.0 on a space of every second passage of three quarters of its articles,
 * and claims of SciFact, all asked as they come. What failed is triaged; each kind of question has a verdict it should
 * mostly get. The rules were chosen with SQuAD; the same with SciFact as the space and Cranfield as the other set shows
 * how they hold elsewhere. Run with `node scripts/bench.js triage`.
 */
import type { Client } from '../src/client/client.js'
import { paginate } from '../src/client/pages.js'
import { ask } from './lib/ask.js'
import { startDaemon, temporaryFolder } from './lib/daemon.js'
import { type Dataset, dataFolder, loadDataset } from './lib/datasets.js'
import { type Figure, report } from './lib/report.js'
import { fillSpace, waitUntilIdle } from './lib/upload.js'

const VERDICTS = ['retrieval-miss', 'coverage-gap', 'uncertain', 'irrelevant'] as const
/** Questions of each kind. */
const ASKED = 300
/** one article in this many is left out whole */
const ARTICLES_LEFT_OUT = 4

const folder = dataFolder()
if (folder === undefined) process.stdout.write('skipped: no data sets in ../shared/data or KS_SHARED_DATA\n')
else {
  const [squad, scifact, cranfield] = [
    loadDataset(folder, 'squad2-dev'),
    loadDataset(folder, 'scifact'),
    loadDataset(folder, 'cranfield'),
  ]
  const chosen = await measure(squad, scifact)
  const heldOut = await measure(scifact, cranfield)
  report('triage', [...chosen, ...heldOut.map((figure) => ({ ...figure, name: `held out, ${figure.name}` }))])
}

/** Figures of triage in a space of half of a set, asked that set's questions and another's. */
async function measure(set: Dataset, foreign: Dataset): Promise<Figure[]> {
  const home = temporaryFolder('bench-triage')
  const daemon = await startDaemon(`${home.path}/data`)
  try {
    const { client } = daemon
    const held = heldDocuments(set)
    const files = set.documents
      .filter(({ id }) => held.has(id))
      .map(({ id, title, text }) => ({ filename: `${id}.md`, text: `# ${title}\n\n${text}\n` }))
    const { spaceId } = await fillSpace(client, 'triage', files)
    await waitUntilIdle(client)
    const kinds = questionsByKind(set, foreign, held)
    for (const questions of Object.values(kinds)) for (const text of questions) await ask(client, spaceId, text)
    return await figuresOf(client, spaceId, kinds)
  } finally {
    await daemon.stop()
    home.remove()
  }
}

function leftOutTitles({ documents }: Dataset): Set<string> {
  const titles = [...new Set(documents.map(({ title }) => title))]
  return new Set(titles.filter((_, index) => index % ARTICLES_LEFT_OUT === 0))
}

function heldDocuments(set: Dataset): Set<string> {
  const leftOut = leftOutTitles(set)
  return new Set(set.documents.filter(({ title }, index) => index % 2 === 0 && !leftOut.has(title)).map(({ id }) => id))
}

function questionsByKind(set: Dataset, foreign: Dataset, held: ReadonlySet<string>): Record<string, string[]> {
  const leftOut = leftOutTitles(set)
  const titles = new Map(set.documents.map(({ id, title }) => [id, title]))
  const kinds: Record<string, string[]> = { 'passage there': [], 'passage left out': [], 'article left out': [] }
  for (const { id, text } of set.queries) {
    const [answer = ''] = [...(set.judged.get(id)?.keys() ?? [])]
    if (leftOut.has(titles.get(answer) ?? '')) kinds['article left out']?.push(text)
    else kinds[held.has(answer) ? 'passage there' : 'passage left out']?.push(text)
  }
  kinds['another set'] = foreign.queries.map(({ text }) => text)
  return Object.fromEntries(Object.entries(kinds).map(([kind, questions]) => [kind, questions.slice(0, ASKED)]))
}

async function figuresOf(client: Client, id: string, kinds: Record<string, string[]>): Promise<Figure[]> {
  const started = performance.now()
  let triaged = 0
  for (;;) {
    const done = await client.request('POST /knowledge-spaces/{id}/failed-queries/triage', {
      path: { id },
      query: { limit: 200 },
    })
    triaged += done.triaged
    if (done.triaged === 0) break
  }
  const perQuery = (performance.now() - started) / Math.max(1, triaged)
  const verdicts = new Map<string, unknown>()
  const failed = paginate(
    (query) => client.request('GET /knowledge-spaces/{id}/failed-queries', { path: { id }, query }),
    { pageSize: 200 },
  )
  for await (const { query, metadata } of failed)
    verdicts.set(query, Reflect.get(Object(metadata['triage']), 'verdict'))
  const figures: Figure[] = [{ name: 'triage of one query', value: perQuery, unit: 'ms', note: `${triaged} queries` }]
  for (const [kind, questions] of Object.entries(kinds)) {
    const captured = questions.filter((text) => verdicts.has(text))
    figures.push({ name: `${kind}: failed`, value: captured.length / questions.length, unit: '' })
    for (const verdict of VERDICTS) {
      const value = captured.filter((text) => verdicts.get(text) === verdict).length / Math.max(1, captured.length)
      figures.push({ name: `${kind}: ${verdict}`, value, unit: '' })
    }
  }
  const said = (kind: string, verdict: string): number =>
    (kinds[kind] ?? []).filter((text) => verdicts.get(text) === verdict).length
  const gaps = said('passage left out', 'coverage-gap') + said('article left out', 'coverage-gap')
  const wrong = said('passage there', 'coverage-gap') + said('another set', 'coverage-gap')
  const foreign = said('another set', 'irrelevant')
  const own = ['passage there', 'passage left out'].reduce((sum, kind) => sum + said(kind, 'irrelevant'), 0)
  return [
    ...figures,
    { name: 'coverage-gap is right', value: gaps / Math.max(1, gaps + wrong), unit: '', note: `of ${gaps + wrong}` },
    { name: 'irrelevant is right', value: foreign / Math.max(1, foreign + own), unit: '', note: `of ${foreign + own}` },
  ]
}
