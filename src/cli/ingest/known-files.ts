import type { FileFacts } from '../../local/file-facts.js'
import type { FoundFile } from './walk.js'

/** Reason for skipping an empty file. */
export const EMPTY_FILE_REASON = 'is empty'

/** A file whose content is not in the space. */
export interface FileToSend extends FoundFile {
  /** Its index among the files of the run. */
  index: number
  /** Size in bytes. */
  size: number
  /** Whether the space has the file, but its last compilation failed or was canceled: sending it starts another. */
  isRetry?: boolean
}

export interface HashedFile extends FileToSend {
  sha256: string
  facts: FileFacts
}
