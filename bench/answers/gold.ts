/**
 * Answers without a model: whether they hold the gold string, over the passages that the product's ranking gives, and how
 * long they are.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { findMissingNames } from '../../src/engine/retrieval/query/names/missing-names.js'
import type { QuotablePassage } from '../../src/engine/retrieval/query/quotation/candidates.js'
import { chooseQuotation } from '../../src/engine/retrieval/query/quotation/quote.js'
import { type Dataset, dataFolder, loadDataset } from '../lib/datasets.js'
import { MemorySpace } from '../lib/memory-space.js'
import { type Figure, percentile } from '../lib/report.js'
import { type AnswerSet, goldOf, holdsGold, isForTuning } from './answer-sets.js'

/** Passages of an answer's evidence. */
const TOP_K = 8

/**
 * Before answers were weighed by their kind (commit 1cac270): share with the gold string and median length in characters
 * with citation marks, same passages, both halves together (.786 and .758; the halves differ by .02).
 */
const BEFORE: Readonly<Record<AnswerSet, { median: number }>> = {
  'squad2-dev': { median: 187 },
  'cmrc2018-dev-zh': { median: 57 },
}
const BARS: Readonly<Record<AnswerSet, number>> = { 'squad2-dev': 0.83, 'cmrc2018-dev-zh': 0.78 }

/** Gold strings, lengths and time on both halves; names that passages lack. */
export async function run(): Promise<Figure[]> {
  const folder = dataFolder()
  if (folder === undefined) return []
  return [
    ...answersOf(folder, 'squad2-dev'),
    ...answersOf(folder, 'cmrc2018-dev-zh'),
    ...namesOf(loadDataset(folder, 'squad2-dev')),
  ]
}

interface Half {
  asked: number
  found: number
  lengths: number[]
}

function answersOf(folder: string, name: AnswerSet): Figure[] {
  const { documents, queries } = loadDataset(folder, name)
  const gold = goldOf(readFileSync(join(folder, name, 'answers.jsonl'), 'utf8'))
  const space = new MemorySpace(documents, true)
  const tuned: Half = { asked: 0, found: 0, lengths: [] }
  const reported: Half = { asked: 0, found: 0, lengths: [] }
  let spent = 0
  for (const { id, text: query } of queries) {
    const passages = passagesOf(space, query)
    const started = performance.now()
    const units = chooseQuotation({ query, passages, idf: space.idf })?.units ?? []
    const text = units.map(({ unit }) => unit.text).join('\n')
    spent += performance.now() - started
    const half = isForTuning(id) ? tuned : reported
    half.asked++
    half.lengths.push(text.length)
    if (holdsGold(text, gold.get(id) ?? [])) half.found++
  }
  const median = (half: Half) => percentile(half.lengths, 0.5)
  const relative = (half: Half) => median(half) / BEFORE[name].median
  return [
    share(`${name} gold in answer, reported half`, reported, BARS[name]),
    { name: `${name} median length, reported half`, value: relative(reported), unit: 'x', bar: { atMost: 1.5 } },
    share(`${name} gold in answer, tuned half`, tuned),
    { name: `${name} median length, tuned half`, value: relative(tuned), unit: 'x' },
    { name: `${name} time per answer`, value: spent / queries.length, unit: 'ms' },
  ]
}

function share(name: string, { found, asked }: Pick<Half, 'found' | 'asked'>, atLeast?: number): Figure {
  return { name, value: found / asked, unit: '', ...(atLeast === undefined ? {} : { bar: { atLeast } }) }
}

function passagesOf(space: MemorySpace, query: string): QuotablePassage[] {
  return space
    .ask(query)
    .ranked.slice(0, TOP_K)
    .map(({ key, final }) => {
      const { title, body } = space.nodes[key]!
      return { title, text: body, source: '', score: final }
    })
}

/** Of questions with names: those said to be missing from the passage that answers, and from one of another article. */
function namesOf({ documents, queries, judged }: Dataset): Figure[] {
  const byId = new Map(documents.map((document) => [document.id, document]))
  const own = { found: 0, asked: 0 }
  const other = { found: 0, asked: 0 }
  for (const [place, { id, text }] of queries.entries()) {
    if (findMissingNames(text, [{ title: '', text: '' }]).length === 0) continue
    const right = [...(judged.get(id)?.keys() ?? [])].flatMap((key) => byId.get(key) ?? [])
    const foreign = documents[(place * 37 + 500) % documents.length]!
    own.asked++
    if (findMissingNames(text, right).length > 0) own.found++
    if (right.some(({ title }) => title === foreign.title)) continue
    other.asked++
    if (findMissingNames(text, [foreign]).length > 0) other.found++
  }
  return [
    share('squad2-dev names wrongly missing', own),
    share("squad2-dev names missing from another article's passage", other),
  ]
}
