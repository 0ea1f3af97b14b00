import type { Readable } from 'node:stream'
import type { AcceptedDocument } from '../../contract/gateway/documents.js'

/** One file part of an upload, as it arrives. */
export interface UploadFile {
  /** relative path with `/` between folders, as the client named it; display text only */
  filename: string
  /** media type the client declared */
  mimeType?: string
  content: Readable
  /** stored with the document; never set by clients */
  metadata?: Record<string, unknown>
}

export interface UploadOptions {
  many: boolean
  /** computes the response of the request; absent if the request continues after the upload */
  answer?: (items: AcceptedDocument[]) => unknown
}

/**
 * An upload in progress. Each `add` resolves when the file's bytes are durable; nothing is visible or guaranteed until
 * `commit` resolves. `abort` discards everything that was added.
 */
export interface Upload {
  /** @throws KsError `upload-too-large`, `quota-exceeded` */
  add(file: UploadFile): Promise<void>
  /** @throws KsError `not-found` when the source is not of this space, `invalid-request` when no file was added */
  commit(options: { sourceId?: string | undefined }): Promise<AcceptedDocument[]>
  abort(): Promise<void>
}
