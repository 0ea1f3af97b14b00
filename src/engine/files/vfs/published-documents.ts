import { notFoundError } from '../../../contract/errors.js'
import { DOCUMENTS_ROOT, type PublishedDocuments } from '../../base/published-documents.js'

/**
 * The part of the file system that a chat application may show to end users: published documents. Paths that a model
 * requests never reach workspaces, evidence or unpublished documents.
 */
export function createPublishedDocumentsReader(files: PublishedDocuments): PublishedDocuments {
  return {
    tree: async (caller, spaceId, query) => {
      assertDocumentPath(query.path)
      // a space may default to previews of unpublished documents
      return await files.tree(caller, spaceId, { ...query, consistencyClass: 'path-consistent' })
    },
    cat: async (caller, spaceId, query) => {
      assertDocumentPath(query.path)
      return await files.cat(caller, spaceId, query)
    },
  }
}

/**
 * Rejects other paths; the file system itself rejects `..`, empty segments and text that is not NFC. @throws KsError
 * `not-found`
 */
function assertDocumentPath(path: string): void {
  if (path !== DOCUMENTS_ROOT && !path.startsWith(`${DOCUMENTS_ROOT}/`)) throw notFoundError('path', path.slice(0, 100))
}
