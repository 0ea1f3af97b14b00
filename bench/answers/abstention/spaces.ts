/**
 * Spaces and questions to them: questions that their documents answer, questions about other subjects, and SQuAD 2's
 * questions about its articles that no passage answers. Documents and questions are split into two halves: one to tune
 * with, one to report.
 */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../../lib/daemon.js'
import { type Dataset, loadDataset, readJsonLines, type SourceDocument } from '../../lib/datasets.js'

export type Half = 'tuned' | 'reported'
/** `near`: about the articles of the space, but no passage answers it. */
export type Kind = 'own' | 'foreign' | 'near'

export interface QuestionedSpace {
  name: string
  half: Half
  size: Size
  documents: SourceDocument[]
  questions: { kind: Kind; from: string; texts: string[] }[]
}

/** All documents of the half, a few, or one. */
export type Size = 'half' | 'few' | 'one'

const MAX_OWN_QUESTIONS = 250
const MAX_FOREIGN_QUESTIONS = 100
const SMALL_SPACE_DOCUMENTS = 30
const SINGLE_DOCUMENT_SPACES = 12

const SET_NAMES = ['squad2-dev', 'cmrc2018-dev-zh', 'scifact', 'cranfield'] as const
type SetName = (typeof SET_NAMES)[number]

const selectHalf = (id: string): Half =>
  (createHash('sha256').update(id).digest()[1] ?? 0) < 128 ? 'tuned' : 'reported'
const toSortKey = (id: string): string => createHash('sha256').update(`order ${id}`).digest('hex')
const shuffle = <T>(all: readonly T[], getId: (one: T) => string): T[] =>
  [...all].sort((a, b) => (toSortKey(getId(a)) < toSortKey(getId(b)) ? -1 : 1))

interface SetHalf {
  name: SetName
  documents: SourceDocument[]
  /** a document of this half answers each of them */
  questions: { id: string; text: string; answers: string[] }[]
}

/** Loads half of a set. An article is not split, so its questions are foreign to the other half. */
function loadSetHalf(folder: string, name: SetName, half: Half): SetHalf {
  const set = loadDataset(folder, name, half === 'tuned' ? 'train' : 'test')
  const byArticle = name === 'squad2-dev' || name === 'cmrc2018-dev-zh'
  const documents = set.documents.filter(({ id, title }) => selectHalf(byArticle ? title : id) === half)
  const documentIds = new Set(documents.map(({ id }) => id))
  const questions = set.queries.flatMap(({ id, text }) => {
    const answers = listAnswers(set, id).filter((one) => documentIds.has(one))
    const isInHalf = byArticle || name === 'scifact' || selectHalf(id) === half
    return answers.length > 0 && isInHalf ? [{ id, text, answers }] : []
  })
  return { name, documents, questions: shuffle(questions, ({ id }) => id) }
}

/** Lists the documents that certainly answer a question: for Cranfield those with a high grade. */
function listAnswers(set: Dataset, id: string): string[] {
  const relevant = [...(set.gradesByQuery.get(id) ?? [])].filter(
    ([, grade]) => grade > (set.name === 'cranfield' ? 2 : 0),
  )
  return relevant.sort(([, a], [, b]) => b - a).map(([document]) => document)
}

export function buildSpaces(folder: string, half: Half): QuestionedSpace[] {
  const parts = SET_NAMES.map((name) => loadSetHalf(folder, name, half))
  const others = SET_NAMES.map((name) => loadSetHalf(folder, name, half === 'tuned' ? 'reported' : 'tuned'))
  const near = readNearMisses(folder, half)
  return [
    ...parts.flatMap((one) => {
      const foreign = selectForeign(one, parts, others)
      return [
        buildHalfSpace(one, half, foreign, one.name === 'squad2-dev' ? near : []),
        buildSmallSpace(one, half, foreign),
        ...buildSingleSpaces(one, half, foreign),
      ]
    }),
    buildManualSpace(parts, half),
  ]
}

type SpaceQuestions = QuestionedSpace['questions']

/** Selects questions of other sets in the same language and half, and of the other half's articles. */
function selectForeign({ name }: SetHalf, parts: readonly SetHalf[], others: readonly SetHalf[]): SpaceQuestions {
  const isChinese = name === 'cmrc2018-dev-zh'
  const otherSets = parts.filter((other) => other.name !== name && !isChinese && other.name !== 'cmrc2018-dev-zh')
  const articles = others.filter((other) => other.name === name && (isChinese || name === 'squad2-dev'))
  return [...otherSets, ...articles].map((other) => ({
    kind: 'foreign' as const,
    from: other.name === name ? 'other articles' : other.name,
    texts: other.questions.slice(0, MAX_FOREIGN_QUESTIONS).map(({ text }) => text),
  }))
}

function buildHalfSpace(
  { name, documents, questions }: SetHalf,
  half: Half,
  foreign: SpaceQuestions,
  near: string[],
): QuestionedSpace {
  const own = { kind: 'own' as const, from: name, texts: questions.slice(0, MAX_OWN_QUESTIONS).map(({ text }) => text) }
  const misses = near.length === 0 ? [] : [{ kind: 'near' as const, from: 'unanswerable', texts: near }]
  return { name, half, size: 'half', documents, questions: [own, ...foreign, ...misses] }
}

function buildSmallSpace(
  { name, documents, questions }: SetHalf,
  half: Half,
  foreign: SpaceQuestions,
): QuestionedSpace {
  const selectedIds = new Set<string>()
  for (const { answers } of questions) if (selectedIds.size < SMALL_SPACE_DOCUMENTS) selectedIds.add(answers[0] ?? '')
  const own = questions.filter(({ answers }) => selectedIds.has(answers[0] ?? ''))
  return {
    name,
    half,
    size: 'few',
    documents: documents.filter(({ id }) => selectedIds.has(id)),
    questions: [{ kind: 'own', from: name, texts: own.map(({ text }) => text) }, ...takeEvery(foreign, 2)],
  }
}

function buildSingleSpaces(
  { name, documents, questions }: SetHalf,
  half: Half,
  foreign: SpaceQuestions,
): QuestionedSpace[] {
  const ids = [...new Set(questions.map(({ answers }) => answers[0] ?? ''))].slice(0, SINGLE_DOCUMENT_SPACES)
  return ids.map((id) => ({
    name,
    half,
    size: 'one' as const,
    documents: documents.filter((one) => one.id === id),
    questions: [
      { kind: 'own', from: name, texts: questions.filter((one) => one.answers[0] === id).map(({ text }) => text) },
      ...takeEvery(foreign, 10),
    ],
  }))
}

const takeEvery = (asked: SpaceQuestions, step: number): SpaceQuestions =>
  asked.map((one) => ({ ...one, texts: one.texts.filter((_, index) => index % step === 0) }))

/** Builds a space of this project's handbook, with foreign questions only. */
function buildManualSpace(parts: readonly SetHalf[], half: Half): QuestionedSpace {
  const folder = join(ROOT, 'docs')
  const documents = readdirSync(folder)
    .filter((name) => name.endsWith('.md'))
    .map((name) => ({ id: name, title: name.replace('.md', ''), text: readFileSync(join(folder, name), 'utf8') }))
  const questions = parts
    .filter(({ name }) => name !== 'cmrc2018-dev-zh')
    .map((part) => ({
      kind: 'foreign' as const,
      from: part.name,
      texts: part.questions.slice(0, MAX_FOREIGN_QUESTIONS).map(({ text }) => text),
    }))
  return { name: 'manual', half, size: 'half', documents, questions }
}

function readNearMisses(folder: string, half: Half): string[] {
  return readJsonLines<{ _id: string; text: string }>(join(folder, 'squad2-dev', 'unanswerable.jsonl'))
    .filter(({ _id }) => selectHalf(_id) === half)
    .map(({ text }) => text)
}
