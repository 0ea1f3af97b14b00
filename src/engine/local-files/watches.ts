import { sep } from 'node:path'
import { KsError, notFound } from '../../contract/errors.js'
import type { AddWatchBody, KeptWatch } from '../../contract/gateway/local-files.js'
import { LIMITS } from '../../contract/limits.js'
import { newId } from '../../lib/ids.js'
import type { Caller } from '../base/caller.js'
import { findSpace } from '../rows/spaces.js'
import { deleteWatch, putWatch, type WatchRow, watchRows } from '../rows/watches.js'
import type { Driver } from '../storage/driver.js'
import type { Read } from '../storage/program.js'
import { fromCell, readable } from '../storage/readable.js'
import { writeAnswer } from '../storage/write-answer.js'

export function* listWatches(tenant?: string): Read<KeptWatch[]> {
  return readable(yield* watchRows(tenant), toWatch)
}

/** @param answer computes the response of the request */
export function addWatch(
  db: Driver,
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
          `folder ${folder} overlaps ${other.folder}, already watched by the space`,
        )
      if (known.length >= LIMITS.watches)
        throw new KsError('capacity-exceeded', `a daemon watches at most ${LIMITS.watches} folders`)
      const watch = { tenant: caller.tenant, spaceKey: space.key, folder, rules, now: Date.now() }
      const row = yield* putWatch({ ...watch, id: newId() })
      if (row === undefined) throw new KsError('internal', 'a watch vanished while it was made')
      return toWatch(row)
    },
    { answer },
  )
}

export function removeWatch(db: Driver, caller: Caller, id: string): Promise<void> {
  return writeAnswer(db, caller, function* () {
    if (!(yield* deleteWatch(caller.tenant, id))) throw notFound('watch', id)
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
