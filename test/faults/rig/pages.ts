import { closeSync, openSync, readSync, writeSync } from 'node:fs'
import Sqlite from 'better-sqlite3'

/** The pages of a closed database, by content. */
export function pageKinds(path: string): { kind: string; pages: number[] }[] {
  const db = new Sqlite(path)
  try {
    const rows = db
      .prepare<[], { page: number; pagetype: string; is_index: number }>(
        `SELECT pageno page, pagetype, EXISTS (SELECT 1 FROM sqlite_schema s WHERE s.name = d.name AND s.type = 'index') is_index
         FROM dbstat d ORDER BY pageno`,
      )
      .all()
    const count = Number(db.pragma('page_count', { simple: true }))
    const used = new Set(rows.map(({ page }) => page))
    const kinds = new Map<string, number[]>()
    const add = (kind: string, page: number) => kinds.set(kind, [...(kinds.get(kind) ?? []), page])
    for (const { page, pagetype, is_index } of rows) {
      const kind =
        page === 1
          ? 'first page'
          : pagetype === 'overflow'
            ? pagetype
            : `${is_index === 1 ? 'index' : 'table'} ${pagetype === 'internal' ? 'interior' : pagetype}`
      add(kind, page)
    }
    for (let page = 1; page <= count; page++) if (!used.has(page)) add('free page', page)
    return [...kinds].map(([kind, pages]) => ({ kind, pages }))
  } finally {
    db.close()
  }
}

const PAGE_SIZE_AT = 16

/** offset of the page header, and offset of its cells */
const HEADER_BYTES = 64
const TRIES = 50

/** Flips one bit of a page of a closed database, in its header or content. @returns the description of the bit */
export function flipBit(path: string, page: number, random: () => number): string {
  const file = openSync(path, 'r+')
  try {
    const head = Buffer.alloc(2)
    readSync(file, head, 0, 2, PAGE_SIZE_AT)
    const size = head.readUInt16BE(0) === 1 ? 65536 : head.readUInt16BE(0)
    const bit = Math.floor(random() * 8)
    const byte = Buffer.alloc(1)
    const place = () => Math.floor(random() * (random() < 0.4 ? HEADER_BYTES : size))
    let offset = place()
    // Unused space is zeros: a flip there damages nothing.
    for (let tried = 0; tried < TRIES; tried++) {
      readSync(file, byte, 0, 1, (page - 1) * size + offset)
      if (byte[0] !== 0) break
      offset = place()
    }
    readSync(file, byte, 0, 1, (page - 1) * size + offset)
    byte[0] = (byte[0] ?? 0) ^ (1 << bit)
    writeSync(file, byte, 0, 1, (page - 1) * size + offset)
    return `bit ${bit} of byte ${offset}`
  } finally {
    closeSync(file)
  }
}
