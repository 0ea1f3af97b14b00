import { LIMITS } from '../contract/limits.js'
import { isUuid } from '../lib/ids.js'
import type { GatewayApi } from './api.js'
import { toOneLine } from './content.js'
import { ToolError } from './failure.js'
import { describePending } from './index-state.js'
import { withPathSuggestions } from './nearby.js'
import type { SessionAccess, ToolSpace } from './spaces.js'
import { parseUri } from './uri.js'

const NAMESPACE_PATTERN = /^\/(sources|knowledge|evidence|workspaces)(\/|$)/
const MAX_SUGGESTIONS = 5
const MAX_MATCHES = 50

/** A file of the virtual file system, or a document. */
export interface FileTarget {
  space: ToolSpace
  /** absolute path in the virtual file system */
  path?: string
  documentId?: string
}

/**
 * Resolves the name, path, id or ks:// address of a file.
 *
 * @param spaceName slug or id of the space, unless the address contains it
 * @throws ToolError if nothing or several documents match
 */
export async function resolveTarget(
  { api, spaces }: SessionAccess,
  reference: string,
  spaceName?: string,
): Promise<FileTarget> {
  const address = reference.startsWith('ks://') ? parseUri(reference) : undefined
  if (reference.startsWith('ks://') && address === undefined)
    throw new ToolError(
      'invalid-request',
      `${JSON.stringify(reference)} is not an address`,
      'Addresses are ks://space/path.',
    )
  const space = await spaces.resolve(address?.space ?? spaceName)
  if (address?.documentId !== undefined) return { space, documentId: address.documentId }
  const name = address?.path ?? reference
  if (/^\/*$/.test(name))
    throw new ToolError(
      'invalid-request',
      'this names a space, not a document',
      'Name a document; use `list` or `find` to see the documents.',
    )
  if (NAMESPACE_PATTERN.test(name)) return { space, path: name }
  if (isUuid(name)) return { space, documentId: name.toLowerCase() }
  return { space, documentId: await findIdByFilename(api, space, name.replace(/^\//, '')) }
}

/** Resolves the id of a document from a name, path, id or ks:// address. */
export async function resolveDocumentId(access: SessionAccess, reference: string, spaceName?: string) {
  const { space, path = '/', documentId } = await resolveTarget(access, reference, spaceName)
  if (documentId !== undefined) return { space, documentId }
  const query = { path, maxBytes: 1 }
  const file = await withPathSuggestions(access.api, space, path, () =>
    access.api.request('GET /knowledge-spaces/{id}/fs/cat', { path: { id: space.id }, query }),
  )
  const fileDocumentId = file.resourceType === 'document' ? file.targetId : file.metadata.documentId
  if (typeof fileDocumentId === 'string') return { space, documentId: fileDocumentId }
  throw new ToolError(
    'invalid-request',
    `${toOneLine(reference)} is not a document`,
    'Use `find` or `list` to find documents.',
  )
}

/** Finds the path of a document's text. @throws ToolError `not-found` if it has none yet */
export async function findDocumentPath(api: GatewayApi, space: ToolSpace, documentId: string): Promise<string> {
  const { filename } = await api.request('GET /knowledge-spaces/{id}/documents/{documentId}', {
    path: { id: space.id, documentId },
  })
  const documents = await findByFilename(api, space, filename)
  const path = documents.find(({ targetId }) => targetId === documentId)?.path
  if (path !== undefined) return path
  throw new ToolError(
    'not-found',
    `the document ${documentId} has no text yet`,
    'It is still being read, or reading failed; `spaces` shows the state of the index. Call again later.',
  )
}

async function findIdByFilename(api: GatewayApi, space: ToolSpace, filename: string): Promise<string> {
  const exact = await findByFilename(api, space, filename)
  const matches = exact.length > 0 ? exact : await findByPartialName(api, space, filename)
  const [only, other] = matches
  if (only?.targetId !== undefined && other === undefined) return only.targetId
  if (only === undefined)
    throw new ToolError(
      'not-found',
      `no document ${JSON.stringify(toOneLine(filename))} in ${space.slug}`,
      `Use \`find\` with a part of the name, or \`list\` with the path /sources.${await describePending(api, space.id)}`,
    )
  const paths = matches.slice(0, MAX_SUGGESTIONS).map(({ path }) => path)
  throw new ToolError(
    'invalid-request',
    `${matches.length} or more documents have ${JSON.stringify(toOneLine(filename))} in their name`,
    'Give the path of one of them, such as:',
    paths,
  )
}

async function findByFilename(api: GatewayApi, space: ToolSpace, filename: string) {
  return findDocuments(api, space, { metadataKey: 'filename', metadataValue: filename })
}

/** Finds documents whose name contains the last part of a path; if some have the complete path, only these. */
async function findByPartialName(api: GatewayApi, space: ToolSpace, filename: string) {
  const last = filename.slice(filename.lastIndexOf('/') + 1)
  if (last === '') return []
  const documents = await findDocuments(api, space, { nameContains: last.slice(0, LIMITS.findNameContains) })
  const exact = documents.filter(({ path }) => path.endsWith(`/${filename}`))
  return exact.length > 0 ? exact : documents
}

async function findDocuments(
  api: GatewayApi,
  space: ToolSpace,
  criteria: { metadataKey: string; metadataValue: string } | { nameContains: string },
) {
  const query = { path: '/sources', limit: MAX_MATCHES, ...criteria }
  const { items } = await api.request('GET /knowledge-spaces/{id}/fs/find', { path: { id: space.id }, query })
  return items.filter(({ resourceType }) => resourceType === 'document')
}
