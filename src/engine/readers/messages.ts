import type { CompileRequest, CompileResult, PreparedDocument, ReadingProgress } from '../store/compiled.js'
import type { FileChunkRequest } from './file-feed.js'
import type { ReadLimits } from './limits.js'

/** Parent to child: read these files one after the other; the child asks for their bytes. One batch at a time. */
export interface ReadBatch {
  requests: ReadRequest[]
  limits: ReadLimits
}

/** Parent to child: the last bytes of a contained file were taken, the next may be sent. */
export interface TakenMessage {
  kind: 'taken'
}

/** A request without the path of its file, which the reading process must not open itself. */
export type ReadRequest = Omit<CompileRequest, 'path' | 'root'>

/** Child to parent. */
export type ChildReport =
  | FileChunkRequest
  | { kind: 'ready' }
  /** the batch has arrived; files of earlier failures are not to blame */
  | { kind: 'started' }
  /** progress of the file at `index`; with the processor time in ms since the start of the process */
  | { kind: 'progress'; index: number; progress: ReadingProgress; processorMs: number }
  /** first nodes and assets of a large document: one message with all of it would block the parent */
  | { kind: 'part'; index: number; part: DocumentPart }
  /** bytes of a contained file; the parent replies `taken`, which bounds the bytes in flight */
  | { kind: 'contained'; index: number; bytes: Uint8Array }
  /** end of a contained file: it is kept, or discarded */
  | { kind: 'contained-end'; index: number; kept: boolean }
  /** results of the files from index `start` on, in the order of the batch */
  | { kind: 'results'; start: number; results: CompileResult[] }
  /** the batch is finished; `rss` is the child's resident memory in bytes */
  | { kind: 'done'; rss: number }

/** Some nodes and assets of a document; those of its result follow them. */
export type DocumentPart = Pick<PreparedDocument, 'nodes' | 'assets'>
