import type { ExpectedAnswer } from '../contract/gateway/golden-questions.js'
import { parseExpectation } from '../contract/golden-case.js'
import { isRecord } from '../lib/json/values.js'
import { omitUndefined } from '../lib/omit-undefined.js'
import { usageError } from './cli-error.js'
import { parseInFile, readInputFile } from './input-file.js'
import { readStdin } from './stdin.js'

/** One golden question of a JSON lines file. */
export interface GoldenLine {
  /** Line number in the file, from 1. */
  line: number
  question: string
  expectedEvidenceIds: string[]
  expect?: ExpectedAnswer
  tags: string[]
  metadata: Record<string, unknown>
}

/** Keys that belong to the space from which the question was exported; ignored. */
const SOURCE_SPACE_KEYS = new Set(['id', 'knowledgeSpaceId', 'createdAt', 'updatedAt'])
const KNOWN_LINE_KEYS = new Set(['question', 'expectedEvidenceIds', 'expect', 'tags', 'metadata', ...SOURCE_SPACE_KEYS])

/** Reads the questions of a file, or of stdin for `-`. @throws CliError exit 2 if any is invalid */
export async function readGoldenFile(file: string): Promise<GoldenLine[]> {
  const label = 'the list of golden questions'
  return parseGoldenLines(file === '-' ? await readStdin(label) : readInputFile(file, label))
}

export function parseGoldenLines(text: string): GoldenLine[] {
  return text.split(/\r?\n/).flatMap((json, index) => (json.trim() === '' ? [] : [parseGoldenLine(json, index + 1)]))
}

function parseGoldenLine(json: string, line: number): GoldenLine {
  const value = parseJsonObjectLine(json, line)
  const unknownKey = Object.keys(value).find((key) => !KNOWN_LINE_KEYS.has(key))
  if (unknownKey !== undefined) throw usageError(`line ${line}: unknown key ${JSON.stringify(unknownKey)}`)
  const { question, expectedEvidenceIds = [], tags = [], metadata = {} } = value
  if (typeof question !== 'string' || question === '') throw usageError(`line ${line}: question must be a text`)
  if (!isTextList(expectedEvidenceIds)) throw usageError(`line ${line}: expectedEvidenceIds must be an array of ids`)
  if (!isTextList(tags)) throw usageError(`line ${line}: tags must be an array of texts`)
  if (!isRecord(metadata)) throw usageError(`line ${line}: metadata must be an object`)
  const { anchors, answer } = parseInFile(parseExpectation, value.expect, `line ${line}`)
  return {
    line,
    question,
    expectedEvidenceIds,
    ...omitUndefined({ expect: answer }),
    tags,
    // Spaces store the anchors in the metadata.
    metadata: anchors.length === 0 ? metadata : { ...metadata, expect: anchors },
  }
}

function parseJsonObjectLine(json: string, line: number): Record<string, unknown> {
  let value: unknown
  try {
    value = JSON.parse(json)
  } catch {
    throw usageError(
      `line ${line} is not valid JSON`,
      'one golden question a line, as `ks golden --export` writes them',
    )
  }
  if (!isRecord(value)) throw usageError(`line ${line} must be a JSON object`)
  return value
}

function isTextList(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((entry) => typeof entry === 'string')
}
