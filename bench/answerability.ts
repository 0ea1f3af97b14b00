/**
 * How often evidence is judged enough: questions asked of their own documents, of another set's, and of the half of the
 * articles without the answer. Run with `node scripts/bench.js answerability`.
 */
import { evidenceState } from '../src/engine/query/answerability.js'
import { type Dataset, dataFolder, loadDataset, RETRIEVAL_SETS } from './lib/datasets.js'
import { MemorySpace } from './lib/memory-space.js'

const QUESTIONS = 300
const CONSIDERED = 10

const folder = dataFolder()
if (folder === undefined) {
  console.log('skipped: the shared data sets are not on this machine')
  process.exit(0)
}

function sample<T>(all: readonly T[]): T[] {
  const stride = Math.max(1, Math.ceil(all.length / QUESTIONS))
  return all.filter((_, i) => i % stride === 0)
}

function report(label: string, space: MemorySpace, questions: readonly { text: string }[]): void {
  const states = new Map<string, number>()
  for (const { text } of questions) {
    const { terms, ranked } = space.ask(text)
    const items = ranked.slice(0, CONSIDERED).map((node) => {
      const { title, body } = space.nodes[node.key]!
      return { title, text: body, score: node.final }
    })
    const { state } = evidenceState({ query: text, terms, idf: space.idf, items })
    states.set(state, (states.get(state) ?? 0) + 1)
  }
  const share = (state: string): string =>
    `${state} ${((100 * (states.get(state) ?? 0)) / questions.length).toFixed(1)} %`
  console.log(
    label.padEnd(44),
    ['not-enough-evidence', 'partial', 'conflict', 'answerable'].map(share).join('  '),
    `n=${questions.length}`,
  )
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
    report(`${dataset.name} without its article (${side})`, space, elsewhere)
  }
}

const sets = RETRIEVAL_SETS.map((name) => loadDataset(folder, name, 'train'))
for (const dataset of sets) {
  const space = new MemorySpace(dataset.documents, true)
  report(`${dataset.name} of its own`, space, sample(dataset.queries))
  if (dataset.name === 'squad2-dev' || dataset.name === 'cmrc2018-dev-zh') reportHeldOut(dataset)
  if (dataset.name === 'cmrc2018-dev-zh') continue
  for (const other of sets)
    if (other !== dataset && other.name !== 'cmrc2018-dev-zh')
      report(`${other.name} asked of ${dataset.name}`, space, sample(other.queries))
}
