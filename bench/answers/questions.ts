import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../lib/daemon.js'
import { findDataFolder, readJsonLines } from '../lib/datasets.js'

/** A plain question to a folder, with the patterns that judge its answer. */
export interface PlainQuestion {
  question: string
  kind: string
  /** a right answer matches all of these */
  must: RegExp[]
  /** a right answer matches none of these */
  not: RegExp[]
  /** no file of the folder answers it */
  isUnanswerable: boolean
}

export interface QuestionSet {
  name: string
  folder: string
  questions: PlainQuestion[]
}

const HERE = join(ROOT, 'bench', 'answers')

/** Loads the sets of this repository. */
export function loadOwnSets(): QuestionSet[] {
  return readdirSync(join(HERE, 'questions')).map((file) => {
    const name = file.replace(/\.jsonl$/, '')
    return { name, folder: join(HERE, 'folders', name), questions: readQuestions(join(HERE, 'questions', file)) }
  })
}

/** Loads the set next to the shared data, if it is on this machine. No model is fitted on it. */
export function loadSharedSets(): QuestionSet[] {
  const folder = join(findDataFolder() ?? HERE, '..', 'cases', 'answers')
  if (!existsSync(folder)) return []
  return [
    { name: 'library', folder: join(folder, 'library'), questions: readQuestions(join(folder, 'questions.jsonl')) },
  ]
}

interface QuestionLine {
  q: string
  kind: string
  must?: string[]
  not?: string[]
  refuse?: boolean
}

function readQuestions(path: string): PlainQuestion[] {
  return readJsonLines<QuestionLine>(path).map(({ q, kind, must = [], not = [], refuse = false }) => {
    return { question: q, kind, must: must.map(toPattern), not: not.map(toPattern), isUnanswerable: refuse }
  })
}

function toPattern(source: string): RegExp {
  return new RegExp(source, 'iu')
}

export function isRight({ must, not }: PlainQuestion, text: string): boolean {
  return must.every((one) => one.test(text)) && !not.some((one) => one.test(text))
}
