import { join } from 'node:path'
import Database from 'better-sqlite3'
import { CANDIDATES, fuse, type PeerEngine, TOP } from './engine.js'
import { requirePeer } from './install.js'
import type { BenchDocument } from './workload.js'

/** Opens FTS5 and sqlite-vec in one SQLite file, with our fusion. */
export async function openSqliteVec(folder: string, dimension: number): Promise<PeerEngine> {
  const vec: { load(db: Database.Database): void } = requirePeer('sqlite-vec')
  const db = new Database(join(folder, 'vec.sqlite'))
  vec.load(db)
  db.pragma('journal_mode = WAL')
  db.pragma('synchronous = FULL')
  db.exec(`
    CREATE TABLE nodes(key INTEGER PRIMARY KEY, title TEXT NOT NULL, text TEXT NOT NULL);
    CREATE VIRTUAL TABLE words USING fts5(title, text, content='nodes', content_rowid='key', tokenize='porter unicode61');
    CREATE VIRTUAL TABLE vectors USING vec0(key INTEGER PRIMARY KEY, vector FLOAT[${dimension}]);`)
  const insertNode = db.prepare('INSERT INTO nodes(key, title, text) VALUES (?, ?, ?)')
  const insertWords = db.prepare('INSERT INTO words(rowid, title, text) VALUES (?, ?, ?)')
  const insertVector = db.prepare('INSERT INTO vectors(key, vector) VALUES (?, ?)')
  const searchWords = db
    .prepare<[string, number], number>('SELECT rowid FROM words WHERE words MATCH ? ORDER BY rank LIMIT ?')
    .pluck()
  const searchVectors = db
    .prepare<[Buffer, number], number>('SELECT key FROM vectors WHERE vector MATCH ? AND k = ? ORDER BY distance')
    .pluck()
  const readNode = db.prepare<[number], { title: string; text: string }>('SELECT title, text FROM nodes WHERE key = ?')
  const store = db.transaction((documents: BenchDocument[]) => {
    for (const { key, title, text, vector } of documents) {
      insertNode.run(key, title, text)
      insertWords.run(key, title, text)
      insertVector.run(BigInt(key), toBytes(vector))
    }
  })

  return {
    async add(documents) {
      store(documents)
    },
    async waitUntilSearchable() {},
    async waitUntilSettled() {},
    async searchHybrid({ text, vector }) {
      const match = text
        .split(' ')
        .map((word) => `"${word}"`)
        .join(' OR ')
      const keys = fuse(searchWords.all(match, CANDIDATES), searchVectors.all(toBytes(vector), CANDIDATES))
      for (const key of keys) if (readNode.get(key) === undefined) throw new Error(`node ${key} is gone`)
      return keys
    },
    async searchNearest(vector) {
      return searchVectors.all(toBytes(vector), TOP)
    },
    childPid: () => undefined,
    async close() {
      db.close()
    },
  }
}

function toBytes(vector: Float32Array): Buffer {
  return Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength)
}
