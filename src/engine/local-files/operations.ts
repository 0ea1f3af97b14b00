import { isAbsolute } from 'node:path'
import { KsError } from '../../contract/errors.js'
import type { AddWatchBody, KeptWatch, LocalFile, RecordLocalFilesBody } from '../../contract/gateway/local-files.js'
import { defined } from '../../lib/defined.js'
import type { Caller } from '../base/caller.js'
import { asDeployment, asTenant } from '../base/tenant-scope.js'
import type { EngineContext } from '../context.js'
import { documentsOf, forgetFiles, type LocalFileRow, localFiles, recordFiles } from '../rows/local-files.js'
import { findSpace } from '../rows/spaces.js'
import { readable } from '../storage/readable.js'
import { writeAnswer } from '../storage/write-answer.js'
import { addWatch, listWatches, removeWatch } from './watches.js'

/** The local files that documents are made from, and the watched folders. */
export interface LocalFileOperations {
  /** @throws KsError `not-found` */
  list(
    caller: Caller,
    spaceId: string,
    wanted: { root?: string | undefined; filename?: string | undefined; after?: string | undefined; limit: number },
  ): Promise<{ items: LocalFile[]; nextAfter?: string }>
  /** @throws KsError `not-found`, `invalid-request` for a path that is not absolute */
  record(caller: Caller, spaceId: string, body: RecordLocalFilesBody): Promise<{ recorded: number; forgotten: number }>
  /** Watches of one tenant, or of all. */
  watches(tenant?: string): Promise<KeptWatch[]>
  /**
   * Stores a watch; the rules of an existing one for the same folder and space are replaced. @throws KsError
   * `not-found`, `invalid-request`
   */
  /** @param answer computes the response of the request */
  addWatch(caller: Caller, body: AddWatchBody, answer: (watch: KeptWatch) => unknown): Promise<KeptWatch>
  /** @throws KsError `not-found` */
  removeWatch(caller: Caller, id: string): Promise<void>
}

export function createLocalFiles({ db, compiler }: EngineContext): LocalFileOperations {
  return {
    async list(caller, spaceId, wanted) {
      const { rows, documents } = await db.read(filesOf(caller, spaceId, wanted))
      const shown = rows.slice(0, wanted.limit)
      const last = shown.at(-1)
      return {
        items: readable(shown, (row) => toLocalFile(row, documents.get(row.filename) ?? [])),
        ...(rows.length > wanted.limit && last !== undefined ? { nextAfter: last.filename } : {}),
      }
    },
    async record(caller, spaceId, body) {
      await db.read(findSpace(caller.tenant, spaceId))
      // recorded files are uploaded next
      compiler.warm()
      for (const path of [body.root, ...body.files.map((file) => file.path)])
        if (path !== undefined && !isAbsolute(path))
          throw new KsError('invalid-request', `path ${JSON.stringify(path)} must be absolute`)
      if (body.files.length + body.forget.length === 0) return { recorded: 0, forgotten: 0 }
      return await writeAnswer(db, caller, function* () {
        const space = yield* findSpace(caller.tenant, spaceId)
        yield* recordFiles(space.key, body)
        return { recorded: body.files.length, forgotten: yield* forgetFiles(space.key, body.forget) }
      })
    },
    watches(tenant) {
      const look = () => db.read(listWatches(tenant))
      return tenant === undefined ? asDeployment(look) : asTenant(tenant, look)
    },
    addWatch: (caller, body, answer) => addWatch(db, caller, body, answer),
    removeWatch: (caller, id) => removeWatch(db, caller, id),
  }
}

/** One row more than requested, and the documents of the rows. */
function* filesOf(caller: Caller, spaceId: string, wanted: Parameters<LocalFileOperations['list']>[2]) {
  const space = yield* findSpace(caller.tenant, spaceId)
  const rows = yield* localFiles(space.key, { ...wanted, limit: wanted.limit + 1 })
  const names = rows.slice(0, wanted.limit).map(({ filename }) => filename)
  return { rows, documents: yield* documentsOf(space.key, names) }
}

function toLocalFile(row: LocalFileRow, documents: LocalFile['documents']): LocalFile {
  const { filename, path, root, fingerprint, device, size_bytes: sizeBytes, sha256 } = row
  return { filename, path, ...defined({ root: root ?? undefined }), fingerprint, device, sizeBytes, sha256, documents }
}
