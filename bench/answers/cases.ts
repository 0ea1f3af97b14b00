import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  buildCandidates,
  type QuotablePassage,
  type QuotationCandidate,
} from '../../src/engine/retrieval/query/quotation/candidates.js'
import { type PreparedQuestion, prepareQuestion } from '../../src/engine/retrieval/query/quotation/question.js'
import { MAX_PASSAGES } from '../../src/engine/retrieval/query/quotation/quote.js'
import { dataFolder } from '../lib/datasets.js'
import { FolderSpace } from './folder-space.js'
import { isRight, type QuestionSet } from './questions.js'

/** A question with the units that can answer it. */
export interface Case {
  set: string
  /** how much it counts in training */
  weight: number
  question: PreparedQuestion
  passages: QuotablePassage[]
  candidates: QuotationCandidate[]
  /** whether any document answers it */
  isAnswered: boolean
  /** whether a quotation answers it */
  isRight: (units: readonly QuotationCandidate[]) => boolean
}

/** Training weight of a public question, against 1 of a folder's: these ask only for facts in paragraphs. */
const PUBLIC_WEIGHT = 0.3
/** Only every n-th question of a public set is used. */
const SQUAD_STEP = 3
const OTHER_STEP = 6

/** The text of a quotation with its headings and leads. */
export function quotedText(units: readonly QuotationCandidate[]): string {
  return units.map(({ unit: { heading, lead, text } }) => [heading, lead, text].join('\n')).join('\n')
}

interface CaseSource {
  set: string
  query: string
  weight: number
  /** undefined: nothing answers */
  judge?: (text: string) => boolean
}

function caseOf(space: FolderSpace, { set, query, weight, judge }: CaseSource): Case {
  const passages = space
    .ask(query)
    .ranked.slice(0, MAX_PASSAGES)
    .map(({ key, final }) => {
      const { text, title, file } = space.passages[key]!
      return { text, title, source: file, score: final }
    })
  const question = prepareQuestion(query, space.idf)
  return {
    set,
    weight,
    question,
    passages,
    candidates: buildCandidates(question, passages),
    isAnswered: judge !== undefined,
    isRight: (units) => units.length > 0 && judge?.(quotedText(units)) === true,
  }
}

/** Reads folders with their questions. */
export async function folderCases(sets: readonly QuestionSet[]): Promise<Case[]> {
  const cases: Case[] = []
  for (const { name, folder, questions } of sets) {
    const space = await FolderSpace.read(folder)
    for (const one of questions) {
      const judge = one.refuse ? {} : { judge: (text: string) => isRight(one, text) }
      cases.push(caseOf(space, { set: name, query: one.q, weight: 1, ...judge }))
    }
  }
  return cases
}

/** Questions of SQuAD 2, CMRC and XQuAD with their gold answers; none where the shared data is not on this machine. */
export function publicCases(): Case[] {
  const folder = dataFolder()
  if (folder === undefined) return []
  return [
    ...articleCases(join(folder, 'squad2-dev'), SQUAD_STEP),
    ...articleCases(join(folder, 'cmrc2018-dev-zh'), OTHER_STEP),
    ...languageCases(join(folder, 'referees', 'xquad')),
  ]
}

interface Line {
  [field: string]: string
}
interface GoldLine {
  _id: string
  answers: string[]
}

function articleCases(folder: string, step: number): Case[] {
  const set = folder.split('/').at(-1)!
  const space = FolderSpace.of(
    linesOf<Line>(join(folder, 'corpus.jsonl')).map(({ title = '', text = '' }) => ({
      file: `${title}.txt`,
      title,
      text,
    })),
  )
  const gold = new Map(linesOf<GoldLine>(join(folder, 'answers.jsonl')).map(({ _id, answers }) => [_id, answers]))
  const answered = linesOf<Line>(join(folder, 'queries.jsonl'))
    .filter((_, index) => index % step === 0)
    .map(({ _id = '', text = '' }) => ({ query: text, judge: holdsOneOf(gold.get(_id) ?? []) }))
  const unanswered = linesOf<Line>(join(folder, 'unanswerable.jsonl'))
    .filter((_, index) => index % step === 0)
    .map(({ text = '' }) => ({ query: text }))
  return [...answered, ...unanswered].map((one) => caseOf(space, { set, weight: PUBLIC_WEIGHT, ...one }))
}

function languageCases(folder: string): Case[] {
  const truth = linesOf<{ lang: string; question: string; answers: string[] }>(join(folder, 'truth.jsonl'))
  return [...new Set(truth.map(({ lang }) => lang))].flatMap((language) => {
    const paragraphs = linesOf<Line>(join(folder, `paragraphs.${language}.jsonl`))
    const space = FolderSpace.of(paragraphs.map(({ id, text = '' }) => ({ file: `${id}.txt`, title: '', text })))
    return truth
      .filter(({ lang }, index) => lang === language && index % OTHER_STEP === 0)
      .map(({ question, answers }) =>
        caseOf(space, { set: 'xquad', query: question, weight: PUBLIC_WEIGHT, judge: holdsOneOf(answers) }),
      )
  })
}

function linesOf<T>(path: string): T[] {
  if (!existsSync(path)) return []
  return readFileSync(path, 'utf8')
    .split('\n')
    .flatMap((line): T[] => (line === '' ? [] : [JSON.parse(line)]))
}

function holdsOneOf(answers: readonly string[]): (text: string) => boolean {
  const wanted = answers.map(comparable)
  return (text) => wanted.some((answer) => comparable(text).includes(answer))
}

/** Only letters and digits, in lower case. */
function comparable(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '')
}
