import { isUuid } from '../lib/ids.js'

/** `ks://space/path`: a file of the virtual file system; `ks://space/ID`: a document by its id. */
export interface KsAddress {
  space: string
  /** Absolute path; absent for an address of a document. */
  path?: string
  documentId?: string
}

const URI_PATTERN = /^ks:\/\/([^/?#]+)(?:\/([^?#]*))?$/

export const URI_TEMPLATE = 'ks://{space}/{+path}'

/** @returns undefined for an invalid address */
export function parseUri(uri: string): KsAddress | undefined {
  const match = URI_PATTERN.exec(uri)
  if (match?.[1] === undefined) return undefined
  try {
    const space = decodeURIComponent(match[1])
    const parts = (match[2] ?? '').split('/').map(decodeURIComponent)
    const [first = ''] = parts
    if (parts.length === 1 && isUuid(first)) return { space, documentId: first }
    return { space, path: `/${parts.join('/')}` }
  } catch {
    return undefined // An invalid percent escape.
  }
}

export function formatUri({ space, path, documentId }: KsAddress): string {
  const tail = documentId ?? (path ?? '').replace(/^\//, '').split('/').map(encodeURIComponent).join('/')
  return `ks://${encodeURIComponent(space)}/${tail}`
}
