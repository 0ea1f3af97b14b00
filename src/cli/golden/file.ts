import { extname } from 'node:path'
import { parseDocument } from 'yaml'
import { isRecord } from '../../lib/json/values.js'
import { usageError } from '../cli-error.js'
import { readInputFile } from '../input-file.js'
import { type GoldenRunCase, parseGoldenCase } from './question.js'

/** Maximum number of YAML aliases; more indicate an expansion attack. */
const MAX_YAML_ALIASES = 100

/**
 * Reads the questions of a file: JSON or YAML (a list, or an object with `questions`), or JSON lines.
 *
 * @throws CliError exit 2 with the file, the location and the rule
 */
export function readGoldenCases(file: string): GoldenRunCase[] {
  const text = readInputFile(file, 'the list of questions')
  const extension = extname(file).toLowerCase()
  if (extension === '.jsonl' || extension === '.ndjson') return parseLines(text, file)
  const value = extension === '.json' ? parseJson(text, file) : parseYaml(text, file)
  const list = isRecord(value) ? value.questions : value
  if (!Array.isArray(list)) throw usageError(`${file} must contain a list of questions`)
  return list.map((entry: unknown, index) => parseGoldenCase(entry, `${file}: question ${index + 1}`))
}

function parseLines(text: string, file: string): GoldenRunCase[] {
  return text.split('\n').flatMap((line, index): GoldenRunCase[] => {
    if (line.trim() === '') return []
    return [parseGoldenCase(parseJson(line, `${file}:${index + 1}`), `${file}:${index + 1}`)]
  })
}

function parseJson(text: string, location: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw usageError(`${location} is not valid JSON`)
  }
}

function parseYaml(text: string, file: string): unknown {
  const document = parseDocument(text)
  const [problem] = document.errors
  if (problem !== undefined) throw usageError(`${file} is not valid YAML: ${problem.message.split('\n')[0]}`)
  return document.toJS({ maxAliasCount: MAX_YAML_ALIASES })
}
