import { type Read, sql } from '../../../store/program.js'

export interface PublicationRow {
  revision: number
  created_at: number
}

export function* findPublicationById(spaceKey: number, id: string): Read<PublicationRow | undefined> {
  return yield* sql.get('SELECT revision, created_at FROM publications WHERE space_key = ? AND id = ?', [spaceKey, id])
}

export function* findPublicationByRevision(spaceKey: number, revision: number): Read<PublicationRow | undefined> {
  return yield* sql.get('SELECT revision, created_at FROM publications WHERE space_key = ? AND revision = ?', [
    spaceKey,
    revision,
  ])
}

/** Number of unfinished compilations. */
export function* countOpenJobsOfSpace(spaceKey: number): Read<number> {
  const row = yield* sql.get<{ open: number }>(
    'SELECT count(*) open FROM jobs WHERE space_key = ? AND completed_at IS NULL',
    [spaceKey],
  )
  return row?.open ?? 0
}
