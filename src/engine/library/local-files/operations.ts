import { isAbsolute } from 'node:path'
import { KsError } from '../../../contract/errors.js'
import type { LocalFile, RecordLocalFilesBody, StoredWatch } from '../../../contract/gateway/local-files.js'
import { omitUndefined } from '../../../lib/omit-undefined.js'
import type { Caller } from '../../base/caller.js'
import { asDeployment, asTenant } from '../../base/tenant-scope.js'
import { bind } from '../../store/bind-operation.js'
import { mapReadable } from '../../store/readable.js'
import { findSpace } from '../../store/rows/spaces.js'
import { writeReply } from '../../store/write-reply.js'
import type { EngineContext } from '../context.js'
import {
  findDocumentsByFilename,
  type LocalFileRow,
  listLocalFiles,
  recordLocalFiles,
  removeLocalFiles,
} from '../rows/local-files.js'
import { addWatch, listWatches, removeWatch } from './watches.js'

interface LocalFilesFilter {
  root?: string | undefined
  filename?: string | undefined
  after?: string | undefined
  limit: number
}

/** Operations on the local files that documents are made from, and on the watched folders. */
export function createLocalFileOperations({ db, compiler }: EngineContext) {
  return {
    list: bind(
      async (
        caller: Caller,
        spaceId: string,
        filter: LocalFilesFilter,
      ): Promise<{ items: LocalFile[]; nextAfter?: string }> => {
        const { rows, documents } = await db.read(listFilesWithDocuments(caller, spaceId, filter))
        const page = rows.slice(0, filter.limit)
        const last = page.at(-1)
        return {
          items: mapReadable(page, (row) => toLocalFile(row, documents.get(row.filename) ?? [])),
          ...(rows.length > filter.limit && last !== undefined ? { nextAfter: last.filename } : {}),
        }
      },
    ),
    /** @throws KsError `not-found`, `invalid-request` for a path that is not absolute */
    record: bind(async (caller: Caller, spaceId: string, body: RecordLocalFilesBody) => {
      await db.read(findSpace(caller.tenant, spaceId))
      // recorded files are uploaded next
      compiler.warm()
      for (const path of [body.root, ...body.files.map((file) => file.path)])
        if (path !== undefined && !isAbsolute(path))
          throw new KsError('invalid-request', `path ${JSON.stringify(path)} must be absolute`)
      if (body.files.length + body.forget.length === 0) return { recorded: 0, forgotten: 0 }
      return await writeReply(db, caller, function* () {
        const space = yield* findSpace(caller.tenant, spaceId)
        yield* recordLocalFiles(space.key, body)
        return { recorded: body.files.length, forgotten: yield* removeLocalFiles(space.key, body.forget) }
      })
    }),
    /** Watches of one tenant, or of all. */
    watches(tenant?: string): Promise<StoredWatch[]> {
      const read = () => db.read(listWatches(tenant))
      return tenant === undefined ? asDeployment(read) : asTenant(tenant, read)
    },
    addWatch: bind(addWatch, db),
    removeWatch: bind(removeWatch, db),
  }
}

/** One row more than requested, and the documents of the rows. */
function* listFilesWithDocuments(caller: Caller, spaceId: string, filter: LocalFilesFilter) {
  const space = yield* findSpace(caller.tenant, spaceId)
  const rows = yield* listLocalFiles(space.key, { ...filter, limit: filter.limit + 1 })
  const names = rows.slice(0, filter.limit).map(({ filename }) => filename)
  return { rows, documents: yield* findDocumentsByFilename(space.key, names) }
}

function toLocalFile(row: LocalFileRow, documents: LocalFile['documents']): LocalFile {
  const { filename, path, root, fingerprint, device, size_bytes: sizeBytes, sha256 } = row
  return {
    filename,
    path,
    ...omitUndefined({ root: root ?? undefined }),
    fingerprint,
    device,
    sizeBytes,
    sha256,
    documents,
  }
}
