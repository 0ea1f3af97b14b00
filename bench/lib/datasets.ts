import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Grades } from './trec.js'

export const RETRIEVAL_SETS = ['scifact', 'squad2-dev', 'cranfield', 'cmrc2018-dev-zh'] as const
/** CISI and MED have too few questions for ranking; CISI's are whole paragraphs, MED's are about one subject. */
export const ALL_SETS = [...RETRIEVAL_SETS, 'cisi', 'med'] as const
export type RetrievalSet = (typeof RETRIEVAL_SETS)[number]
type SetName = (typeof ALL_SETS)[number]

export interface SourceDocument {
  id: string
  title: string
  text: string
}

export interface Dataset<Name = SetName> {
  name: Name
  documents: SourceDocument[]
  /** judged queries only */
  queries: { id: string; text: string }[]
  gradesByQuery: Map<string, Grades>
}

/** Returns the folder of the shared data sets, undefined if it does not exist on this machine. */
export function findDataFolder(): string | undefined {
  const folder = process.env['KS_SHARED_DATA'] ?? resolve(import.meta.dirname, '../../../shared/data')
  return existsSync(folder) ? folder : undefined
}

function readLines(path: string): string[] {
  return readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
}

/** Reads a file with one JSON value per line. */
export function readJsonLines<T>(path: string): T[] {
  return readLines(path).map((line): T => JSON.parse(line))
}

function getField(record: unknown, name: string): string {
  const value = typeof record === 'object' && record !== null ? Reflect.get(record, name) : undefined
  return value === undefined ? '' : String(value)
}

function readJudgements(path: string): Map<string, Map<string, number>> {
  const gradesByQuery = new Map<string, Map<string, number>>()
  for (const line of readLines(path).slice(1)) {
    const [query = '', document = '', grade = '0'] = line.split('\t')
    const grades = gradesByQuery.get(query) ?? new Map<string, number>()
    grades.set(document, Number(grade))
    gradesByQuery.set(query, grades)
  }
  return gradesByQuery
}

/**
 * Reads one retrieval set.
 *
 * @param split `train` selects SciFact's training queries, the only ones to tune weights on; other sets have one split
 */
export function loadDataset<Name extends SetName>(
  folder: string,
  name: Name,
  split: 'train' | 'test' = 'test',
): Dataset<Name> {
  const setFolder = join(folder, name)
  const trainingPath = join(setFolder, 'qrels.train.tsv')
  const gradesByQuery = readJudgements(
    split === 'train' && existsSync(trainingPath) ? trainingPath : join(setFolder, 'qrels.tsv'),
  )
  const documents = readJsonLines(join(setFolder, 'corpus.jsonl')).map((record) => {
    return { id: getField(record, '_id'), title: getField(record, 'title'), text: getField(record, 'text') }
  })
  const queries = readJsonLines(join(setFolder, 'queries.jsonl'))
    .map((record) => ({ id: getField(record, '_id'), text: getField(record, 'text') }))
    .filter((query) => gradesByQuery.has(query.id))
  return { name, documents, queries, gradesByQuery }
}

/** Splits a text into overlapping windows of words; in scripts without spaces, two characters count as a word. */
export function chunkWords(text: string, size: number, overlap: number): string[] {
  const units = text.match(/[\p{Script=Han}]{1,2}|[^\s\p{Script=Han}]+\s*|\s+/gu) ?? []
  if (units.length <= size) return [text]
  const chunks: string[] = []
  for (let start = 0; start < units.length; start += size - overlap) {
    chunks.push(units.slice(start, start + size).join(''))
    if (start + size >= units.length) break
  }
  return chunks
}
