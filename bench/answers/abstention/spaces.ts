/**
 * Spaces and the questions that are asked of them: those that their documents answer, those that nothing in them does,
 * and, of SQuAD 2, those written about its articles that no passage answers. Documents and questions are parted into two
 * halves that share neither: one to tune with, one to report.
 */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../../lib/daemon.js'
import { type Dataset, loadDataset, type SourceDocument } from '../../lib/datasets.js'

export type Half = 'tuned' | 'aside'
export type Kind = 'own' | 'foreign' | 'near'

/** Questions of one kind that are asked of one space. */
export interface AskedSpace {
  name: string
  half: Half
  size: Size
  documents: SourceDocument[]
  questions: { kind: Kind; from: string; texts: string[] }[]
}

/** Half of a set, some of its documents, or a single one. */
export type Size = 'half' | 'few' | 'one'

const OWN = 250
const FOREIGN = 100
/** Documents of a small space; spaces of one document, and own questions of each set in small ones. */
const FEW = 30
const SINGLE = 12

const SETS = ['squad2-dev', 'cmrc2018-dev-zh', 'scifact', 'cranfield'] as const
type SetName = (typeof SETS)[number]

const halfOf = (id: string): Half => ((createHash('sha256').update(id).digest()[1] ?? 0) < 128 ? 'tuned' : 'aside')
const orderOf = (id: string): string => createHash('sha256').update(`order ${id}`).digest('hex')
const shuffled = <T>(all: readonly T[], idOf: (one: T) => string): T[] =>
  [...all].sort((a, b) => (orderOf(idOf(a)) < orderOf(idOf(b)) ? -1 : 1))

interface Part {
  name: SetName
  documents: SourceDocument[]
  /** with a document of this half that answers */
  questions: { id: string; text: string; answers: string[] }[]
}

/** Articles stay whole: a question of one is foreign to the other half. */
function part(folder: string, name: SetName, half: Half): Part {
  const set = loadDataset(folder, name, half === 'tuned' ? 'train' : 'test')
  const byArticle = name === 'squad2-dev' || name === 'cmrc2018-dev-zh'
  const documents = set.documents.filter(({ id, title }) => halfOf(byArticle ? title : id) === half)
  const here = new Set(documents.map(({ id }) => id))
  const questions = set.queries.flatMap(({ id, text }) => {
    const answers = answersOf(set, id).filter((one) => here.has(one))
    const isHere = byArticle || name === 'scifact' || halfOf(id) === half
    return answers.length > 0 && isHere ? [{ id, text, answers }] : []
  })
  return { name, documents, questions: shuffled(questions, ({ id }) => id) }
}

/** Documents that certainly answer: of Cranfield's grades the upper ones. */
function answersOf(set: Dataset, id: string): string[] {
  const graded = [...(set.judged.get(id) ?? [])].filter(([, grade]) => grade > (set.name === 'cranfield' ? 2 : 0))
  return graded.sort(([, a], [, b]) => b - a).map(([document]) => document)
}

/** All spaces of a half. */
export function spacesOf(folder: string, half: Half): AskedSpace[] {
  const parts = SETS.map((name) => part(folder, name, half))
  const others = SETS.map((name) => part(folder, name, half === 'tuned' ? 'aside' : 'tuned'))
  const near = nearMisses(folder, half)
  return [
    ...parts.flatMap((one) => {
      const foreign = foreignTo(one, parts, others)
      return [
        halfSpace(one, half, foreign, one.name === 'squad2-dev' ? near : []),
        fewSpace(one, half, foreign),
        ...singleSpaces(one, half, foreign),
      ]
    }),
    manual(parts, half),
  ]
}

type Asked = AskedSpace['questions']

/** Of other sets in the same language and half; and of the other half's articles, which are on other subjects. */
function foreignTo({ name }: Part, parts: readonly Part[], others: readonly Part[]): Asked {
  const isChinese = name === 'cmrc2018-dev-zh'
  const from = parts.filter((other) => other.name !== name && !isChinese && other.name !== 'cmrc2018-dev-zh')
  const articles = others.filter((other) => other.name === name && (isChinese || name === 'squad2-dev'))
  return [...from, ...articles].map((other) => ({
    kind: 'foreign' as const,
    from: other.name === name ? 'other articles' : other.name,
    texts: other.questions.slice(0, FOREIGN).map(({ text }) => text),
  }))
}

function halfSpace({ name, documents, questions }: Part, half: Half, foreign: Asked, near: string[]): AskedSpace {
  const own = { kind: 'own' as const, from: name, texts: questions.slice(0, OWN).map(({ text }) => text) }
  const misses = near.length === 0 ? [] : [{ kind: 'near' as const, from: 'unanswerable', texts: near }]
  return { name, half, size: 'half', documents, questions: [own, ...foreign, ...misses] }
}

function fewSpace({ name, documents, questions }: Part, half: Half, foreign: Asked): AskedSpace {
  const kept = new Set<string>()
  for (const { answers } of questions) if (kept.size < FEW) kept.add(answers[0] ?? '')
  const own = questions.filter(({ answers }) => kept.has(answers[0] ?? ''))
  return {
    name,
    half,
    size: 'few',
    documents: documents.filter(({ id }) => kept.has(id)),
    questions: [{ kind: 'own', from: name, texts: own.map(({ text }) => text) }, ...fewer(foreign, 2)],
  }
}

function singleSpaces({ name, documents, questions }: Part, half: Half, foreign: Asked): AskedSpace[] {
  const ids = [...new Set(questions.map(({ answers }) => answers[0] ?? ''))].slice(0, SINGLE)
  return ids.map((id) => ({
    name,
    half,
    size: 'one' as const,
    documents: documents.filter((one) => one.id === id),
    questions: [
      { kind: 'own', from: name, texts: questions.filter((one) => one.answers[0] === id).map(({ text }) => text) },
      ...fewer(foreign, 10),
    ],
  }))
}

const fewer = (asked: Asked, by: number): Asked =>
  asked.map((one) => ({ ...one, texts: one.texts.filter((_, place) => place % by === 0) }))

/** The handbook of this project: technical documents, of which nothing but foreign questions are asked. */
function manual(parts: readonly Part[], half: Half): AskedSpace {
  const folder = join(ROOT, 'docs')
  const documents = readdirSync(folder)
    .filter((name) => name.endsWith('.md'))
    .map((name) => ({ id: name, title: name.replace('.md', ''), text: readFileSync(join(folder, name), 'utf8') }))
  const questions = parts
    .filter(({ name }) => name !== 'cmrc2018-dev-zh')
    .map(({ name, questions: asked }) => ({
      kind: 'foreign' as const,
      from: name,
      texts: asked.slice(0, FOREIGN).map(({ text }) => text),
    }))
  return { name: 'manual', half, size: 'half', documents, questions }
}

/** Questions about SQuAD's articles that their passages do not answer. */
function nearMisses(folder: string, half: Half): string[] {
  return readFileSync(join(folder, 'squad2-dev', 'unanswerable.jsonl'), 'utf8')
    .split('\n')
    .flatMap((line): { _id: string; text: string }[] => (line === '' ? [] : [JSON.parse(line)]))
    .filter(({ _id }) => halfOf(_id) === half)
    .map(({ text }) => text)
}
