/** A space as a file system, and its snapshots. */

export { replaySnapshot } from './snapshots/replay.js'
export {
  createSnapshot,
  deleteSnapshot,
  listSnapshots,
  readSnapshotDetail,
  readSnapshotFile,
} from './snapshots/snapshots.js'
export { createPublishedDocumentsReader } from './vfs/published-documents.js'
export { createFileSystem, type FileSystemReader } from './vfs/vfs.js'
