import type { FileFacts } from '../../local/file-facts.js'
import type { FoundFile } from './walk.js'

/** A file whose content is not in the space. */
export interface FileToSend extends FoundFile {
  index: number
  size: number
  /** The space has the file, but its last compilation failed or was canceled: sending it starts another. */
  isRetry?: boolean
}

export interface HashedFile extends FileToSend {
  sha256: string
  facts: FileFacts
}
