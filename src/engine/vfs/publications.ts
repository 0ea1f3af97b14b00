import type { Database } from '../storage/database.js'

export interface PublicationRow {
  revision: number
  created_at: number
}

export function publicationById(db: Database, spaceKey: number, id: string): PublicationRow | undefined {
  return db.get('SELECT revision, created_at FROM publications WHERE space_key = ? AND id = ?', [spaceKey, id])
}

export function publicationOf(db: Database, spaceKey: number, revision: number): PublicationRow | undefined {
  return db.get('SELECT revision, created_at FROM publications WHERE space_key = ? AND revision = ?', [
    spaceKey,
    revision,
  ])
}

/** Documents whose compilation is not finished. */
export function openJobCount(db: Database, spaceKey: number): number {
  const row = db.get<{ open: number }>('SELECT count(*) open FROM jobs WHERE space_key = ? AND completed_at IS NULL', [
    spaceKey,
  ])
  return row?.open ?? 0
}
