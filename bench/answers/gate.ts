/**
 * The gate: which questions are refused, answered with the closest passages, or answered. Asks the questions of each set
 * in a space of its own documents and of every other set in the same language, with all documents and with a few.
 *
 * The model (`src/engine/retrieval/query/confidence.ts`) was fitted on SciFact's training questions, SQuAD, Cranfield, CISI, MED,
 * CMRC and generated sets of program text, with each left out once, and not on SciFact's test questions.
 */
import {
  judgeEvidence,
  REFUSAL_THRESHOLD,
  SURE_QUOTATION_THRESHOLD,
} from '../../src/engine/retrieval/query/answerability.js'
import { chooseQuotation } from '../../src/engine/retrieval/query/quotation/quote.js'
import { analyzeQuery } from '../../src/lib/text/analyze.js'
import { ALL_SETS, type Dataset, findDataFolder, loadDataset } from '../lib/datasets.js'
import { MemorySpace } from '../lib/memory-space.js'
import type { Figure } from '../lib/report.js'
import { formatCurve, isAnswered, isRefused, type JudgedQuestion, type JudgedSet } from './gate-curve.js'

const QUESTIONS = 300
const FOREIGN_QUESTIONS = 150
const MAX_PASSAGES = 10
const SMALL_SPACE_DOCUMENTS = 200
/** MED's questions and SciFact's abstracts share a subject, so they are not foreign to each other. */
const RELATED = new Set(['med scifact', 'scifact med'])
const MAX_SHORT_TERMS = 3
const MIN_LONG_TERMS = 12
/** With fewer questions, a single refused one would miss the bar. */
const MIN_QUESTIONS_FOR_BAR = 20

interface StateCounts {
  refused: number
  answered: number
  asked: number
}

function sample<T>(all: readonly T[], count: number): T[] {
  const stride = Math.max(1, Math.ceil(all.length / count))
  return all.filter((_, i) => i % stride === 0)
}

function judgeQuestions(space: MemorySpace, questions: readonly { text: string }[]): JudgedQuestion[] {
  return questions.map(({ text }) => {
    const { terms, ranked } = space.ask(text)
    const top = ranked[0]?.final ?? 0
    // as if an answer were certain: this leaves the effect of names and contradictions
    const items = ranked.slice(0, MAX_PASSAGES).map((node) => {
      const { title, body } = space.nodes[node.key]!
      const score = top > 0 ? node.final / top : 0
      return { title, text: body, score, ...(node.features && { features: node.features }) }
    })
    const { state } = judgeEvidence({ query: text, terms, idf: space.idf, items, probability: 1 })
    const passages = items.map((item) => ({ ...item, source: '', score: item.score * top }))
    const probability = chooseQuotation({ query: text, passages, idf: space.idf })?.probability ?? 0
    return { top, probability: state === 'answerable' ? probability : 0, contradicts: state === 'conflict' }
  })
}

function judgeAndCount(space: MemorySpace, questions: readonly { text: string }[]): StateCounts {
  return countStates(judgeQuestions(space, questions))
}

function countStates(judged: readonly JudgedQuestion[]): StateCounts {
  return {
    refused: judged.filter((one) => isRefused(one, REFUSAL_THRESHOLD)).length,
    answered: judged.filter((one) => isAnswered(one, REFUSAL_THRESHOLD, SURE_QUOTATION_THRESHOLD)).length,
    asked: judged.length,
  }
}

/** Selects a few documents of a set with the questions that they answer. */
function selectFewDocuments(dataset: Dataset): Dataset {
  const selectedIds = new Set<string>()
  const queries = sample(dataset.queries, SMALL_SPACE_DOCUMENTS).filter(({ id }) => {
    const answers = [...(dataset.gradesByQuery.get(id) ?? [])].filter(([, grade]) => grade > 0).slice(0, 5)
    if (selectedIds.size + answers.length > SMALL_SPACE_DOCUMENTS / 2) return false
    for (const [document] of answers) selectedIds.add(document)
    return true
  })
  for (const { id } of sample(dataset.documents, SMALL_SPACE_DOCUMENTS - selectedIds.size)) selectedIds.add(id)
  return { ...dataset, queries, documents: dataset.documents.filter(({ id }) => selectedIds.has(id)) }
}

const computeFraction = (part: number, { asked }: StateCounts): number => part / Math.max(1, asked)
const mean = (values: readonly number[]): number => values.reduce((sum, one) => sum + one, 0) / values.length

function computeOwnFigures(name: string, judged: readonly JudgedQuestion[]): Figure[] {
  const states = countStates(judged)
  const refused = { name: `${name}: own refused`, value: computeFraction(states.refused, states), unit: '' }
  const answered = { name: `${name}: own answered`, value: computeFraction(states.answered, states), unit: '' }
  return [{ ...refused, ...(judged.length < MIN_QUESTIONS_FOR_BAR ? {} : { bar: { atMost: 0.05 } }) }, answered]
}

function measureKind(kind: 'whole' | 'small', sets: readonly Dataset[], unseen: Dataset): Figure[] {
  const figures: Figure[] = []
  const pairs: { name: string; states: StateCounts }[] = []
  const judgedSets: JudgedSet[] = []
  const lengths = { short: [] as StateCounts[], long: [] as StateCounts[] }
  for (const whole of sets) {
    const dataset = kind === 'small' ? selectFewDocuments(whole) : whole
    const space = new MemorySpace(dataset.documents)
    const questions = sample(dataset.queries, QUESTIONS)
    const judged = judgeQuestions(space, questions)
    judgedSets.push({ isOwn: true, questions: judged })
    figures.push(...computeOwnFigures(`${kind} ${dataset.name}`, judged))
    if (kind === 'whole' && dataset.name === 'scifact')
      figures.push(...computeOwnFigures(`${kind} scifact unseen`, judgeQuestions(space, unseen.queries)))
    const countTerms = ({ text }: { text: string }): number => new Set(analyzeQuery(text)).size
    lengths.short.push(
      judgeAndCount(
        space,
        questions.filter((one) => countTerms(one) <= MAX_SHORT_TERMS),
      ),
    )
    lengths.long.push(
      judgeAndCount(
        space,
        questions.filter((one) => countTerms(one) > MIN_LONG_TERMS),
      ),
    )
    for (const other of sets) {
      const name = `${other.name} ${dataset.name}`
      if (other.name === dataset.name || RELATED.has(name) || [other, dataset].some(isChinese)) continue
      const foreign = judgeQuestions(space, sample(other.queries, FOREIGN_QUESTIONS))
      judgedSets.push({ isOwn: false, questions: foreign })
      pairs.push({ name, states: countStates(foreign) })
    }
  }
  const curve = formatCurve(judgedSets, { refuse: REFUSAL_THRESHOLD, answer: SURE_QUOTATION_THRESHOLD })
  process.stdout.write(`\n${kind} spaces\n\n${curve.join('\n')}\n\n`)
  const sumCounts = (all: readonly StateCounts[]): StateCounts => ({
    refused: all.reduce((sum, one) => sum + one.refused, 0),
    answered: all.reduce((sum, one) => sum + one.answered, 0),
    asked: all.reduce((sum, one) => sum + one.asked, 0),
  })
  const short = sumCounts(lengths.short)
  const long = sumCounts(lengths.long)
  const refused = pairs.map(({ name, states }) => ({ name, value: computeFraction(states.refused, states) }))
  const answered = pairs.map(({ name, states }) => ({ name, value: computeFraction(states.answered, states) }))
  const worstRefused = refused.reduce((one, other) => (other.value < one.value ? other : one))
  const worstAnswered = answered.reduce((one, other) => (other.value > one.value ? other : one))
  return [
    ...figures,
    {
      name: `${kind}: own of at most ${MAX_SHORT_TERMS} terms refused`,
      value: computeFraction(short.refused, short),
      unit: '',
      bar: { atMost: 0.05 },
    },
    {
      name: `${kind}: own of more than ${MIN_LONG_TERMS} terms refused`,
      value: computeFraction(long.refused, long),
      unit: '',
      bar: { atMost: 0.05 },
    },
    {
      name: `${kind}: foreign refused, mean of pairs`,
      value: mean(refused.map(({ value }) => value)),
      unit: '',
      bar: { atLeast: 0.8 },
    },
    { name: `${kind}: foreign refused, worst pair`, value: worstRefused.value, unit: '', note: worstRefused.name },
    {
      name: `${kind}: foreign answered, mean of pairs`,
      value: mean(answered.map(({ value }) => value)),
      unit: '',
      bar: { atMost: 0.05 },
    },
    {
      name: `${kind}: foreign answered, worst pair`,
      value: worstAnswered.value,
      unit: '',
      note: worstAnswered.name,
      bar: { atMost: 0.1 },
    },
  ]
}

const isChinese = ({ name }: Dataset): boolean => name === 'cmrc2018-dev-zh'

export async function run(): Promise<Figure[]> {
  const folder = findDataFolder()
  if (folder === undefined) {
    process.stdout.write('skipped: the shared data sets are not on this machine\n')
    return []
  }
  const sets = ALL_SETS.map((name) => loadDataset(folder, name, 'train'))
  const unseen = loadDataset(folder, 'scifact', 'test')
  return (['whole', 'small'] as const).flatMap((kind) => measureKind(kind, sets, unseen))
}
