/**
 * Where evidence stops: how many of ten passages it holds, how many of the right ones among them are kept, and what that
 * costs nDCG@10. The thresholds (`src/engine/query/relevance.ts`) were chosen on every second question of each set but
 * SciFact's test questions, and lowered once when the others lost; SciFact's test questions took no part.
 */
import { PassageCache, termsHeld } from '../../src/engine/derived/passage.js'
import { relevantPassages } from '../../src/engine/query/relevance.js'
import { type Dataset, dataFolder, loadDataset, MEANING_SETS } from '../lib/datasets.js'
import { MemorySpace } from '../lib/memory-space.js'
import type { Figure } from '../lib/report.js'
import { ndcg } from '../lib/trec.js'

const PLACES = 10
const FEW = 20

interface Sums {
  questions: number
  held: number
  right: number
  kept: number
  before: number
  after: number
}

function measured(dataset: Dataset, space: MemorySpace, questions: Dataset['queries']): Sums {
  const sums = { questions: 0, held: 0, right: 0, kept: 0, before: 0, after: 0 }
  const cache = new PassageCache()
  for (const { id, text } of questions) {
    const grades = dataset.judged.get(id) ?? new Map<string, number>()
    const { terms, ranked, asked } = space.ask(text)
    const found = ranked.slice(0, PLACES).map(({ key, ...scores }) => {
      const { title, body } = space.nodes[key]!
      return { key, ...scores, held: termsHeld(cache.of({ key, title, body }), terms) }
    })
    const kept = relevantPassages(found, { idf: space.idf, asked, topK: PLACES })
    const documentsOf = (all: readonly { key: number }[]): string[] =>
      space.documents(
        all.map(({ key }) => key),
        PLACES,
      )
    const rightOf = (all: readonly string[]): number => all.filter((one) => (grades.get(one) ?? 0) > 0).length
    const [all, rest] = [documentsOf(found), documentsOf(kept)]
    sums.questions++
    sums.held += kept.length
    sums.right += rightOf(all)
    sums.kept += rightOf(rest)
    sums.before += ndcg(all, grades)
    sums.after += ndcg(rest, grades)
  }
  return sums
}

function figuresOf(name: string, { questions, held, right, kept, before, after }: Sums): Figure[] {
  const cost = (before - after) / questions
  return [
    { name: `${name}: passages of ${PLACES}`, value: held / questions, unit: '' },
    { name: `${name}: right documents kept`, value: kept / Math.max(1, right), unit: '', bar: { atLeast: 0.98 } },
    { name: `${name}: cost in nDCG@10`, value: cost, unit: '', bar: { atMost: 0.0005 } },
  ]
}

/** A few documents with the questions asked of them: what a folder of somebody's own looks like. */
function fewOf(dataset: Dataset): Dataset {
  const stride = Math.ceil(dataset.queries.length / FEW)
  const queries = dataset.queries.filter((_, place) => place % stride === 0)
  const wanted = new Set(
    queries.flatMap(({ id }) => [...(dataset.judged.get(id) ?? [])].slice(0, 1).map(([one]) => one)),
  )
  return { ...dataset, queries, documents: dataset.documents.filter(({ id }) => wanted.has(id)) }
}

export async function run(): Promise<Figure[]> {
  const folder = dataFolder()
  if (folder === undefined) {
    process.stdout.write('skipped: the shared data sets are not on this machine\n')
    return []
  }
  return MEANING_SETS.flatMap((name) => {
    const dataset = loadDataset(folder, name, 'train')
    const space = new MemorySpace(dataset.documents, true)
    const half = (rest: number) => dataset.queries.filter((_, place) => place % 2 === rest)
    const unseen = name === 'scifact' ? loadDataset(folder, name, 'test') : undefined
    const few = fewOf(dataset)
    return [
      ...figuresOf(`${name} chosen on`, measured(dataset, space, half(0))),
      ...figuresOf(`${name} others`, measured(dataset, space, half(1))),
      ...(unseen === undefined ? [] : figuresOf(`${name} unseen`, measured(unseen, space, unseen.queries))),
      ...figuresOf(
        `${name} of ${few.documents.length} documents`,
        measured(few, new MemorySpace(few.documents, true), few.queries),
      ),
    ]
  })
}
