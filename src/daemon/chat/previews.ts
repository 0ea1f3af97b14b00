import { createHmac, timingSafeEqual } from 'node:crypto'

/** Signed addresses that open a file without a key, for pages that show it; each is for one file and a limited time. */
export interface PreviewLinks {
  /** @param origin address of the daemon as the client sees it, unless configured */
  link(origin: string, fileId: string): string
  /**
   * Verifies the signature of a request for a file.
   *
   * @returns undefined if there is no signature
   */
  verify(query: URLSearchParams, fileId: string): boolean | undefined
}

const LIFETIME_SECONDS = 3600
/** Addresses of a file stay equal for this time, so that browsers can cache it. */
const EXPIRY_STEP_SECONDS = 300

/** @param publicUrl address of the daemon for clients, if it differs from that of their requests */
export function createPreviewLinks(signingKey: Uint8Array, publicUrl: string | undefined): PreviewLinks {
  const key = createHmac('sha256', signingKey).update('chat file previews').digest()
  const sign = (fileId: string, expires: string) => createHmac('sha256', key).update(`${fileId}\n${expires}`).digest()
  return {
    link(origin, fileId) {
      const base = (publicUrl ?? origin).replace(/\/+$/, '')
      const expires = String(
        Math.ceil((Date.now() / 1000 + LIFETIME_SECONDS) / EXPIRY_STEP_SECONDS) * EXPIRY_STEP_SECONDS,
      )
      return `${base}/v1/files/${fileId}/preview?expires=${expires}&sign=${sign(fileId, expires).toString('base64url')}`
    },
    verify(query, fileId) {
      const [expires, signature] = [query.get('expires') ?? '', query.get('sign')]
      if (signature === null) return undefined
      if (!/^\d{1,12}$/.test(expires) || Number(expires) < Date.now() / 1000) return false
      const expected = sign(fileId.toLowerCase(), expires)
      const bytes = Buffer.from(signature, 'base64url')
      return bytes.length === expected.length && timingSafeEqual(bytes, expected)
    },
  }
}
