import { call } from '../../../api/client.js'

/** Maximum size for a check: hashing needs the complete file in memory. Larger files are sent without it. */
const MAX_CHECKED_BYTES = 64 * 1024 * 1024

/**
 * Checks whether a space already has a file with this name and content, so that it need not be sent.
 *
 * @returns the id of its document; undefined if the file must be sent or the check is impossible
 */
export async function findExistingDocument(spaceId: string, filename: string, file: File): Promise<string | undefined> {
  // browsers compute digests only on pages from TLS or loopback addresses
  if (file.size === 0 || file.size > MAX_CHECKED_BYTES || !isSecureContext) return undefined
  try {
    const sha256 = toHex(await crypto.subtle.digest('SHA-256', await file.arrayBuffer()))
    const { items } = await call('POST /knowledge-spaces/{id}/documents/check', {
      path: { id: spaceId },
      body: { items: [{ filename, sha256 }] },
    })
    const [item] = items
    return item?.status === 'unchanged' ? item.documentId : undefined
  } catch {
    // the upload fails for the same reason and reports it
    return undefined
  }
}

function toHex(bytes: ArrayBuffer): string {
  return Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, '0')).join('')
}
