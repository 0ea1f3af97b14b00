import type { Engine } from '../../../src/engine/index.js'

type Metadata = Record<string, unknown>

/** A server that a connector reads, with the methods that the tests of all connectors call. */
export interface RemoteServer {
  type: 'connector' | 'object-storage'
  uri: string
  metadata: Metadata
  /** metadata with credentials that the server refuses */
  refusedMetadata: Metadata
  /** adds or changes an item; `name` is a path with the extension `.md` */
  put(name: string, text: string): Promise<void>
  remove(name: string): Promise<void>
  /** received requests, as `METHOD path` */
  requests: string[]
  end(): Promise<void>
}

/** The reason why the server cannot run here; else undefined. */
export type MissingReason = string | undefined

export interface SourceItem {
  id: string
  name: string
  type: string
  workspaceId?: string
  lastEditedTime?: string
  bucket?: string
}

/** Lists the items of a source: names and, for pages, edit times. */
export async function listOffered(
  sources: Engine['sources'],
  caller: Parameters<Engine['sources']['get']>[0],
  ids: { spaceId: string; sourceId: string; type: RemoteServer['type'] },
): Promise<SourceItem[]> {
  if (ids.type === 'connector') {
    const { workspaces } = await sources.pages(caller, ids.spaceId, ids.sourceId)
    return workspaces.flatMap(({ workspaceId = '', pages }) =>
      pages.map(({ pageName, ...page }) => ({ ...page, id: page.pageId, name: pageName, workspaceId })),
    )
  }
  const { buckets } = await sources.files(caller, ids.spaceId, ids.sourceId, { maxKeys: 1000 })
  return buckets.flatMap(({ bucket, files }) =>
    files
      .filter(({ type }) => type === 'file')
      .map((file) => ({ ...file, ...(bucket === undefined ? {} : { bucket }) })),
  )
}
