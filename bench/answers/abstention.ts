/**
 * Abstention: whether what nothing in a space answers is told as such. Questions of each set are asked of their own
 * documents, of other sets' and of other articles, in halves of the sets, in spaces of some thirty documents and in
 * single documents; the weight of a missing name was chosen on the half `tuned`, the half `aside` is reported.
 */
import { ANSWER_THRESHOLD, judgeEvidence, REFUSAL_THRESHOLD } from '../../src/engine/retrieval/query/answerability.js'
import { dataFolder } from '../lib/datasets.js'
import { MemorySpace } from '../lib/memory-space.js'
import { type Figure, tableText } from '../lib/report.js'
import { areaUnder, balancedAccuracy } from './abstention/curve.js'
import { type AskedSpace, type Half, type Kind, type Size, spacesOf } from './abstention/spaces.js'

const CONSIDERED = 10

interface Told {
  half: Half
  size: Size
  space: string
  from: string
  kind: Kind
  state: string
  /** confidence in the best passage */
  top: number
}

export async function run(): Promise<Figure[]> {
  const folder = dataFolder()
  if (folder === undefined) {
    process.stdout.write('skipped: the shared data sets are not on this machine\n')
    return []
  }
  return (['tuned', 'aside'] as const).flatMap((half) => {
    const told = spacesOf(folder, half).flatMap(askedOf)
    process.stdout.write(`\n${half}\n\n${byPair(told)}\n`)
    return (['half', 'few', 'one'] as const).flatMap((size) => figuresOf(half, size, told))
  })
}

function askedOf({ name, half, size, documents, questions }: AskedSpace): Told[] {
  const space = new MemorySpace(documents, true)
  return questions.flatMap(({ kind, from, texts }) =>
    texts.map((text) => {
      const { terms, ranked, asked } = space.ask(text)
      const items = ranked.slice(0, CONSIDERED).map((node) => {
        const { title, body } = space.nodes[node.key]!
        return { title, text: body, score: node.final, ...(node.features && { features: node.features }) }
      })
      const { state } = judgeEvidence({ query: text, terms, idf: space.idf, asked, items })
      return { half, size, space: name, from, kind, state, top: items[0]?.score ?? 0 }
    }),
  )
}

const isRefused = ({ state }: Told): boolean => state === 'not-enough-evidence'
const isAnswered = ({ state }: Told): boolean => state === 'answerable' || state === 'conflict'
const share = (all: readonly Told[], holds: (one: Told) => boolean): number =>
  all.filter(holds).length / Math.max(1, all.length)

/** What becomes of the questions of each set in each space. */
function byPair(told: readonly Told[]): string {
  const pairs = groupedBy(told, ({ size, space, kind, from }) => `${size}\t${space}\t${kind}\t${from}`)
  const rows = [...pairs].map(([name, all]) => [
    ...name.split('\t'),
    String(all.length),
    share(all, isRefused).toFixed(3),
    share(all, isAnswered).toFixed(3),
  ])
  return tableText(['space', 'of', 'questions', 'from', 'asked', 'refused', 'answered'], rows)
}

function figuresOf(half: Half, size: Size, told: readonly Told[]): Figure[] {
  const of = (kind: Kind): Told[] => told.filter((one) => one.size === size && one.kind === kind)
  const [own, foreign, near] = [of('own'), of('foreign'), of('near')]
  const figure = (name: string, value: number, bar?: Figure['bar']): Figure => ({
    name: `${half}, ${size}: ${name}`,
    value,
    unit: '',
    ...(bar === undefined ? {} : { bar }),
  })
  const scores = { own: own.map(({ top }) => top), foreign: foreign.map(({ top }) => top) }
  return [
    figure('own refused', share(own, isRefused), { atMost: 0.05 }),
    figure('own answered', share(own, isAnswered)),
    figure('foreign refused', share(foreign, isRefused), { atLeast: 0.8 }),
    figure('foreign answered', share(foreign, isAnswered), { atMost: 0.05 }),
    figure('AUROC of the confidence', areaUnder(scores)),
    figure('AUROC of the states', areaUnder({ own: own.map(rank), foreign: foreign.map(rank) })),
    figure(`balanced accuracy, confidence from ${REFUSAL_THRESHOLD}`, balancedAccuracy(scores, REFUSAL_THRESHOLD)),
    figure(`balanced accuracy, confidence from ${ANSWER_THRESHOLD}`, balancedAccuracy(scores, ANSWER_THRESHOLD)),
    figure('balanced accuracy, not refused', (1 - share(own, isRefused) + share(foreign, isRefused)) / 2),
    figure('balanced accuracy, answered', (1 + share(own, isAnswered) - share(foreign, isAnswered)) / 2),
    ...(near.length === 0
      ? []
      : [
          figure('unanswerable of its articles refused', share(near, isRefused)),
          figure('unanswerable of its articles answered', share(near, isAnswered)),
        ]),
  ]
}

/** States in the order of what they say for an answer. */
const rank = (one: Told): number => (isRefused(one) ? 0 : isAnswered(one) ? 2 : 1)

function groupedBy<T>(all: readonly T[], nameOf: (one: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const one of all) groups.set(nameOf(one), [...(groups.get(nameOf(one)) ?? []), one])
  return groups
}
