import type { Readable } from 'node:stream'
import type { OnlineDocumentPages, OnlineDriveFiles } from '../../../contract/gateway/sources.js'
import type { SafeFetch } from '../../egress/safe-fetch.js'
import type { Validators } from '../../egress/validators.js'
import type { Credentials } from '../credentials.js'

/**
 * What a connector is: a module that reads one kind of place. Two kinds of sources have connectors: `connector` (online
 * documents, which have pages in workspaces) and `object-storage` (drives, which have files, some in buckets).
 *
 * Failures: `EgressFailure` when the place cannot be reached or refuses to be read, `ItemFailure` when one page or file
 * cannot be had. Messages are fixed texts; nothing that a server said stands in them.
 */

/** Where to read and with what. */
export interface Place {
  uri: string
  /** `metadata.parameters` */
  parameters: ReadonlyMap<string, unknown>
  credentials: Credentials | undefined
}

/** What a connection works with. */
export interface Access {
  /** the only way out */
  fetch: SafeFetch
  /** ends everything that is under way */
  signal: AbortSignal
  /** names a folder of this connection's own, which does not exist yet */
  workDir: string
  /** bytes of the largest file that may become a document */
  maxFileBytes: number
}

export interface Connection {
  /** Resolves when the place can be reached and lets us in. */
  test(): Promise<void>
  close(): Promise<void>
}

export interface PageRef {
  pageId: string
  workspaceId: string
  type: string
  /** what the client calls it */
  name?: string | undefined
}

export interface Page {
  pageName: string
  /** when the content was read it was this old or younger */
  lastEditedTime?: string
  mimeType: string
  content: Buffer
  /** relative path that the document is named after */
  path: string
  /** whether no other page has the same path */
  isUnique: boolean
}

export interface PageConnection extends Connection {
  list(): Promise<OnlineDocumentPages['workspaces']>
  read(page: PageRef): Promise<Page>
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
  /** has to be read or destroyed */
  content: Readable
}

export interface DriveConnection extends Connection {
  /**
   * The bucket that a file is in, where there are buckets; one that the source itself names may be left out.
   *
   * @throws KsError `invalid-request` for one that is not the source's
   */
  bucketOf(file: FileRef): { bucket?: string; isNamedBySource: boolean }
  /** The folders and files directly below a prefix. */
  list(query: DriveQuery): Promise<OnlineDriveFiles['buckets']>
  /** @returns undefined when the file is in the state of these validators, by the word of its server */
  open(file: FileRef, kept?: Validators): Promise<DriveFile | undefined>
}

export interface ConnectorModule<C extends Connection> {
  /** @throws KsError `invalid-request` when the place can never be read */
  check(place: Place): void
  connect(place: Place, access: Access): C
}

/** One page or file that cannot be had; the place is well. */
export class ItemFailure extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'ItemFailure'
  }
}
