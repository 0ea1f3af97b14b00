/**
 * The two places where words and vectors are looked for, an index of the gateway and the database, below the engine and side
 * by side: the same passages, questions, fusion and ranking. `search [SET …] [PASSAGES …]`; without any cranfield, scifact,
 * squad2-dev, cmrc2018-dev-zh and 20000. `--texts` has the text leg alone give the order, `--train` asks SciFact's training
 * questions.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { PassageCache } from '../src/engine/derived/passage.js'
import { embedTerms, embedText, type LsaSpace, openModel } from '../src/engine/models/builtin/lsa.js'
import { LsaCorpus } from '../src/engine/models/builtin/lsa-corpus.js'
import { countedWeights } from '../src/engine/query/term-weights.js'
import type { IndexedNode, SearchHit, SearchIndexes } from '../src/engine/search/ports.js'
import { decodeHalfInto, encodeHalf } from '../src/engine/storage/half.js'
import { analyzeQuery } from '../src/lib/text/analyze.js'
import { makeCorpus } from './lib/corpus.js'
import {
  chunkWords,
  type Dataset,
  dataFolder,
  loadDataset,
  RETRIEVAL_SETS,
  type SourceDocument,
} from './lib/datasets.js'
import { rankCandidates } from './lib/rank-candidates.js'
import { type Figure, report } from './lib/report.js'
import { bothPlaces } from './lib/search-places.js'
import { evaluate } from './lib/trec.js'
import { inTurns, percentileOf, ratioOf } from './lib/turns.js'

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    texts: { type: 'boolean', default: false },
    train: { type: 'boolean', default: false },
    rounds: { type: 'string', default: '3' },
  },
})
const SIZES = positionals.map(Number).filter((size) => size > 0)
const SETS = RETRIEVAL_SETS.filter((name) => positionals.length === 0 || positionals.includes(name))
const LABEL = options.texts ? ', text alone' : ''
const LEG = 200
const CHUNK_WORDS = 200
const CHUNK_OVERLAP = 40
/** Texts that the model of a large space is made of: what is measured does not hang on it. */
const TRAINED = 20_000
const QUESTIONS_A_ROUND = 100
const RECALL_QUESTIONS = 100
const GRAPH_MS = 600_000
const BARS = { quality: 0.98, recall: 0.97, p50: 10 }

const places = await bothPlaces()
const figures: Figure[] = []
try {
  const folder = dataFolder()
  if (folder === undefined) process.stdout.write('skipped: no ../shared/data and no KS_SHARED_DATA\n')
  else
    for (const name of SETS)
      figures.push(...(await qualityOn(loadDataset(folder, name, options.train ? 'train' : 'test'))))
  for (const size of SIZES.length > 0 || positionals.length > 0 ? SIZES : [TRAINED])
    figures.push(...(await timeAt(size)))
} finally {
  await places.close()
}
report('search', figures, { keepOthers: true })

interface Space {
  id: string
  nodes: IndexedNode[]
  model: LsaSpace
}

async function fill(nodes: IndexedNode[], trained = nodes.length): Promise<Space> {
  const corpus = new LsaCorpus()
  for (const { title, body } of nodes.slice(0, trained)) corpus.add(`${title}\n${body}`)
  const made = corpus.train()
  if (made === undefined) throw new Error('too few texts for a model')
  const model = openModel(made)
  for (const node of nodes) {
    const vector = embedText(model, `${node.title}\n${node.body}`)
    if (vector === undefined) continue
    decodeHalfInto(encodeHalf(vector), vector, 0)
    node.vector = vector
  }
  const id = await places.fill(nodes, 'bench', made.dimension)
  await places.settle()
  return { id, nodes, model }
}

function asked({ id, model }: Space, indexes: SearchIndexes, question: string) {
  const terms = analyzeQuery(question)
  const vector = embedTerms(model, terms)
  const vectors = vector === undefined ? {} : { vector, vectorSpace: 'bench' }
  return indexes.search(id, { terms, textK: LEG, vectorK: LEG, ...vectors })
}

/** nDCG of both, ranked as mode fast ranks. */
async function qualityOn(set: Dataset): Promise<Figure[]> {
  const documents: SourceDocument[] = []
  const nodes = set.documents.flatMap((document) =>
    chunkWords(document.text, CHUNK_WORDS, CHUNK_OVERLAP).map((body): IndexedNode => {
      documents.push(document)
      return { key: documents.length, doc: documents.length, title: document.title, body }
    }),
  )
  const space = await fill(nodes)
  const found = { index: await runOf(space, places.index), postgres: await runOf(space, places.postgres) }
  const measured = { index: evaluate(found.index, set.judged), postgres: evaluate(found.postgres, set.judged) }
  const { index, postgres } = measured
  return [
    { name: `${set.name}${LABEL} nDCG@10, index`, value: index.ndcg10, unit: '', note: `${nodes.length} passages` },
    { name: `${set.name}${LABEL} nDCG@10, postgres`, value: postgres.ndcg10, unit: '' },
    {
      name: `${set.name}${LABEL} nDCG@10, postgres / index`,
      value: postgres.ndcg10 / index.ndcg10,
      unit: '',
      bar: { atLeast: BARS.quality },
    },
    { name: `${set.name}${LABEL} recall@100, postgres / index`, value: postgres.recall100 / index.recall100, unit: '' },
  ]

  async function runOf(of: Space, indexes: SearchIndexes): Promise<Map<string, string[]>> {
    const runs = new Map<string, string[]>()
    for (const { id, text } of set.queries) {
      const { hits, frequencies } = await asked(of, indexes, text)
      const order = options.texts ? byText(hits) : ranked(of, text, hits, frequencies)
      runs.set(id, [...new Set(order.map((key) => documents[key - 1]!.id))])
    }
    return runs
  }
}

function byText(hits: readonly SearchHit[]): number[] {
  return hits
    .filter(({ bm25 }) => bm25 !== undefined)
    .sort((a, b) => b.bm25! - a.bm25! || a.key - b.key)
    .map(({ key }) => key)
}

function ranked(
  { nodes }: Space,
  question: string,
  hits: SearchHit[],
  frequencies: ReadonlyMap<string, number>,
): number[] {
  const { ranked: order } = rankCandidates({
    terms: analyzeQuery(question),
    hits,
    idf: countedWeights((term) => frequencies.get(term) ?? 0, nodes.length),
    cache: new PassageCache(),
    nodes: nodes.length,
    load: (keys) => new Map(keys.map((key) => [key, nodes[key - 1]!])),
    vectors: (keys) => new Map(keys.flatMap((key): [number, Float32Array][] => vectorOf(nodes[key - 1]!))),
  })
  return order.map(({ key }) => key)
}

function vectorOf({ key, vector }: IndexedNode): [number, Float32Array][] {
  return vector === undefined ? [] : [[key, vector]]
}

/** What a question costs in both, in turns, and how much of the nearest the vector leg finds. */
async function timeAt(size: number): Promise<Figure[]> {
  const { passages, queries } = makeCorpus(size)
  const started = performance.now()
  const nodes = passages.map(({ title, text }, place) => ({
    key: place + 1,
    doc: 1 + Math.floor(place / 20),
    title,
    body: text,
  }))
  const space = await fill(nodes, TRAINED)
  const filled = (performance.now() - started) / 1000
  await graphs(space)
  const side = (indexes: SearchIndexes) => async (questions: number[]) => {
    const times: number[] = []
    for (const place of questions) {
      const began = performance.now()
      await asked(space, indexes, queries[place % queries.length]!)
      times.push(performance.now() - began)
    }
    return times
  }
  const sides = { index: side(places.index), postgres: side(places.postgres) }
  await inTurns(
    sides,
    Array.from({ length: QUESTIONS_A_ROUND }, (_, i) => i),
  )
  const rounds = { index: [] as number[][], postgres: [] as number[][] }
  for (let round = 0; round < Number(options.rounds); round++) {
    const times = await inTurns(
      sides,
      Array.from({ length: QUESTIONS_A_ROUND }, (_, i) => i + QUESTIONS_A_ROUND * (round + 1)),
    )
    rounds.index.push(times.index)
    rounds.postgres.push(times.postgres)
  }
  const of = (indexes: SearchIndexes) => recallOf(space, indexes, queries)
  const legs = await legsOf(space, queries)
  return [
    { name: `${size} passages p50, index`, ...percentileOf(rounds.index, 0.5), unit: 'ms' },
    { name: `${size} passages p50, postgres`, ...percentileOf(rounds.postgres, 0.5), unit: 'ms', note: legs },
    { name: `${size} passages p95, postgres`, ...percentileOf(rounds.postgres, 0.95), unit: 'ms' },
    {
      name: `${size} passages p50, postgres / index`,
      ...ratioOf(rounds.postgres, rounds.index),
      unit: '',
      bar: { atMost: BARS.p50 },
    },
    { name: `${size} passages recall@10 of vectors, index`, value: await of(places.index), unit: '' },
    {
      name: `${size} passages recall@10 of vectors, postgres`,
      value: await of(places.postgres),
      unit: '',
      bar: { atLeast: BARS.recall },
    },
    { name: `${size} passages, ten best by words in both`, value: await sameTexts(space, queries), unit: '' },
    { name: `${size} passages filled and at rest`, value: filled, unit: 's', note: 'both, at the same time' },
  ]
}

/** Share of the ten best by words in one that are among those of the other. */
async function sameTexts(space: Space, queries: readonly string[]): Promise<number> {
  let same = 0
  let all = 0
  for (const query of queries.slice(0, RECALL_QUESTIONS)) {
    const [index, postgres] = [await asked(space, places.index, query), await asked(space, places.postgres, query)]
    const there = new Set(byText(postgres.hits).slice(0, 10))
    const best = byText(index.hits).slice(0, 10)
    same += best.filter((key) => there.has(key)).length
    all += best.length
  }
  return same / all
}

/** Waits for the graphs that are due. */
async function graphs({ id }: Space): Promise<void> {
  const until = Date.now() + GRAPH_MS
  await sleep(500)
  while (places.postgres.builds() + places.index.builds() > 0 && Date.now() < until) await sleep(500)
  const [index, postgres] = [await places.index.status(id), await places.postgres.status(id)]
  process.stdout.write(`vectors in a graph: index ${index.graphCount}, postgres ${postgres.graphCount}\n`)
  await places.settle()
}

async function legsOf(space: Space, queries: readonly string[]): Promise<string> {
  const found = []
  for (const query of queries.slice(0, RECALL_QUESTIONS)) found.push(await asked(space, places.postgres, query))
  const middle = (values: number[]) => values.sort((a, b) => a - b)[values.length >> 1]!.toFixed(1)
  return `text ${middle(found.map(({ textMs }) => textMs))} ms, vectors ${middle(found.map(({ vectorMs }) => vectorMs))} ms, ${found[0]!.vectorMethod}`
}

async function recallOf(
  { id, nodes, model }: Space,
  indexes: SearchIndexes,
  queries: readonly string[],
): Promise<number> {
  const shares: number[] = []
  for (const query of queries.slice(0, RECALL_QUESTIONS)) {
    const vector = embedTerms(model, analyzeQuery(query))
    if (vector === undefined) continue
    const cosines = nodes.map((node) => (node.vector === undefined ? -1 : dot(node.vector, vector)))
    const tenth = [...cosines].sort((a, b) => b - a)[9]!
    const { hits } = await indexes.search(id, { terms: [], vector, vectorSpace: 'bench', textK: 1, vectorK: LEG })
    const nearest = [...hits].sort((a, b) => (b.cosine ?? -1) - (a.cosine ?? -1)).slice(0, 10)
    // passages that are as near as the tenth are as good as it
    shares.push(nearest.filter(({ key }) => cosines[key - 1]! >= tenth - 1e-4).length / 10)
  }
  return shares.reduce((sum, share) => sum + share, 0) / shares.length
}

function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0
  for (let i = 0; i < a.length; i++) sum += a[i]! * b[i]!
  return sum
}
