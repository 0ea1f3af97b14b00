import { type Read, sql, type Write } from '../../store/program.js'

/** A retrieval profile of a space; the body is JSON. */
export interface RetrievalProfileRow {
  revision: number
  body: string
}

/** The current profile of a space. */
export function* findProfileRow(spaceKey: number): Read<RetrievalProfileRow | undefined> {
  return yield* sql.get<RetrievalProfileRow>('SELECT revision, body FROM retrieval_profiles WHERE space_key = ?', [
    spaceKey,
  ])
}

export function* setProfile(spaceKey: number, revision: number, body: object): Write<void> {
  yield* sql.run(
    `INSERT INTO retrieval_profiles (space_key, revision, body) VALUES (?, ?, ?)
       ON CONFLICT (space_key) DO UPDATE SET revision = excluded.revision, body = excluded.body`,
    [spaceKey, revision, JSON.stringify(body)],
  )
}
