/**
 * How often evidence is judged enough: questions asked of their own documents, of another set's, and of the half of the
 * articles without the answer. Run with `node scripts/bench.js answerability`.
 */
import { evidenceState } from '../src/engine/query/answerability.js'
import { type Dataset, dataFolder, loadDataset, RETRIEVAL_SETS } from './lib/datasets.js'
import { MemorySpace } from './lib/memory-space.js'
import { type Figure, report } from './lib/report.js'

const QUESTIONS = 300
const CONSIDERED = 10
/** The worst pair is SQuAD asked of SciFact: one of SQuAD's articles is about what SciFact's abstracts are about. */
const BARS = { own: { atMost: 0.05 }, foreign: { atLeast: 0.8 }, 'held-out': undefined } as const
const MEAN_FOREIGN_BAR = 0.9

const folder = dataFolder()
if (folder === undefined) {
  console.log('skipped: the shared data sets are not on this machine')
  process.exit(0)
}

function sample<T>(all: readonly T[]): T[] {
  const stride = Math.max(1, Math.ceil(all.length / QUESTIONS))
  return all.filter((_, i) => i % stride === 0)
}

/** Shares of a set's own questions that might be refused, for the table of what each would buy. */
const REFUSALS = [0.02, 0.03, 0.05, 0.08, 0.1, 0.15]

/** confidences of each list of questions, rising */
const confidences: Record<'own' | 'foreign' | 'held-out', number[][]> = { own: [], foreign: [], 'held-out': [] }
/** answered (not refused) and asked, of questions with and without an answer in the space */
const totals = { own: { answered: 0, asked: 0 }, foreign: { answered: 0, asked: 0 } }
const figures: Figure[] = []

/** Asks questions of a space, prints the shares of the states and keeps the share that is refused. */
function measure(
  label: string,
  kind: 'own' | 'foreign' | 'held-out',
  space: MemorySpace,
  questions: readonly { text: string }[],
): void {
  const states = new Map<string, number>()
  const tops: number[] = []
  for (const { text } of questions) {
    const { terms, ranked } = space.ask(text)
    const items = ranked.slice(0, CONSIDERED).map((node) => {
      const { title, body } = space.nodes[node.key]!
      return { title, text: body, score: node.final, ...(node.features && { features: node.features }) }
    })
    const { state } = evidenceState({ query: text, terms, idf: space.idf, items })
    states.set(state, (states.get(state) ?? 0) + 1)
    tops.push(items[0]?.score ?? 0)
  }
  confidences[kind].push(tops.sort((a, b) => a - b))
  const share = (state: string): number => (states.get(state) ?? 0) / questions.length
  const names = ['not-enough-evidence', 'partial', 'conflict', 'answerable']
  const shown = names.map((state) => `${state} ${(100 * share(state)).toFixed(1)} %`).join('  ')
  process.stdout.write(`${label.padEnd(44)} ${shown}  n=${questions.length}\n`)
  if (kind !== 'held-out') {
    totals[kind].asked += questions.length
    totals[kind].answered += questions.length * (1 - share('not-enough-evidence'))
  }
  const bar = BARS[kind]
  figures.push({ name: `${label}: refused`, value: share('not-enough-evidence'), unit: '', ...(bar && { bar }) })
}

function half(title: string): number {
  let hash = 7
  for (const character of title) hash = (hash * 31 + (character.codePointAt(0) ?? 0)) | 0
  return hash & 1
}

function reportHeldOut(dataset: Dataset): void {
  for (const side of [0, 1]) {
    const space = new MemorySpace(
      dataset.documents.filter((document) => half(document.title) === side),
      true,
    )
    const elsewhere = sample(dataset.queries).filter(({ id }) => {
      const answer = dataset.documents.find((document) => (dataset.judged.get(id)?.get(document.id) ?? 0) > 0)
      return answer !== undefined && half(answer.title) !== side
    })
    measure(`${dataset.name} without its article (${side})`, 'held-out', space, elsewhere)
  }
}

/** What refusing more or fewer of the own questions would refuse of the foreign ones, with the model as it is. */
function printTradeOff(): void {
  process.stdout.write('\nown refused, worst set   threshold   foreign refused: worst pair, mean of pairs\n')
  for (const share of REFUSALS) {
    const threshold = Math.min(...confidences.own.map((tops) => tops[Math.floor(share * tops.length)] ?? 1))
    const refused = confidences.foreign.map((tops) => tops.filter((top) => top < threshold).length / tops.length)
    const mean = refused.reduce((sum, one) => sum + one, 0) / refused.length
    const cells = [`${100 * share} %`.padEnd(25), threshold.toFixed(2).padEnd(12), percent(Math.min(...refused))]
    process.stdout.write(`${cells.join('')}, ${percent(mean)}\n`)
  }
  process.stdout.write('\n')
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`
}

const sets = RETRIEVAL_SETS.map((name) => loadDataset(folder, name, 'train'))
for (const dataset of sets) {
  const space = new MemorySpace(dataset.documents, true)
  measure(`${dataset.name} of its own`, 'own', space, sample(dataset.queries))
  // nothing was fitted on SciFact's test questions
  if (dataset.name === 'scifact')
    measure('scifact of its own, unseen questions', 'held-out', space, loadDataset(folder, 'scifact', 'test').queries)
  if (dataset.name === 'squad2-dev' || dataset.name === 'cmrc2018-dev-zh') reportHeldOut(dataset)
  if (dataset.name === 'cmrc2018-dev-zh') continue
  for (const other of sets)
    if (other !== dataset && other.name !== 'cmrc2018-dev-zh')
      measure(`${other.name} asked of ${dataset.name}`, 'foreign', space, sample(other.queries))
}
printTradeOff()
const { own, foreign } = totals
figures.push(
  { name: 'precision of answering', value: own.answered / (own.answered + foreign.answered), unit: '' },
  { name: 'recall of answering', value: own.answered / own.asked, unit: '' },
  {
    ...{ name: 'foreign questions refused', value: 1 - foreign.answered / foreign.asked, unit: '' },
    bar: { atLeast: MEAN_FOREIGN_BAR },
  },
)
report('answerability', figures)
