import { createRequire } from 'node:module'

/** The part of the native binding that is used here, typed by hand: its package has no declarations. */
export interface TantivyBinding {
  SchemaBuilder: new () => {
    addTextField(name: string, options: { stored?: boolean; tokenizerName: string; indexOption: string }): unknown
    build(): TantivySchema
  }
  Document: new () => TantivyDocument
  Index: new (schema: TantivySchema, path: string, reuse: boolean) => TantivyHandle
  Query: {
    termQuery(schema: TantivySchema, field: string, term: string, option: string): TantivyQuery
    termSetQuery(schema: TantivySchema, field: string, terms: string[]): TantivyQuery
    booleanQuery(parts: { occur: number; query: TantivyQuery }[]): TantivyQuery
    boostQuery(query: TantivyQuery, boost: number): TantivyQuery
    constScoreQuery(query: TantivyQuery, score: number): TantivyQuery
    allQuery(): TantivyQuery
  }
  Occur: { Must: number; MustNot: number; Should: number }
}

export interface TantivySchema {
  toJSON(): string
}

/** Opaque: created by `Query`, used by a searcher. */
export interface TantivyQuery {
  toString(): string
}

export interface TantivyDocument {
  addText(field: string, text: string): void
  getFirst(field: string): unknown
}

export interface TantivyHandle {
  writer(heapBytes: number, threads: number): TantivyWriter
  configReader(policy: 'manual'): void
  reload(): void
  searcher(): TantivySearcher
}

export interface TantivyWriter {
  addDocument(document: TantivyDocument): unknown
  deleteDocumentsByTerm(field: string, term: string): unknown
  commit(): unknown
  rollback(): unknown
  waitMergingThreads(): void
}

export interface DocAddress {
  segmentOrd: number
  doc: number
}

export interface TantivySearcher {
  readonly numDocs: number
  search(
    query: TantivyQuery,
    limit: number,
    count: boolean,
  ): { hits: { score?: number; docAddress: DocAddress }[]; count?: number }
  doc(address: DocAddress): TantivyDocument
  docFreq(field: string, term: string): number
}

/** The fields of a text index, for its reader and its writer. */
export function buildSchema(binding: TantivyBinding): TantivySchema {
  const builder = new binding.SchemaBuilder()
  builder.addTextField('key', { stored: true, tokenizerName: 'raw', indexOption: 'basic' })
  builder.addTextField('doc', { tokenizerName: 'raw', indexOption: 'basic' })
  builder.addTextField('text', { tokenizerName: 'whitespace', indexOption: 'freq' })
  return builder.build()
}

/** Platforms with a binding in the npm registry. Others use FTS5. */
const PACKAGES: Record<string, string> = {
  'linux-x64': '@oxdev03/node-tantivy-binding-linux-x64-gnu',
}

let loadResult: { binding?: TantivyBinding; reason: string } | undefined

/** Loads the binding once; without one, `reason` states why. */
export function loadTantivy(): { binding?: TantivyBinding; reason: string } {
  loadResult ??= loadBinding()
  return loadResult
}

function loadBinding(): { binding?: TantivyBinding; reason: string } {
  const platform = `${process.platform}-${process.arch}`
  const name = PACKAGES[platform]
  if (name === undefined) return { reason: `there is no Tantivy binding for ${platform}` }
  try {
    const binding: TantivyBinding = createRequire(import.meta.url)(name)
    return { binding, reason: '' }
  } catch (error) {
    return { reason: `the Tantivy binding does not load: ${error instanceof Error ? error.message : String(error)}` }
  }
}
