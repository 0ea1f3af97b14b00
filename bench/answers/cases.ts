import { existsSync } from 'node:fs'
import { join } from 'node:path'
import {
  buildCandidates,
  type QuotablePassage,
  type QuotationCandidate,
} from '../../src/engine/retrieval/query/quotation/candidates.js'
import { type PreparedQuestion, prepareQuestion } from '../../src/engine/retrieval/query/quotation/question.js'
import { MAX_PASSAGES } from '../../src/engine/retrieval/query/quotation/quote.js'
import { findDataFolder, readJsonLines } from '../lib/datasets.js'
import { containsGold, readGold } from './answer-sets.js'
import { FolderSpace } from './folder-space.js'
import { isRight, type QuestionSet } from './questions.js'

/** A question with the units that can answer it. */
export interface Case {
  set: string
  /** in training */
  weight: number
  question: PreparedQuestion
  passages: QuotablePassage[]
  candidates: QuotationCandidate[]
  /** some document answers it */
  isAnswered: boolean
  isRight: (units: readonly QuotationCandidate[]) => boolean
}

/** Training weight of a public question; a folder's has 1. Public questions ask only for facts in paragraphs. */
const PUBLIC_WEIGHT = 0.3
/** Only every n-th question of a public set is used. */
const SQUAD_STEP = 3
const OTHER_STEP = 6

export function formatQuotation(units: readonly QuotationCandidate[]): string {
  return units.map(({ unit: { heading, lead, text } }) => [heading, lead, text].join('\n')).join('\n')
}

interface CaseSource {
  set: string
  query: string
  weight: number
  /** undefined: nothing answers */
  isGold?: (text: string) => boolean
}

function buildCase(space: FolderSpace, { set, query, weight, isGold }: CaseSource): Case {
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
    isAnswered: isGold !== undefined,
    isRight: (units) => units.length > 0 && isGold?.(formatQuotation(units)) === true,
  }
}

export async function buildFolderCases(sets: readonly QuestionSet[]): Promise<Case[]> {
  const cases: Case[] = []
  for (const { name, folder, questions } of sets) {
    const space = await FolderSpace.read(folder)
    for (const one of questions) {
      const judge = one.isUnanswerable ? {} : { isGold: (text: string) => isRight(one, text) }
      cases.push(buildCase(space, { set: name, query: one.question, weight: 1, ...judge }))
    }
  }
  return cases
}

/** Questions of SQuAD 2, CMRC and XQuAD with their gold answers; none where the shared data is not on this machine. */
export function buildPublicCases(): Case[] {
  const folder = findDataFolder()
  if (folder === undefined) return []
  return [
    ...buildArticleCases(join(folder, 'squad2-dev'), SQUAD_STEP),
    ...buildArticleCases(join(folder, 'cmrc2018-dev-zh'), OTHER_STEP),
    ...buildLanguageCases(join(folder, 'referees', 'xquad')),
  ]
}

interface Line {
  [field: string]: string
}

function buildArticleCases(folder: string, step: number): Case[] {
  const set = folder.split('/').at(-1)!
  const space = FolderSpace.fromPassages(
    readJsonLines<Line>(join(folder, 'corpus.jsonl')).map(({ title = '', text = '' }) => ({
      file: `${title}.txt`,
      title,
      text,
    })),
  )
  const gold = readGold(folder)
  const answered = readJsonLines<Line>(join(folder, 'queries.jsonl'))
    .filter((_, index) => index % step === 0)
    .map(({ _id = '', text = '' }) => ({
      query: text,
      isGold: (answer: string) => containsGold(answer, gold.get(_id) ?? []),
    }))
  const unansweredPath = join(folder, 'unanswerable.jsonl')
  const unanswered = (existsSync(unansweredPath) ? readJsonLines<Line>(unansweredPath) : [])
    .filter((_, index) => index % step === 0)
    .map(({ text = '' }) => ({ query: text }))
  return [...answered, ...unanswered].map((one) => buildCase(space, { set, weight: PUBLIC_WEIGHT, ...one }))
}

function buildLanguageCases(folder: string): Case[] {
  const path = join(folder, 'truth.jsonl')
  const truth = existsSync(path) ? readJsonLines<{ lang: string; question: string; answers: string[] }>(path) : []
  return [...new Set(truth.map(({ lang }) => lang))].flatMap((language) => {
    const paragraphs = readJsonLines<Line>(join(folder, `paragraphs.${language}.jsonl`))
    const space = FolderSpace.fromPassages(
      paragraphs.map(({ id, text = '' }) => ({ file: `${id}.txt`, title: '', text })),
    )
    return truth
      .filter(({ lang }, index) => lang === language && index % OTHER_STEP === 0)
      .map(({ question, answers }) =>
        buildCase(space, {
          set: 'xquad',
          query: question,
          weight: PUBLIC_WEIGHT,
          isGold: (answer) => containsGold(answer, answers),
        }),
      )
  })
}
