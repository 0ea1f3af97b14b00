import { mkdir } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import Database from 'better-sqlite3'
import { ANALYZER_VERSION } from '../../lib/text/analyze.js'
import { MAX_K } from './limits.js'
import type { DocumentScope } from './ports.js'
import {
  analyzeNode,
  countTermNodes,
  DamagedIndexError,
  type TextHits,
  type TextIndex,
  type TextIndexOptions,
  type TextNode,
  type TextSearchOptions,
  weighRewordings,
  weighTerms,
} from './text-index.js'
import { LaggedWatermark } from './watermark.js'

/**
 * Text index in SQLite FTS5, for platforms where the Tantivy binding does not load. Terms are already analysed, so the
 * tokenizer must split at spaces only: `ascii` keeps all non-ASCII characters, and ASCII punctuation is declared as
 * token characters.
 */

/** Increased when the tables or their meaning change; an index of another layout is rebuilt. */
const LAYOUT_VERSION = 2
const FORMAT = LAYOUT_VERSION * 1_000 + ANALYZER_VERSION
const TOKEN_CHARACTERS = '!#$%&()*+,-./:;<=>?@[]^_`{|}~'
/** The integrity check reads the complete file. Above this size, damage is found only as pages are used. */
const MAX_CHECKED_BYTES = 256 * 1024 * 1024

/**
 * Opens or creates the index in a directory.
 *
 * @throws DamagedIndexError when the file is not intact
 */
export async function openFts5(dir: string, options: TextIndexOptions): Promise<TextIndex> {
  await mkdir(dir, { recursive: true })
  const path = join(dir, 'index.sqlite')
  let db: Database.Database | undefined
  try {
    db = new Database(path)
    prepareDatabase(db, basename(dirname(dir)))
    return new Fts5Text(db, new Database(path, { readonly: true }), options)
  } catch (error) {
    db?.close()
    if (error instanceof DamagedIndexError) throw error
    throw new DamagedIndexError(`${dir} cannot be opened: ${String(error)}`, { cause: error })
  }
}

/** @param space the space that the index must belong to */
function prepareDatabase(db: Database.Database, space: string): void {
  db.pragma('journal_mode = WAL')
  // Losing the newest commits is acceptable: the watermark is lost with them.
  db.pragma('synchronous = NORMAL')
  db.pragma('cell_size_check = ON')
  const format = Number(db.pragma('user_version', { simple: true }))
  if (format !== 0 && format !== FORMAT) throw new DamagedIndexError(`the index has format ${format}, not ${FORMAT}`)
  if (format === 0) {
    db.exec(`
      BEGIN;
      CREATE VIRTUAL TABLE words USING fts5(text, content='', contentless_delete=1,
        tokenize="ascii tokenchars '${TOKEN_CHARACTERS}'");
      CREATE VIRTUAL TABLE frequencies USING fts5vocab(words, row);
      CREATE TABLE nodes(key INTEGER PRIMARY KEY, doc INTEGER NOT NULL);
      CREATE INDEX nodes_doc ON nodes(doc);
      CREATE TABLE state(id INTEGER PRIMARY KEY CHECK (id = 1), space TEXT NOT NULL, watermark INTEGER NOT NULL);
      PRAGMA user_version = ${FORMAT};`)
    db.prepare('INSERT INTO state VALUES (1, ?, 0)').run(space)
    db.exec('COMMIT')
    return
  }
  const indexedSpace: unknown = db.prepare('SELECT space FROM state').pluck().get()
  if (indexedSpace !== space)
    throw new DamagedIndexError(`the index belongs to space ${String(indexedSpace)}, not to ${space}`)
  const pages = Number(db.pragma('page_count', { simple: true }))
  if (pages * Number(db.pragma('page_size', { simple: true })) > MAX_CHECKED_BYTES) return
  if (db.pragma('quick_check(1)', { simple: true }) !== 'ok') throw new DamagedIndexError('the index file is damaged')
  db.exec(`INSERT INTO words(words) VALUES ('integrity-check')`)
}

class Fts5Text implements TextIndex {
  readonly engine = 'fts5'
  readonly #db: Database.Database
  /** a separate connection that sees only committed rows */
  readonly #reader: Database.Database
  readonly #insertWords: Database.Statement<[number, string]>
  readonly #deleteWords: Database.Statement<[number]>
  readonly #insertNode: Database.Statement<[number, number]>
  readonly #deleteNode: Database.Statement<[number]>
  readonly #watermarks: LaggedWatermark
  #watermark: number
  #count: number

  constructor(db: Database.Database, reader: Database.Database, { log, watermarkLagMs }: TextIndexOptions) {
    this.#db = db
    this.#reader = reader
    this.#watermarks = new LaggedWatermark({
      lagMs: watermarkLagMs,
      store: (seq) => {
        db.prepare('UPDATE state SET watermark = max(watermark, ?)').run(seq)
      },
      onError: (error) => log(`a watermark was not written: ${String(error)}`),
    })
    this.#insertWords = db.prepare('INSERT INTO words(rowid, text) VALUES (?, ?)')
    this.#deleteWords = db.prepare('DELETE FROM words WHERE rowid = ?')
    this.#insertNode = db.prepare('INSERT INTO nodes(key, doc) VALUES (?, ?)')
    this.#deleteNode = db.prepare('DELETE FROM nodes WHERE key = ?')
    this.#watermark = this.#readNumber('SELECT watermark FROM state')
    this.#count = this.#readNumber('SELECT count(*) FROM nodes')
  }

  get watermark(): number {
    return this.#watermark
  }

  count(): number {
    return this.#count
  }

  stage(add: readonly TextNode[], remove: readonly number[]): void {
    if (!this.#db.inTransaction) this.#db.exec('BEGIN IMMEDIATE')
    for (const key of remove) this.#remove(key)
    for (const node of add) {
      this.#remove(node.key)
      this.#insertNode.run(node.key, node.doc)
      this.#insertWords.run(node.key, analyzeNode(node))
    }
  }

  commit(watermark: number): void {
    if (this.#db.inTransaction) this.#db.exec('COMMIT')
    this.#count = this.#readNumber('SELECT count(*) FROM nodes')
    if (watermark <= this.#watermark) return
    this.#watermark = watermark
    this.#watermarks.note(watermark)
  }

  rollback(): void {
    if (this.#db.inTransaction) this.#db.exec('ROLLBACK')
  }

  async search(
    terms: readonly string[],
    k: number,
    { docs, compounds, scope }: TextSearchOptions = {},
  ): Promise<TextHits> {
    const { frequency, nodes } = this.#counts(scope)
    const frequencies = countTermNodes(terms, frequency)
    const queryTerms = weighTerms(terms, (term) => frequencies.get(term) ?? 0)
    const limit = Math.min(MAX_K, k)
    const none: TextHits = { keys: [], scores: [], frequencies, rewordings: [] }
    if (limit < 1 || queryTerms.length === 0 || docs?.length === 0) return none
    // phrases cannot have weights here: rewordings only add candidates, and ranking weighs them later
    const reworded = compounds === undefined ? [] : weighRewordings(compounds, frequency, nodes())
    const rewordings = reworded.map(({ queryTerms, documentTerms }) => ({ queryTerms, documentTerms }))
    const match = [
      ...queryTerms.flatMap(({ term, weight }) => new Array<string>(weight).fill(quoteTerm(term))),
      ...rewordings.map(({ documentTerms }) => `(${documentTerms.map(quoteTerm).join(' AND ')})`),
    ].join(' OR ')
    const filters = [
      ...(docs === undefined ? [] : [{ docs, isExcluded: false }]),
      ...(scope === undefined ? [] : [scope]),
    ]
    const filter = filters.map((one) => `AND ${buildScopeCondition('rowid', one)}`).join(' ')
    const rows = this.#reader
      .prepare<unknown[], { key: number; score: number }>(
        `SELECT rowid AS key, -bm25(words) AS score FROM words WHERE words MATCH ? ${filter} ORDER BY rank LIMIT ?`,
      )
      .all(match, ...filters.map((one) => JSON.stringify(one.docs)), limit)
    return { keys: rows.map((row) => row.key), scores: rows.map((row) => row.score), frequencies, rewordings }
  }

  releaseWriter(): void {
    if (!this.#db.inTransaction) this.#db.pragma('wal_checkpoint(TRUNCATE)')
  }

  async close(): Promise<void> {
    this.rollback()
    await this.#watermarks.stop()
    this.#reader.close()
    this.#db.close()
  }

  #remove(key: number): void {
    if (this.#deleteNode.run(key).changes > 0) this.#deleteWords.run(key)
  }

  /** Counters of nodes: those with a term, and all. */
  #counts(scope: DocumentScope | undefined) {
    if (scope === undefined) {
      const counted = this.#reader.prepare<[string], { doc: number }>('SELECT doc FROM frequencies WHERE term = ?')
      return { frequency: (term: string) => counted.get(term)?.doc ?? 0, nodes: () => this.#count }
    }
    const docs = JSON.stringify(scope.docs)
    const holding = this.#reader.prepare<[string, string], { n: number }>(
      `SELECT count(*) n FROM words WHERE words MATCH ? AND ${buildScopeCondition('rowid', scope)}`,
    )
    const all = this.#reader.prepare<[string], { n: number }>(
      `SELECT count(*) n FROM nodes WHERE ${buildScopeCondition('key', scope)}`,
    )
    return {
      frequency: (term: string) => holding.get(quoteTerm(term), docs)?.n ?? 0,
      nodes: () => all.get(docs)?.n ?? 0,
    }
  }

  #readNumber(sql: string): number {
    const value: unknown = this.#db.prepare(sql).pluck().get()
    return typeof value === 'number' ? value : 0
  }
}

/** SQL condition: the node in a column is in a scope, whose documents are a JSON parameter. */
function buildScopeCondition(column: string, { isExcluded }: DocumentScope): string {
  const list = 'SELECT key FROM nodes WHERE doc IN (SELECT value FROM json_each(?))'
  return `${column} ${isExcluded ? 'NOT ' : ''}IN (${list})`
}

/** Quotes a term as a string of the FTS5 query language; only the double quote needs escaping. */
function quoteTerm(term: string): string {
  return `"${term.replaceAll('"', '""')}"`
}
