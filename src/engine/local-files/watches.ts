import { sep } from 'node:path'
import { KsError, notFound } from '../../contract/errors.js'
import type { AddWatchBody, KeptWatch } from '../../contract/gateway/local-files.js'
import { LIMITS } from '../../contract/limits.js'
import { newId } from '../../lib/ids.js'
import type { Caller } from '../base/caller.js'
import { findSpace } from '../rows/spaces.js'
import type { Database } from '../storage/database.js'
import { type Read, sql } from '../storage/program.js'
import { fromCell, readable } from '../storage/readable.js'
import { writeAnswer } from '../storage/write-answer.js'

interface WatchRow {
  id: string
  space_id: string
  folder: string
  rules: string
  created_at: number
}

const SELECT = `SELECT watches.id, spaces.id space_id, folder, rules, watches.created_at FROM watches
  JOIN spaces ON spaces.key = watches.space_key AND spaces.deleted_at IS NULL`

export function* listWatches(tenant?: string): Read<KeptWatch[]> {
  const rows =
    tenant === undefined
      ? yield* sql.all<WatchRow>(`${SELECT} ORDER BY watches.id`)
      : yield* sql.all<WatchRow>(`${SELECT} WHERE watches.tenant = ? ORDER BY watches.id`, [tenant])
  return readable(rows, toWatch)
}

/** @param answer makes what the request is answered with */
export function addWatch(
  db: Database,
  caller: Caller,
  body: AddWatchBody,
  answer: (watch: KeptWatch) => unknown,
): Promise<KeptWatch> {
  const { knowledgeSpaceId, folder, acceptMissing: _, ...rules } = body
  return writeAnswer(
    db,
    caller,
    function* () {
      const space = yield* findSpace(caller.tenant, knowledgeSpaceId)
      const known = yield* listWatches(caller.tenant)
      const ofSpace = known.filter((watch) => watch.knowledgeSpaceId === space.id && watch.folder !== folder)
      const other = ofSpace.find((watch) => isBelow(watch.folder, folder) || isBelow(folder, watch.folder))
      if (other !== undefined)
        throw new KsError(
          'invalid-request',
          `folder ${folder} overlaps ${other.folder}, which the space watches already`,
        )
      if (known.length >= LIMITS.watches)
        throw new KsError('capacity-exceeded', `a daemon watches at most ${LIMITS.watches} folders`)
      yield* sql.run(
        `INSERT INTO watches (id, tenant, space_key, folder, rules, created_at) VALUES (?, ?, ?, ?, ?, ?)
       ON CONFLICT (space_key, folder) DO UPDATE SET rules = excluded.rules`,
        [newId(), caller.tenant, space.key, folder, JSON.stringify(rules), Date.now()],
      )
      const row = yield* sql.get<WatchRow>(`${SELECT} WHERE watches.space_key = ? AND folder = ?`, [space.key, folder])
      if (row === undefined) throw new KsError('internal', 'a watch vanished while it was made')
      return toWatch(row)
    },
    answer,
  )
}

export function removeWatch(db: Database, caller: Caller, id: string): Promise<void> {
  return writeAnswer(db, caller, function* () {
    const { changes } = yield* sql.run('DELETE FROM watches WHERE tenant = ? AND id = ?', [caller.tenant, id])
    if (changes === 0) throw notFound('watch', id)
  })
}

function isBelow(path: string, folder: string): boolean {
  return path.startsWith(folder.endsWith(sep) ? folder : folder + sep)
}

function toWatch(row: WatchRow): KeptWatch {
  const rules: Pick<KeptWatch, 'ignore' | 'glob' | 'hidden' | 'ignoreFiles' | 'onDelete' | 'pollMs'> = fromCell(
    row.rules,
  )
  return {
    id: row.id,
    knowledgeSpaceId: row.space_id,
    folder: row.folder,
    ...rules,
    createdAt: new Date(row.created_at).toISOString(),
  }
}
