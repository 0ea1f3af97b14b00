import { sep } from 'node:path'
import { KsError, notFoundError } from '../../../contract/errors.js'
import type { AddWatchBody, StoredWatch } from '../../../contract/gateway/local-files.js'
import { LIMITS } from '../../../contract/limits.js'
import { newId } from '../../../lib/ids.js'
import type { Caller } from '../../base/caller.js'
import type { Driver } from '../../store/driver.js'
import type { Read } from '../../store/program.js'
import { mapReadable, parseJsonCell } from '../../store/readable.js'
import { findSpace } from '../../store/rows/spaces.js'
import { writeReply } from '../../store/write-reply.js'
import { deleteWatch, listWatchRows, upsertWatch, type WatchRow } from '../rows/watches.js'

export function* listWatches(tenant?: string): Read<StoredWatch[]> {
  return mapReadable(yield* listWatchRows(tenant), toWatch)
}

/**
 * Stores a watch; the rules of an existing one for the same folder and space are replaced.
 *
 * @param answer computes the response of the request
 * @throws KsError `not-found`, `invalid-request`
 */
export function addWatch(
  db: Driver,
  caller: Caller,
  body: AddWatchBody,
  answer: (watch: StoredWatch) => unknown,
): Promise<StoredWatch> {
  const { knowledgeSpaceId, folder, acceptMissing: _, ...rules } = body
  return writeReply(
    db,
    caller,
    function* () {
      const space = yield* findSpace(caller.tenant, knowledgeSpaceId)
      const existing = yield* listWatches(caller.tenant)
      const otherWatches = existing.filter((watch) => watch.knowledgeSpaceId === space.id && watch.folder !== folder)
      const overlapping = otherWatches.find((watch) => isBelow(watch.folder, folder) || isBelow(folder, watch.folder))
      if (overlapping !== undefined)
        throw new KsError(
          'invalid-request',
          `folder ${folder} overlaps ${overlapping.folder}, already watched by the space`,
        )
      if (existing.length >= LIMITS.watches)
        throw new KsError('capacity-exceeded', `a daemon watches at most ${LIMITS.watches} folders`)
      const watch = { tenant: caller.tenant, spaceKey: space.key, folder, rules }
      const row = yield* upsertWatch({ ...watch, id: newId() })
      if (row === undefined) throw new KsError('internal', 'a watch vanished while it was made')
      return toWatch(row)
    },
    { toReply: answer },
  )
}

/** @throws KsError `not-found` */
export function removeWatch(db: Driver, caller: Caller, id: string): Promise<void> {
  return writeReply(db, caller, function* () {
    if (!(yield* deleteWatch(caller.tenant, id))) throw notFoundError('watch', id)
  })
}

function isBelow(path: string, folder: string): boolean {
  return path.startsWith(folder.endsWith(sep) ? folder : folder + sep)
}

function toWatch(row: WatchRow): StoredWatch {
  const rules: Pick<StoredWatch, 'ignore' | 'glob' | 'hidden' | 'ignoreFiles' | 'onDelete' | 'pollMs'> = parseJsonCell(
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
