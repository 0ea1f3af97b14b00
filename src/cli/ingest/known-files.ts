import type { FileFacts } from '../../local/file-facts.js'
import type { FoundFile } from './walk.js'

/** A file whose bytes the space does not hold yet. */
export interface FileToSend extends FoundFile {
  index: number
  size: number
  /** the space holds it, but its last compilation failed or was canceled: sending it begins another */
  isRetry?: boolean
}

export interface Known extends FileToSend {
  sha256: string
  facts: FileFacts
}
