/**
 * Embedding models of known quality: what a better one makes better, and that a bad one does no harm. A stand-in knows
 * the judgements: a question's vector is as much of the vectors of its relevant documents as the quality says, and noise
 * for the rest, above what all texts have in common. Quality 0 is noise alone.
 */
import { evidenceState } from '../../src/engine/query/answerability.js'
import { type Dataset, dataFolder, loadDataset } from '../lib/datasets.js'
import { type Embedder, MemorySpace } from '../lib/memory-space.js'
import type { Figure } from '../lib/report.js'
import { ndcg } from '../lib/trec.js'

const DIMENSION = 128
/** What unrelated texts have in common, as a share of a vector; with it their cosine is about a half. */
const COMMON = 1
const QUALITIES = [0, 0.15, 0.3, 0.6] as const
const SETS = ['squad2-dev', 'cranfield'] as const
const QUESTIONS = 200
/** Noise for vectors may cost so much nDCG@10 against words alone. */
const NOISE_COST = 0.01

/** Numbers of a normal distribution (Box-Muller), the same for the same text. */
function normals(seed: string): Float64Array {
  let state = [...seed].reduce((sum, character) => (Math.imul(sum, 31) + (character.codePointAt(0) ?? 0)) >>> 0, 7)
  const next = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return (state + 1) / 2 ** 32
  }
  for (let i = 0; i < 8; i++) next()
  return Float64Array.from(
    { length: DIMENSION },
    () => Math.sqrt(-2 * Math.log(next())) * Math.cos(2 * Math.PI * next()),
  )
}

function unit(values: Float64Array): Float32Array {
  const shared = values.map((value) => value / Math.sqrt(DIMENSION))
  shared[0] = (shared[0] ?? 0) + COMMON
  const length = Math.hypot(...shared)
  return Float32Array.from(shared, (value) => value / length)
}

/** @param quality 0 to 1 */
function standIn(dataset: Dataset, quality: number): Embedder {
  const relevant = new Map(
    dataset.queries.map(({ id, text }) => [
      text,
      [...(dataset.judged.get(id) ?? [])].flatMap(([document, grade]) => (grade > 0 ? [document] : [])),
    ]),
  )
  const meaning = (id: string): Float64Array => normals(`document ${id}`)
  return {
    ofDocument: ({ id }) => unit(meaning(id)),
    ofQuery: (text) => {
      const own = normals(`question ${text}`).map((value) => (1 - quality) * value)
      const documents = relevant.get(text) ?? []
      for (const id of documents)
        for (const [place, value] of meaning(id).entries())
          own[place] = (own[place] ?? 0) + (quality * value) / Math.sqrt(documents.length)
      return unit(own)
    },
  }
}

function measured(dataset: Dataset, space: MemorySpace, foreign: readonly { text: string }[]) {
  const questions = dataset.queries.slice(0, QUESTIONS)
  let sum = 0
  for (const { id, text } of questions) {
    const { ranked } = space.ask(text)
    sum += ndcg(
      space.documents(
        ranked.map(({ key }) => key),
        10,
      ),
      dataset.judged.get(id)!,
      10,
    )
  }
  const refused = foreign.filter(({ text }) => stateOf(space, text) === 'not-enough-evidence').length
  return { quality: sum / questions.length, refused: refused / foreign.length }
}

function stateOf(space: MemorySpace, query: string): string {
  const { terms, ranked, asked } = space.ask(query)
  const items = ranked.slice(0, 10).map(({ key, final, features }) => {
    const { title, body } = space.nodes[key]!
    return { title, text: body, score: final, ...(features && { features }) }
  })
  return evidenceState({ query, terms, idf: space.idf, asked, items }).state
}

export async function run(): Promise<Figure[]> {
  const folder = dataFolder()
  if (folder === undefined) {
    process.stdout.write('skipped: the shared data sets are not on this machine\n')
    return []
  }
  const foreign = loadDataset(folder, 'scifact', 'train').queries.slice(0, 100)
  return SETS.flatMap((name) => {
    const dataset = loadDataset(folder, name)
    const words = measured(
      dataset,
      new MemorySpace(dataset.documents, true, { ofDocument: () => zero, ofQuery: () => zero }),
      [],
    )
    const results = QUALITIES.map((quality) => ({
      quality,
      ...measuredAt(dataset, quality, foreign),
    }))
    const steps = results.slice(1).map(({ ndcg10 }, place) => ndcg10 - (results[place]?.ndcg10 ?? 0))
    return [
      { name: `${name}: words alone, nDCG@10`, value: words.quality, unit: '' },
      ...results.map(({ quality, ndcg10 }) => ({
        name: `${name}: quality ${quality}, nDCG@10`,
        value: ndcg10,
        unit: '',
        ...(quality === 0 ? { bar: { atLeast: words.quality - NOISE_COST } } : {}),
      })),
      {
        name: `${name}: least gain from one quality to the next`,
        value: Math.min(...steps),
        unit: '',
        bar: { atLeast: 0 },
      },
      { name: `${name}: foreign questions refused, noise for vectors`, value: results[0]?.refused ?? 0, unit: '' },
    ]
  })
}

const zero = new Float32Array(DIMENSION)

function measuredAt(dataset: Dataset, quality: number, foreign: readonly { text: string }[]) {
  const { quality: ndcg10, refused } = measured(
    dataset,
    new MemorySpace(dataset.documents, true, standIn(dataset, quality)),
    foreign,
  )
  return { ndcg10, refused }
}
