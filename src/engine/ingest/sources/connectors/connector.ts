import type { Readable } from 'node:stream'
import type { OnlineDocumentPages, OnlineDriveFiles } from '../../../../contract/gateway/sources.js'
import type { SafeFetch, Validators } from '../../../models/index.js'
import type { Credentials } from '../credentials.js'

/**
 * A connector is a module that reads one kind of location. Two types of sources have connectors: `connector` (online
 * documents, which have pages in workspaces) and `object-storage` (drives, which have files, some in buckets).
 *
 * Failures: `EgressFailure` when the location cannot be reached or denies access, `ItemFailure` when one page or file
 * cannot be read. Messages are fixed texts without anything that a server sent.
 */

/** The location of a source and how to access it. */
export interface SourceLocation {
  uri: string
  /** `metadata.parameters` */
  parameters: ReadonlyMap<string, unknown>
  credentials: Credentials | undefined
}

/** The resources of a connection. */
export interface ConnectorAccess {
  /** the only way to send requests */
  fetch: SafeFetch
  /** aborts all running requests */
  signal: AbortSignal
  /** path of a private folder for this connection, which does not exist yet */
  workDir: string
  /** bytes of the largest file that may become a document */
  maxFileBytes: number
}

export interface ConnectorConnection {
  /** Resolves when the location can be reached and accepts the credentials. */
  test(): Promise<void>
  close(): Promise<void>
}

export interface PageRef {
  pageId: string
  workspaceId: string
  type: string
  /** name that the client gives it */
  name?: string | undefined
}

export interface ConnectorPage {
  pageName: string
  /** last edit before the content was read, or later */
  lastEditedTime?: string
  mimeType: string
  content: Buffer
  /** relative path for the name of the document */
  path: string
  /** whether no other page has the same path */
  isUnique: boolean
}

export interface PageConnection extends ConnectorConnection {
  list(): Promise<OnlineDocumentPages['workspaces']>
  read(page: PageRef): Promise<ConnectorPage>
}

export interface FileRef {
  id: string
  bucket?: string | undefined
}

export interface DriveQuery {
  bucket?: string | undefined
  prefix?: string | undefined
  maxKeys: number
}

export interface DriveFile {
  mimeType?: string
  validators?: Validators | undefined
  /** the caller must read or destroy it */
  content: Readable
}

export interface DriveConnection extends ConnectorConnection {
  /**
   * The bucket of a file, where there are buckets; optional if the source itself names one.
   *
   * @throws KsError `invalid-request` for a bucket outside of the source
   */
  resolveBucket(file: FileRef): { bucket?: string; isNamedBySource: boolean }
  /** The folders and files directly below a prefix. */
  list(query: DriveQuery): Promise<OnlineDriveFiles['buckets']>
  /** @returns undefined when its server reports that the file still matches these validators */
  open(file: FileRef, kept?: Validators): Promise<DriveFile | undefined>
}

export interface ConnectorModule<C extends ConnectorConnection> {
  /** @throws KsError `invalid-request` when the location can never be read */
  check(location: SourceLocation): void
  connect(location: SourceLocation, access: ConnectorAccess): C
}

/** One page or file that cannot be read, while the location works. */
export class ItemFailure extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'ItemFailure'
  }
}
