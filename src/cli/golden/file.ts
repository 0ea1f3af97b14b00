import { extname } from 'node:path'
import { parseDocument } from 'yaml'
import { isRecord } from '../../lib/json/values.js'
import { usageError } from '../cli-error.js'
import { readInputFile } from '../input-file.js'
import { type GoldenCase, readCase } from './question.js'

/** Maximum number of YAML aliases; more indicate an expansion attack. */
const MAX_ALIASES = 100

/**
 * Reads the questions of a file: JSON or YAML (a list, or an object with `questions`), or JSON lines.
 *
 * @throws CliError exit 2 with the file, the location and the rule
 */
export function readCases(file: string): GoldenCase[] {
  const text = readInputFile(file, 'the list of questions')
  const ending = extname(file).toLowerCase()
  if (ending === '.jsonl' || ending === '.ndjson') return readLines(text, file)
  const value = ending === '.json' ? readJson(text, file) : readYaml(text, file)
  const list = isRecord(value) ? value.questions : value
  if (!Array.isArray(list)) throw usageError(`${file} must contain a list of questions`)
  return list.map((entry: unknown, index) => readCase(entry, `${file}: question ${index + 1}`))
}

function readLines(text: string, file: string): GoldenCase[] {
  return text.split('\n').flatMap((line, index): GoldenCase[] => {
    if (line.trim() === '') return []
    return [readCase(readJson(line, `${file}:${index + 1}`), `${file}:${index + 1}`)]
  })
}

function readJson(text: string, where: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw usageError(`${where} is not valid JSON`)
  }
}

function readYaml(text: string, file: string): unknown {
  const document = parseDocument(text)
  const [problem] = document.errors
  if (problem !== undefined) throw usageError(`${file} is not valid YAML: ${problem.message.split('\n')[0]}`)
  return document.toJS({ maxAliasCount: MAX_ALIASES })
}
