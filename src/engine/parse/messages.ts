import type { CompileRequest, CompileResult, PreparedDocument, ReadingProgress } from './compiled.js'
import type { FileQuestion } from './file-feed.js'
import type { ReadLimits } from './limits.js'

/** Parent to child: read these files, one after the other, whose bytes the child asks for. One batch at a time. */
export interface Batch {
  requests: ReadRequest[]
  limits: ReadLimits
}

/** Parent to child: the last bytes of a file within a file are taken, the next may come. */
export interface Taken {
  kind: 'taken'
}

/** A request without the path of its file, which the reading process must not open itself. */
export type ReadRequest = Omit<CompileRequest, 'path' | 'root'>

/** Child to parent. */
export type Report =
  | FileQuestion
  | { kind: 'ready' }
  /** a batch has arrived; until then its files cannot be to blame for anything */
  | { kind: 'started' }
  /** how far the file at `index` is, now and then; with the processor time in ms since the start of the process */
  | { kind: 'progress'; index: number; progress: ReadingProgress; processorMs: number }
  /** what comes first of a large document: a message of all of it would keep the parent from everything else */
  | { kind: 'part'; index: number; part: DocumentPart }
  /** bytes of a file that lies in one of the batch; the parent answers `taken`, so that what waits is bounded */
  | { kind: 'contained'; index: number; bytes: Uint8Array }
  /** that was all of it: it is kept, or given up */
  | { kind: 'contained-end'; index: number; kept: boolean }
  /** results of the files from `start` on, in the order of the batch */
  | { kind: 'results'; start: number; results: CompileResult[] }
  /** the batch is finished; `rss` is the child's resident memory in bytes */
  | { kind: 'done'; rss: number }

/** Some of what a document consists of; what follows in its result stands behind it. */
export type DocumentPart = Pick<PreparedDocument, 'nodes' | 'assets'>
