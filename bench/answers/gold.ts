/** Answers without a model, from the passages that the product ranks first: how many contain the gold string, and their length. */
import { join } from 'node:path'
import { findMissingNames } from '../../src/engine/retrieval/query/names/missing-names.js'
import type { QuotablePassage } from '../../src/engine/retrieval/query/quotation/candidates.js'
import { chooseQuotation } from '../../src/engine/retrieval/query/quotation/quote.js'
import { type Dataset, findDataFolder, loadDataset } from '../lib/datasets.js'
import { MemorySpace } from '../lib/memory-space.js'
import { type Figure, percentile } from '../lib/report.js'
import { type AnswerSet, containsGold, isForTuning, readGold } from './answer-sets.js'

/** Passages of an answer's evidence. */
const TOP_K = 8

/**
 * Median length of answers in characters before they were weighted by kind (commit 1cac270): same passages, with citation
 * marks, both halves.
 */
const PREVIOUS_MEDIAN_LENGTHS: Readonly<Record<AnswerSet, number>> = { 'squad2-dev': 187, 'cmrc2018-dev-zh': 57 }
const BARS: Readonly<Record<AnswerSet, number>> = { 'squad2-dev': 0.83, 'cmrc2018-dev-zh': 0.78 }

export async function run(): Promise<Figure[]> {
  const folder = findDataFolder()
  if (folder === undefined) return []
  return [
    ...measureAnswers(folder, 'squad2-dev'),
    ...measureAnswers(folder, 'cmrc2018-dev-zh'),
    ...measureNames(loadDataset(folder, 'squad2-dev')),
  ]
}

interface HalfResults {
  asked: number
  found: number
  lengths: number[]
}

function measureAnswers(folder: string, name: AnswerSet): Figure[] {
  const { documents, queries } = loadDataset(folder, name)
  const gold = readGold(join(folder, name))
  const space = new MemorySpace(documents)
  const tuned: HalfResults = { asked: 0, found: 0, lengths: [] }
  const reported: HalfResults = { asked: 0, found: 0, lengths: [] }
  let totalMs = 0
  for (const { id, text: query } of queries) {
    const passages = findPassages(space, query)
    const started = performance.now()
    const units = chooseQuotation({ query, passages, idf: space.idf })?.units ?? []
    const text = units.map(({ unit }) => unit.text).join('\n')
    totalMs += performance.now() - started
    const half = isForTuning(id) ? tuned : reported
    half.asked++
    half.lengths.push(text.length)
    if (containsGold(text, gold.get(id) ?? [])) half.found++
  }
  const median = (half: HalfResults) => percentile(half.lengths, 0.5)
  const relative = (half: HalfResults) => median(half) / PREVIOUS_MEDIAN_LENGTHS[name]
  return [
    createFractionFigure(`${name} gold in answer, reported half`, reported, BARS[name]),
    { name: `${name} median length, reported half`, value: relative(reported), unit: 'x', bar: { atMost: 1.5 } },
    createFractionFigure(`${name} gold in answer, tuned half`, tuned),
    { name: `${name} median length, tuned half`, value: relative(tuned), unit: 'x' },
    { name: `${name} time per answer`, value: totalMs / queries.length, unit: 'ms' },
  ]
}

function createFractionFigure(
  name: string,
  { found, asked }: Pick<HalfResults, 'found' | 'asked'>,
  atLeast?: number,
): Figure {
  return { name, value: found / asked, unit: '', ...(atLeast === undefined ? {} : { bar: { atLeast } }) }
}

function findPassages(space: MemorySpace, query: string): QuotablePassage[] {
  return space
    .ask(query)
    .ranked.slice(0, TOP_K)
    .map(({ key, final }) => {
      const { title, body } = space.nodes[key]!
      return { title, text: body, source: '', score: final }
    })
}

/** Fraction of questions with a name that is reported missing from the answering passage, and from one of another article. */
function measureNames({ documents, queries, gradesByQuery }: Dataset): Figure[] {
  const byId = new Map(documents.map((document) => [document.id, document]))
  const own = { found: 0, asked: 0 }
  const other = { found: 0, asked: 0 }
  for (const [index, { id, text }] of queries.entries()) {
    if (findMissingNames(text, [{ title: '', text: '' }]).length === 0) continue
    const right = [...(gradesByQuery.get(id)?.keys() ?? [])].flatMap((key) => byId.get(key) ?? [])
    const foreign = documents[(index * 37 + 500) % documents.length]!
    own.asked++
    if (findMissingNames(text, right).length > 0) own.found++
    if (right.some(({ title }) => title === foreign.title)) continue
    other.asked++
    if (findMissingNames(text, [foreign]).length > 0) other.found++
  }
  return [
    createFractionFigure('squad2-dev names wrongly missing', own),
    createFractionFigure("squad2-dev names missing from another article's passage", other),
  ]
}
