import { call } from '../../../api/client.js'

/** A larger file is sent without being asked for: it would have to be in memory whole. */
const MOST_BYTES = 64 * 1024 * 1024

/**
 * Asks whether a space holds a file of this name with this content, so that it need not be sent.
 *
 * @returns the id of its document; nothing where it has to be sent, or where that cannot be told
 */
export async function heldAlready(spaceId: string, filename: string, file: File): Promise<string | undefined> {
  // a page that did not come over TLS, nor from this machine, may not compute a digest
  if (file.size === 0 || file.size > MOST_BYTES || !isSecureContext) return undefined
  try {
    const sha256 = hex(await crypto.subtle.digest('SHA-256', await file.arrayBuffer()))
    const { items } = await call('POST /knowledge-spaces/{id}/documents/check', {
      path: { id: spaceId },
      body: { items: [{ filename, sha256 }] },
    })
    const [item] = items
    return item?.status === 'unchanged' ? item.documentId : undefined
  } catch {
    // sending it tells why, in the daemon's words
    return undefined
  }
}

function hex(bytes: ArrayBuffer): string {
  return Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, '0')).join('')
}
