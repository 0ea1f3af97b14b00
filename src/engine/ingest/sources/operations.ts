import type { ImportFilesBody, ImportPagesBody, UpdateSourceBody } from '../../../contract/gateway/sources.js'
import type { Caller } from '../../base/caller.js'
import { asDeployment } from '../../base/tenant-scope.js'
import type { EngineContext } from '../../library/index.js'
import { createAddressRule, createSafeFetch } from '../../models/index.js'
import { bind, bindRead } from '../../store/bind-operation.js'
import { hasScheduledSync } from '../../store/rows/source-syncs.js'
import type { DriveQuery } from './connectors/connector.js'
import { createCredentialBox } from './credentials.js'
import { beginDeletion } from './delete.js'
import { createSource, getSource, listSources, updateSource } from './sources.js'
import { SourceSync } from './sync.js'

export type SourceService = ReturnType<typeof createSourceOperations>

/**
 * Operations on the sources of a space.
 *
 * @param settled resolves when a compilation job has ended
 */
export function createSourceOperations(context: EngineContext, settled: (jobId: string) => Promise<void>) {
  const { db, options } = context
  const mayDial = createAddressRule(options.sources?.egressAllow ?? [])
  const parts = { context, mayDial, box: createCredentialBox(options.dataDir) }
  const sync = new SourceSync(parts, createSafeFetch(mayDial, options.sources?.resolve), settled)
  const operations = {
    create: bind(createSource, parts),
    list: bindRead(db, listSources),
    get: bindRead(db, getSource),
    update: bind(async (caller: Caller, spaceId: string, id: string, body: UpdateSourceBody) => {
      const source = await updateSource(parts, caller, { spaceId, id }, body)
      if (body.status !== 'disabled') return source
      await sync.stopRun(source.id)
      return await db.read(getSource(caller, spaceId, id))
    }),
    /** Resolves when the documents are deleted or released, too. */
    delete: bind(
      async (caller: Caller, spaceId: string, id: string, { documents }: { documents: 'cascade' | 'keep' }) => {
        await beginDeletion(context, caller, spaceId, { id, documents })
        await sync.stopRun(id)
        await sync.finishDeletions()
      },
    ),
    crawl: bind((caller: Caller, spaceId: string, id: string) => sync.crawl(caller, spaceId, id)),
    pages: bind((caller: Caller, spaceId: string, id: string) =>
      sync.query({ caller, spaceId, id }, 'pages', async (opened) => ({
        workspaces: opened.kind === 'pages' ? await opened.connection.list() : [],
      })),
    ),
    importPages: bind((caller: Caller, spaceId: string, id: string, body: ImportPagesBody) =>
      sync.importPages(caller, spaceId, id, body),
    ),
    files: bind((caller: Caller, spaceId: string, id: string, query: DriveQuery) =>
      sync.query({ caller, spaceId, id }, 'files', async (opened) => ({
        buckets: opened.kind === 'files' ? await opened.connection.list(query) : [],
      })),
    ),
    importFiles: bind((caller: Caller, spaceId: string, id: string, body: ImportFilesBody) =>
      sync.importFiles(caller, spaceId, id, body),
    ),
    test: bind((caller: Caller, spaceId: string, id: string) => sync.test(caller, spaceId, id)),
    /** Whether a source has a schedule: then the daemon must keep running. */
    hasSchedule: () => asDeployment(() => db.read(hasScheduledSync())),
  }
  return { operations, sync }
}
