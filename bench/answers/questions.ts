import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../lib/daemon.js'
import { dataFolder } from '../lib/datasets.js'

/** A plain question to a folder, with the patterns that judge its answer. */
export interface PlainQuestion {
  q: string
  kind: string
  /** regular expressions that a right answer matches, all of them */
  must: RegExp[]
  /** regular expressions that a right answer does not match */
  not: RegExp[]
  /** no file of the folder answers it */
  refuse: boolean
}

/** A folder with its questions. */
export interface QuestionSet {
  name: string
  folder: string
  questions: PlainQuestion[]
}

const HERE = join(ROOT, 'bench', 'answers')

/** Reads the sets of this repository. */
export function ownSets(): QuestionSet[] {
  return readdirSync(join(HERE, 'questions')).map((file) => {
    const name = file.replace(/\.jsonl$/, '')
    return { name, folder: join(HERE, 'folders', name), questions: readQuestions(join(HERE, 'questions', file)) }
  })
}

/** Reads the folder with questions next to the shared data, if it is on this machine. No model is fitted on it. */
export function sharedSets(): QuestionSet[] {
  const at = join(dataFolder() ?? HERE, '..', 'cases', 'answers')
  if (!existsSync(at)) return []
  return [{ name: 'library', folder: join(at, 'library'), questions: readQuestions(join(at, 'questions.jsonl')) }]
}

/** Reads a file of questions, one JSON object a line. */
function readQuestions(path: string): PlainQuestion[] {
  return readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const { q, kind, must = [], not = [], refuse = false } = JSON.parse(line)
      return { q, kind, must: must.map(pattern), not: not.map(pattern), refuse }
    })
}

function pattern(source: string): RegExp {
  return new RegExp(source, 'iu')
}

/** Whether a text matches all patterns of a right answer and none of a wrong one. */
export function isRight({ must, not }: PlainQuestion, text: string): boolean {
  return must.every((one) => one.test(text)) && !not.some((one) => one.test(text))
}
