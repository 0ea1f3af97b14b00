import { isUuid } from '../lib/ids.js'
import type { GatewayApi } from './api.js'
import { toOneLine } from './content.js'
import { ToolError } from './failure.js'
import { describePending } from './index-state.js'
import { withPathSuggestions } from './nearby.js'
import type { SpaceDirectory, ToolSpace } from './spaces.js'
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
 * Resolves a name, path, id or ks:// address.
 * @throws ToolError if nothing or several documents match
 */
export async function resolveTarget(
  spaces: SpaceDirectory,
  api: GatewayApi,
  text: string,
  spaceName?: string,
): Promise<FileTarget> {
  const address = text.startsWith('ks://') ? parseUri(text) : undefined
  if (text.startsWith('ks://') && address === undefined)
    throw new ToolError(
      'invalid-request',
      `${JSON.stringify(text)} is not an address`,
      'Addresses are ks://space/path.',
    )
  const space = await spaces.resolve(address?.space ?? spaceName)
  if (address?.documentId !== undefined) return { space, documentId: address.documentId }
  const name = address?.path ?? text
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
export async function resolveDocumentId(spaces: SpaceDirectory, api: GatewayApi, text: string, spaceName?: string) {
  const target = await resolveTarget(spaces, api, text, spaceName)
  const { space, path, documentId } = target
  if (documentId !== undefined) return { space, documentId }
  const query = { path: path ?? '/', maxBytes: 1 }
  const file = await withPathSuggestions(api, space, path ?? '/', () =>
    api.request('GET /knowledge-spaces/{id}/fs/cat', { path: { id: space.id }, query }),
  )
  const named = file.resourceType === 'document' ? file.targetId : file.metadata.documentId
  if (typeof named === 'string') return { space, documentId: named }
  throw new ToolError(
    'invalid-request',
    `${toOneLine(text)} is not a document`,
    'Use `find` or `list` to find documents.',
  )
}

/** The path of a document's text. */
export async function findDocumentPath(api: GatewayApi, space: ToolSpace, documentId: string): Promise<string> {
  const { filename } = await api.request('GET /knowledge-spaces/{id}/documents/{documentId}', {
    path: { id: space.id, documentId },
  })
  const items = await named(api, space, filename)
  const path = items.find(({ targetId }) => targetId === documentId)?.path
  if (path !== undefined) return path
  throw new ToolError(
    'not-found',
    `the document ${documentId} has no text yet`,
    'It is still being read, or reading failed; `spaces` shows the state of the index. Call again later.',
  )
}

async function findIdByFilename(api: GatewayApi, space: ToolSpace, filename: string): Promise<string> {
  const exact = await named(api, space, filename)
  const items = exact.length > 0 ? exact : await findByName(api, space, filename)
  const [only, other] = items
  if (only?.targetId !== undefined && other === undefined) return only.targetId
  if (only === undefined)
    throw new ToolError(
      'not-found',
      `no document ${JSON.stringify(toOneLine(filename))} in ${space.slug}`,
      `Use \`find\` with a part of the name, or \`list\` with the path /sources.${await describePending(api, space.id)}`,
    )
  const paths = items.slice(0, MAX_SUGGESTIONS).map(({ path }) => path)
  throw new ToolError(
    'invalid-request',
    `${items.length} or more documents have ${JSON.stringify(toOneLine(filename))} in their name`,
    'Give the path of one of them, such as:',
    paths,
  )
}

async function named(api: GatewayApi, space: ToolSpace, filename: string) {
  const query = { path: '/sources', limit: MAX_MATCHES, metadataKey: 'filename', metadataValue: filename }
  const { items } = await api.request('GET /knowledge-spaces/{id}/fs/find', { path: { id: space.id }, query })
  return items.filter(({ resourceType }) => resourceType === 'document')
}

/** Documents whose name contains the last part of a path. */
async function findByName(api: GatewayApi, space: ToolSpace, filename: string) {
  const last = filename.slice(filename.lastIndexOf('/') + 1)
  if (last === '') return []
  const query = { path: '/sources', limit: MAX_MATCHES, nameContains: last.slice(0, 240) }
  const { items } = await api.request('GET /knowledge-spaces/{id}/fs/find', { path: { id: space.id }, query })
  const documents = items.filter(({ resourceType }) => resourceType === 'document')
  const exact = documents.filter(({ path }) => path.endsWith(`/${filename}`))
  return exact.length > 0 ? exact : documents
}
