/**
 * Abstention: whether questions that a space does not answer are refused. Asks questions of the space's own documents, of
 * other sets and of other articles, in spaces of half a set, of about thirty documents, and of one document. The weight of
 * a missing name was chosen on the half `tuned`.
 */
import { ANSWER_THRESHOLD, judgeEvidence, REFUSAL_THRESHOLD } from '../../src/engine/retrieval/query/answerability.js'
import { findDataFolder } from '../lib/datasets.js'
import { MemorySpace } from '../lib/memory-space.js'
import { type Figure, formatTable } from '../lib/report.js'
import { computeAreaUnderCurve, computeBalancedAccuracy } from './abstention/curve.js'
import { buildSpaces, type Half, type Kind, type QuestionedSpace, type Size } from './abstention/spaces.js'

const MAX_PASSAGES = 10

interface QuestionVerdict {
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
  const folder = findDataFolder()
  if (folder === undefined) {
    process.stdout.write('skipped: the shared data sets are not on this machine\n')
    return []
  }
  return (['tuned', 'reported'] as const).flatMap((half) => {
    const verdicts = buildSpaces(folder, half).flatMap(judgeSpace)
    process.stdout.write(`\n${half}\n\n${formatPairs(verdicts)}\n`)
    return (['half', 'few', 'one'] as const).flatMap((size) => computeFigures(half, size, verdicts))
  })
}

function judgeSpace({ name, half, size, documents, questions }: QuestionedSpace): QuestionVerdict[] {
  const space = new MemorySpace(documents)
  return questions.flatMap(({ kind, from, texts }) =>
    texts.map((text) => {
      const { terms, ranked, statistics } = space.ask(text)
      const items = ranked.slice(0, MAX_PASSAGES).map((node) => {
        const { title, body } = space.nodes[node.key]!
        return { title, text: body, score: node.final, ...(node.features && { features: node.features }) }
      })
      const { state } = judgeEvidence({ query: text, terms, idf: space.idf, statistics, items })
      return { half, size, space: name, from, kind, state, top: items[0]?.score ?? 0 }
    }),
  )
}

const isRefused = ({ state }: QuestionVerdict): boolean => state === 'not-enough-evidence'
const isAnswered = ({ state }: QuestionVerdict): boolean => state === 'answerable' || state === 'conflict'
const computeFraction = (all: readonly QuestionVerdict[], isCounted: (one: QuestionVerdict) => boolean): number =>
  all.filter(isCounted).length / Math.max(1, all.length)

function formatPairs(verdicts: readonly QuestionVerdict[]): string {
  const pairs = groupBy(verdicts, ({ size, space, kind, from }) => `${size}\t${space}\t${kind}\t${from}`)
  const rows = [...pairs].map(([name, all]) => [
    ...name.split('\t'),
    String(all.length),
    computeFraction(all, isRefused).toFixed(3),
    computeFraction(all, isAnswered).toFixed(3),
  ])
  return formatTable(['space', 'of', 'questions', 'from', 'asked', 'refused', 'answered'], rows)
}

function computeFigures(half: Half, size: Size, verdicts: readonly QuestionVerdict[]): Figure[] {
  const select = (kind: Kind): QuestionVerdict[] => verdicts.filter((one) => one.size === size && one.kind === kind)
  const [own, foreign, near] = [select('own'), select('foreign'), select('near')]
  const createFigure = (name: string, value: number, bar?: Figure['bar']): Figure => ({
    name: `${half}, ${size}: ${name}`,
    value,
    unit: '',
    ...(bar === undefined ? {} : { bar }),
  })
  const scores = { own: own.map(({ top }) => top), foreign: foreign.map(({ top }) => top) }
  return [
    createFigure('own refused', computeFraction(own, isRefused), { atMost: 0.05 }),
    createFigure('own answered', computeFraction(own, isAnswered)),
    createFigure('foreign refused', computeFraction(foreign, isRefused), { atLeast: 0.8 }),
    createFigure('foreign answered', computeFraction(foreign, isAnswered), { atMost: 0.05 }),
    createFigure('AUROC of the confidence', computeAreaUnderCurve(scores)),
    createFigure(
      'AUROC of the states',
      computeAreaUnderCurve({ own: own.map(rankState), foreign: foreign.map(rankState) }),
    ),
    createFigure(
      `balanced accuracy, confidence from ${REFUSAL_THRESHOLD}`,
      computeBalancedAccuracy(scores, REFUSAL_THRESHOLD),
    ),
    createFigure(
      `balanced accuracy, confidence from ${ANSWER_THRESHOLD}`,
      computeBalancedAccuracy(scores, ANSWER_THRESHOLD),
    ),
    createFigure(
      'balanced accuracy, not refused',
      (1 - computeFraction(own, isRefused) + computeFraction(foreign, isRefused)) / 2,
    ),
    createFigure(
      'balanced accuracy, answered',
      (1 + computeFraction(own, isAnswered) - computeFraction(foreign, isAnswered)) / 2,
    ),
    ...(near.length === 0
      ? []
      : [
          createFigure('unanswerable of its articles refused', computeFraction(near, isRefused)),
          createFigure('unanswerable of its articles answered', computeFraction(near, isAnswered)),
        ]),
  ]
}

/** Ranks a verdict by its state: refused, closest passages, answered. */
const rankState = (one: QuestionVerdict): number => (isRefused(one) ? 0 : isAnswered(one) ? 2 : 1)

function groupBy<T>(all: readonly T[], getKey: (one: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const one of all) groups.set(getKey(one), [...(groups.get(getKey(one)) ?? []), one])
  return groups
}
