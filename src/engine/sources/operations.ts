import type {
  CreateSourceBody,
  ImportFilesBody,
  ImportPagesBody,
  OnlineDocumentPages,
  OnlineDriveFiles,
  Source,
  SourceImportResult,
  SourceTestResult,
  UpdateSourceBody,
  WebsiteCrawlResult,
} from '../../contract/gateway/sources.js'
import type { Caller } from '../base/caller.js'
import type { Page, PageRequest } from '../base/page.js'
import { asDeployment } from '../base/tenant-scope.js'
import type { EngineContext } from '../context.js'
import { createAddressRule } from '../egress/addresses.js'
import { createSafeFetch } from '../egress/safe-fetch.js'
import { hasScheduledSync } from '../rows/source-syncs.js'
import type { DriveQuery } from './connectors/connector.js'
import { createCredentialBox } from './credentials.js'
import { beginDeletion } from './delete.js'
import { createSource, getSource, listSources, updateSource } from './sources.js'
import { SourceSync } from './sync.js'

/** Operations on the sources of a space. */
export interface SourceOperations {
  create(caller: Caller, spaceId: string, body: CreateSourceBody): Promise<Source>
  list(caller: Caller, spaceId: string, page: PageRequest): Promise<Page<Source>>
  get(caller: Caller, spaceId: string, id: string): Promise<Source>
  update(caller: Caller, spaceId: string, id: string, body: UpdateSourceBody): Promise<Source>
  /** Resolves when the documents are deleted or released, too. */
  delete(caller: Caller, spaceId: string, id: string, documents: 'cascade' | 'keep'): Promise<void>
  crawl(caller: Caller, spaceId: string, id: string): Promise<WebsiteCrawlResult>
  pages(caller: Caller, spaceId: string, id: string): Promise<OnlineDocumentPages>
  importPages(caller: Caller, spaceId: string, id: string, body: ImportPagesBody): Promise<SourceImportResult>
  files(caller: Caller, spaceId: string, id: string, query: DriveQuery): Promise<OnlineDriveFiles>
  importFiles(caller: Caller, spaceId: string, id: string, body: ImportFilesBody): Promise<SourceImportResult>
  test(caller: Caller, spaceId: string, id: string): Promise<SourceTestResult>
  /** Whether a source has a schedule: then the daemon must keep running. */
  hasSchedule(): Promise<boolean>
}

/** @param settled resolves when a compilation job has ended */
export function createSourceOperations(
  context: EngineContext,
  settled: (jobId: string) => Promise<void>,
): { operations: SourceOperations; sync: SourceSync } {
  const { db, options } = context
  const mayDial = createAddressRule(options.sources?.egressAllow ?? [])
  const parts = { context, mayDial, box: createCredentialBox(options.dataDir) }
  const sync = new SourceSync(parts, createSafeFetch(mayDial, options.sources?.resolve), settled)
  const operations: SourceOperations = {
    create: (caller, spaceId, body) => createSource(parts, caller, spaceId, body),
    list: (caller, spaceId, page) => db.read(listSources(caller, spaceId, page)),
    get: (caller, spaceId, id) => db.read(getSource(caller, spaceId, id)),
    async update(caller, spaceId, id, body) {
      const source = await updateSource(parts, caller, spaceId, id, body)
      if (body.status !== 'disabled') return source
      await sync.stop(source.id)
      return await db.read(getSource(caller, spaceId, id))
    },
    async delete(caller, spaceId, id, documents) {
      await beginDeletion(context, caller, spaceId, id, documents)
      await sync.stop(id)
      await sync.finishDeletions()
    },
    crawl: (caller, spaceId, id) => sync.crawl(caller, spaceId, id),
    pages: (caller, spaceId, id) =>
      sync.query({ caller, spaceId, id }, 'pages', async (opened) => ({
        workspaces: opened.kind === 'pages' ? await opened.connection.list() : [],
      })),
    importPages: (caller, spaceId, id, body) => sync.importPages(caller, spaceId, id, body),
    files: (caller, spaceId, id, query) =>
      sync.query({ caller, spaceId, id }, 'files', async (opened) => ({
        buckets: opened.kind === 'files' ? await opened.connection.list(query) : [],
      })),
    importFiles: (caller, spaceId, id, body) => sync.importFiles(caller, spaceId, id, body),
    test: (caller, spaceId, id) => sync.test(caller, spaceId, id),
    hasSchedule: () => asDeployment(() => db.read(hasScheduledSync())),
  }
  return { operations, sync }
}
