import { type Read, sql } from '../storage/program.js'

/** The publication that a space shows; nothing where the space is gone. */
export function* headRevision(spaceKey: number): Read<number | undefined> {
  return (yield* sql.get<{ head_revision: number }>('SELECT head_revision FROM spaces WHERE key = ?', [spaceKey]))
    ?.head_revision
}
