import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Grades } from './trec.js'

export const RETRIEVAL_SETS = ['scifact', 'squad2-dev', 'cranfield', 'cmrc2018-dev-zh'] as const
/** Two more, too few questions for ranking: CISI's are whole paragraphs, MED's on one subject. */
export const MEANING_SETS = [...RETRIEVAL_SETS, 'cisi', 'med'] as const
export type RetrievalSet = (typeof RETRIEVAL_SETS)[number]
type MeaningSet = (typeof MEANING_SETS)[number]

export interface SourceDocument {
  id: string
  title: string
  text: string
}

export interface Dataset<Name = MeaningSet> {
  name: Name
  documents: SourceDocument[]
  /** judged queries only */
  queries: { id: string; text: string }[]
  judged: Map<string, Grades>
}

/** Folder of the shared data sets, or nothing where they are not on this machine. */
export function dataFolder(): string | undefined {
  const folder = process.env['KS_SHARED_DATA'] ?? resolve(import.meta.dirname, '../../../shared/data')
  return existsSync(folder) ? folder : undefined
}

function readLines(path: string): string[] {
  return readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
}

function field(record: unknown, name: string): string {
  const value = typeof record === 'object' && record !== null ? Reflect.get(record, name) : undefined
  return value === undefined ? '' : String(value)
}

function readJudgements(path: string): Map<string, Map<string, number>> {
  const judged = new Map<string, Map<string, number>>()
  for (const line of readLines(path).slice(1)) {
    const [query = '', document = '', grade = '0'] = line.split('\t')
    const grades = judged.get(query) ?? new Map<string, number>()
    grades.set(document, Number(grade))
    judged.set(query, grades)
  }
  return judged
}

/**
 * Reads one retrieval set.
 *
 * @param split `train` gives SciFact's training queries, the only ones weights may be tuned on; others have one split
 */
export function loadDataset<Name extends MeaningSet>(
  folder: string,
  name: Name,
  split: 'train' | 'test' = 'test',
): Dataset<Name> {
  const at = join(folder, name)
  const training = join(at, 'qrels.train.tsv')
  const judged = readJudgements(split === 'train' && existsSync(training) ? training : join(at, 'qrels.tsv'))
  const documents = readLines(join(at, 'corpus.jsonl')).map((line) => {
    const record: unknown = JSON.parse(line)
    return { id: field(record, '_id'), title: field(record, 'title'), text: field(record, 'text') }
  })
  const queries = readLines(join(at, 'queries.jsonl'))
    .map((line): unknown => JSON.parse(line))
    .map((record) => ({ id: field(record, '_id'), text: field(record, 'text') }))
    .filter((query) => judged.has(query.id))
  return { name, documents, queries, judged }
}

/** Overlapping windows of words, cut between words; text of unspaced scripts counts two characters as a word. */
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
