import type {
  CompleteResult,
  ListResourcesResult,
  ReadResourceResult,
  ResourceTemplateType,
} from '@modelcontextprotocol/server'
import { ApiError } from '../client/errors.js'
import { LIMITS } from '../contract/limits.js'
import { omitUndefined } from '../lib/omit-undefined.js'
import type { GatewayApi } from './api.js'
import { toOneLine } from './content.js'
import { findDocumentPath, resolveTarget } from './documents.js'
import { ToolError } from './failure.js'
import type { SessionAccess } from './spaces.js'
import { NAMESPACES } from './tools/folder-pages.js'
import { formatUri, URI_TEMPLATE } from './uri.js'

/** Documents per page of the list. */
const DOCUMENTS_PER_PAGE = 50
const MAX_COMPLETIONS = 100
/** Maximum size of a resource in bytes; longer ones are read in parts with the tool `read`. */
const MAX_BYTES = 1024 * 1024

export const RESOURCE_TEMPLATES: ResourceTemplateType[] = [
  {
    name: 'file',
    title: 'File of a space',
    uriTemplate: URI_TEMPLATE,
    description:
      'Text of a document, section, passage or workspace file: ks://space/sources/…, /knowledge/…, /evidence/…, /workspaces/…; a folder returns the names of its entries. ks://space/ID is a document by its id.',
    mimeType: 'text/plain',
  },
]

/** Lists the documents of all spaces, page by page. A cursor contains a space and the cursor within it. */
export async function listResources({ api, spaces }: SessionAccess, cursor?: string): Promise<ListResourcesResult> {
  const allSpaces = await spaces.list()
  const [id = '', documentsCursor = ''] = cursor?.split(':') ?? []
  const index = cursor === undefined ? 0 : allSpaces.findIndex((space) => space.id === id)
  const space = allSpaces[index]
  if (space === undefined && cursor === undefined) return { resources: [] }
  if (space === undefined)
    throw new ToolError('invalid-cursor', 'the cursor does not belong to this list', 'List again without cursor.')
  const query = { limit: DOCUMENTS_PER_PAGE, ...(documentsCursor === '' ? {} : { cursor: documentsCursor }) }
  const page = await api.request('GET /knowledge-spaces/{id}/documents', { path: { id: space.id }, query })
  const nextCursor = page.nextCursor === undefined ? allSpaces[index + 1]?.id : `${space.id}:${page.nextCursor}`
  return {
    resources: page.items.map(({ id: documentId, filename, sizeBytes, updatedAt, createdAt }) => ({
      uri: formatUri({ space: space.slug, documentId }),
      name: toOneLine(filename),
      // Text extracted from the document, whatever its file type.
      mimeType: 'text/plain',
      size: sizeBytes,
      annotations: { lastModified: updatedAt ?? createdAt },
    })),
    ...omitUndefined({ nextCursor }),
  }
}

/** @throws ToolError, ApiError */
export async function readResource(access: SessionAccess, uri: string): Promise<ReadResourceResult> {
  const { api } = access
  const { space, path, documentId } = await resolveTarget(access, checkScheme(uri))
  const filePath = path ?? (await findDocumentPath(api, space, documentId ?? ''))
  try {
    const query = { path: filePath, maxBytes: MAX_BYTES }
    const file = await api.request('GET /knowledge-spaces/{id}/fs/cat', { path: { id: space.id }, query })
    const { content: text, nextOffset, totalChars } = file
    const more = nextOffset === undefined ? {} : { _meta: { 'knowledge-spaces/truncated': { nextOffset, totalChars } } }
    return { contents: [{ uri, mimeType: file.contentType, text, ...more }] }
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 400)) throw error
    const text = (await listNames(api, space.id, filePath)).join('\n') // a folder
    return { contents: [{ uri, mimeType: 'text/plain', text }] }
  }
}

function checkScheme(uri: string): string {
  if (uri.startsWith('ks://')) return uri
  throw new ToolError(
    'not-found',
    `no resource ${JSON.stringify(toOneLine(uri))} here`,
    'Addresses are ks://space/path.',
  )
}

/** Completes a variable of the resource template from existing spaces and paths. */
export async function completeArgument(
  access: SessionAccess,
  argument: { name: string; value: string },
  otherArguments: Readonly<Record<string, string>> = {},
): Promise<CompleteResult> {
  const values =
    argument.name === 'space'
      ? (await access.spaces.list()).map(({ slug }) => slug).filter((slug) => slug.startsWith(argument.value))
      : argument.name === 'path'
        ? await completePath(access, argument.value, otherArguments.space)
        : []
  const shown = values.slice(0, MAX_COMPLETIONS)
  return { completion: { values: shown, total: values.length, hasMore: values.length > shown.length } }
}

async function completePath(
  { api, spaces }: SessionAccess,
  value: string,
  spaceName: string | undefined,
): Promise<string[]> {
  const text = value.replace(/^\//, '')
  const folder = text.slice(0, text.lastIndexOf('/') + 1)
  if (folder === '') return NAMESPACES.filter((namespace) => namespace.startsWith(text))
  try {
    const space = await spaces.resolve(spaceName)
    const names = await listNames(api, space.id, `/${folder.replace(/\/$/, '')}`)
    return names.map((name) => folder + name).filter((path) => path.startsWith(text))
  } catch (error) {
    // A path that does not exist has no completion.
    if (error instanceof ToolError || (error instanceof ApiError && error.status < 500)) return []
    throw error
  }
}

async function listNames(api: GatewayApi, id: string, path: string): Promise<string[]> {
  const query = { path, limit: LIMITS.page.cap }
  const { items } = await api.request('GET /knowledge-spaces/{id}/fs/ls', { path: { id }, query })
  return items.map(({ name, kind }) => (kind === 'directory' ? `${name}/` : name))
}
