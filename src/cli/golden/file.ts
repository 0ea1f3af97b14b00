import { extname } from 'node:path'
import { parseDocument } from 'yaml'
import type { GoldenCase } from '../../contract/gateway/golden-runs.js'
import { parseGoldenCase } from '../../contract/golden-case.js'
import { isRecord } from '../../lib/json/values.js'
import { usageError } from '../cli-error.js'
import { parseInFile, readInputFile } from '../input-file.js'

/** Maximum number of YAML aliases; more indicate an expansion attack. */
const MAX_YAML_ALIASES = 100

/**
 * Reads the questions of a file: JSON or YAML (a list, or an object with `questions`), or JSON lines.
 *
 * @throws CliError exit 2 with the file, the location and the rule
 */
export function readGoldenCases(file: string): GoldenCase[] {
  const text = readInputFile(file, 'the list of questions')
  const extension = extname(file).toLowerCase()
  if (extension === '.jsonl' || extension === '.ndjson') return parseLines(text, file)
  const value = extension === '.json' ? parseJson(text, file) : parseYaml(text, file)
  const list = isRecord(value) ? value.questions : value
  if (!Array.isArray(list)) throw usageError(`${file} must contain a list of questions`)
  return list.map((entry: unknown, index) => parseInFile(parseGoldenCase, entry, `${file}: question ${index + 1}`))
}

function parseLines(text: string, file: string): GoldenCase[] {
  return text.split('\n').flatMap((line, index): GoldenCase[] => {
    if (line.trim() === '') return []
    const location = `${file}:${index + 1}`
    return [parseInFile(parseGoldenCase, parseJson(line, location), location)]
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
