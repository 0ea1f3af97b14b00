/**
 * The gate: which questions are refused, told the closest passages, or answered. Questions of each set are asked of
 * their own documents and of every other set's in the same language, in the whole space and in one of a few documents.
 *
 * The model (`src/engine/retrieval/query/confidence.ts`) was fitted on SciFact's training questions, SQuAD, Cranfield, CISI, MED,
 * CMRC and on sets of program text made for it, each left out once; SciFact's test questions took no part.
 */
import {
  judgeEvidence,
  REFUSAL_THRESHOLD,
  SURE_QUOTATION_THRESHOLD,
} from '../../src/engine/retrieval/query/answerability.js'
import { chooseQuotation } from '../../src/engine/retrieval/query/quotation/quote.js'
import { analyzeQuery } from '../../src/lib/text/analyze.js'
import { type Dataset, dataFolder, loadDataset, MEANING_SETS } from '../lib/datasets.js'
import { MemorySpace } from '../lib/memory-space.js'
import type { Figure } from '../lib/report.js'
import { curveOf, isAnswered, isRefused, type Judged, type JudgedSet } from './gate-curve.js'

const QUESTIONS = 300
const FOREIGN_QUESTIONS = 150
const CONSIDERED = 10
/** Documents of a small space. */
const SMALL = 200
/** MED's questions and SciFact's abstracts are of one subject: those are no foreign questions. */
const RELATED = new Set(['med scifact', 'scifact med'])
const SHORT = 3
const LONG = 12
/** Fewer questions than this say little: one refused is more than the bar allows. */
const FEWEST = 20

interface States {
  refused: number
  answered: number
  asked: number
}

function sample<T>(all: readonly T[], count: number): T[] {
  const stride = Math.max(1, Math.ceil(all.length / count))
  return all.filter((_, i) => i % stride === 0)
}

function judgedBy(space: MemorySpace, questions: readonly { text: string }[]): Judged[] {
  return questions.map(({ text }) => {
    const { terms, ranked } = space.ask(text)
    const top = ranked[0]?.final ?? 0
    // as if it were certain that something answers: names and contradictions decide besides the thresholds
    const items = ranked.slice(0, CONSIDERED).map((node) => {
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

function statesOf(space: MemorySpace, questions: readonly { text: string }[]): States {
  return countedStates(judgedBy(space, questions))
}

function countedStates(judged: readonly Judged[]): States {
  return {
    refused: judged.filter((one) => isRefused(one, REFUSAL_THRESHOLD)).length,
    answered: judged.filter((one) => isAnswered(one, REFUSAL_THRESHOLD, SURE_QUOTATION_THRESHOLD)).length,
    asked: judged.length,
  }
}

/** A few of a set's documents, those that its questions ask for among them, and these questions. */
function fewOf(dataset: Dataset): Dataset {
  const kept = new Set<string>()
  const queries = sample(dataset.queries, SMALL).filter(({ id }) => {
    const answers = [...(dataset.judged.get(id) ?? [])].filter(([, grade]) => grade > 0).slice(0, 5)
    if (kept.size + answers.length > SMALL / 2) return false
    for (const [document] of answers) kept.add(document)
    return true
  })
  for (const { id } of sample(dataset.documents, SMALL - kept.size)) kept.add(id)
  return { ...dataset, queries, documents: dataset.documents.filter(({ id }) => kept.has(id)) }
}

const share = (part: number, { asked }: States): number => part / Math.max(1, asked)
const mean = (values: readonly number[]): number => values.reduce((sum, one) => sum + one, 0) / values.length

function own(name: string, judged: readonly Judged[]): Figure[] {
  const states = countedStates(judged)
  const refused = { name: `${name}: own refused`, value: share(states.refused, states), unit: '' }
  const answered = { name: `${name}: own answered`, value: share(states.answered, states), unit: '' }
  return [{ ...refused, ...(judged.length < FEWEST ? {} : { bar: { atMost: 0.05 } }) }, answered]
}

function ofKind(kind: 'whole' | 'small', sets: readonly Dataset[], unseen: Dataset): Figure[] {
  const figures: Figure[] = []
  const pairs: { name: string; states: States }[] = []
  const asked: JudgedSet[] = []
  const lengths = { short: [] as States[], long: [] as States[] }
  for (const whole of sets) {
    const dataset = kind === 'small' ? fewOf(whole) : whole
    const space = new MemorySpace(dataset.documents, true)
    const questions = sample(dataset.queries, QUESTIONS)
    const judged = judgedBy(space, questions)
    asked.push({ own: true, questions: judged })
    figures.push(...own(`${kind} ${dataset.name}`, judged))
    if (kind === 'whole' && dataset.name === 'scifact')
      figures.push(...own(`${kind} scifact unseen`, judgedBy(space, unseen.queries)))
    const termsOf = ({ text }: { text: string }): number => new Set(analyzeQuery(text)).size
    lengths.short.push(
      statesOf(
        space,
        questions.filter((one) => termsOf(one) <= SHORT),
      ),
    )
    lengths.long.push(
      statesOf(
        space,
        questions.filter((one) => termsOf(one) > LONG),
      ),
    )
    for (const other of sets) {
      const name = `${other.name} ${dataset.name}`
      if (other.name === dataset.name || RELATED.has(name) || [other, dataset].some(isChinese)) continue
      const foreign = judgedBy(space, sample(other.queries, FOREIGN_QUESTIONS))
      asked.push({ own: false, questions: foreign })
      pairs.push({ name, states: countedStates(foreign) })
    }
  }
  const curve = curveOf(asked, { refuse: REFUSAL_THRESHOLD, answer: SURE_QUOTATION_THRESHOLD })
  process.stdout.write(`\n${kind} spaces\n\n${curve.join('\n')}\n\n`)
  const together = (all: readonly States[]): States => ({
    refused: all.reduce((sum, one) => sum + one.refused, 0),
    answered: all.reduce((sum, one) => sum + one.answered, 0),
    asked: all.reduce((sum, one) => sum + one.asked, 0),
  })
  const short = together(lengths.short)
  const long = together(lengths.long)
  const refused = pairs.map(({ name, states }) => ({ name, value: share(states.refused, states) }))
  const answered = pairs.map(({ name, states }) => ({ name, value: share(states.answered, states) }))
  const least = refused.reduce((one, other) => (other.value < one.value ? other : one))
  const most = answered.reduce((one, other) => (other.value > one.value ? other : one))
  return [
    ...figures,
    {
      name: `${kind}: own of at most ${SHORT} terms refused`,
      value: share(short.refused, short),
      unit: '',
      bar: { atMost: 0.05 },
    },
    {
      name: `${kind}: own of more than ${LONG} terms refused`,
      value: share(long.refused, long),
      unit: '',
      bar: { atMost: 0.05 },
    },
    {
      name: `${kind}: foreign refused, mean of pairs`,
      value: mean(refused.map(({ value }) => value)),
      unit: '',
      bar: { atLeast: 0.8 },
    },
    { name: `${kind}: foreign refused, worst pair`, value: least.value, unit: '', note: least.name },
    {
      name: `${kind}: foreign answered, mean of pairs`,
      value: mean(answered.map(({ value }) => value)),
      unit: '',
      bar: { atMost: 0.05 },
    },
    {
      name: `${kind}: foreign answered, worst pair`,
      value: most.value,
      unit: '',
      note: most.name,
      bar: { atMost: 0.1 },
    },
  ]
}

const isChinese = ({ name }: Dataset): boolean => name === 'cmrc2018-dev-zh'

export async function run(): Promise<Figure[]> {
  const folder = dataFolder()
  if (folder === undefined) {
    process.stdout.write('skipped: the shared data sets are not on this machine\n')
    return []
  }
  const sets = MEANING_SETS.map((name) => loadDataset(folder, name, 'train'))
  const unseen = loadDataset(folder, 'scifact', 'test')
  return (['whole', 'small'] as const).flatMap((kind) => ofKind(kind, sets, unseen))
}
