import { createHmac, timingSafeEqual } from 'node:crypto'

/** Addresses of files that open without a key, for pages that show them; each is for one file and some time. */
export interface PreviewLinks {
  /** @param origin where the client reaches the daemon, unless the operator says */
  link(origin: string, fileId: string): string
  /**
   * Whether a request for a file carries a signature, and whether it holds.
   *
   * @returns undefined where there is none
   */
  holds(query: URLSearchParams, fileId: string): boolean | undefined
}

const LIFE_SECONDS = 3600
/** addresses of the same file are the same for this long, so that browsers find it in their caches */
const STEP_SECONDS = 300

/** @param publicUrl address under which clients reach the daemon, where it is not that of their requests */
export function createPreviewLinks(signingKey: Uint8Array, publicUrl: string | undefined): PreviewLinks {
  const key = createHmac('sha256', signingKey).update('chat file previews').digest()
  const sign = (fileId: string, expires: string) => createHmac('sha256', key).update(`${fileId}\n${expires}`).digest()
  return {
    link(origin, fileId) {
      const base = (publicUrl ?? origin).replace(/\/+$/, '')
      const expires = String(Math.ceil((Date.now() / 1000 + LIFE_SECONDS) / STEP_SECONDS) * STEP_SECONDS)
      return `${base}/v1/files/${fileId}/preview?expires=${expires}&sign=${sign(fileId, expires).toString('base64url')}`
    },
    holds(query, fileId) {
      const [expires, given] = [query.get('expires') ?? '', query.get('sign')]
      if (given === null) return undefined
      if (!/^\d{1,12}$/.test(expires) || Number(expires) < Date.now() / 1000) return false
      const wanted = sign(fileId.toLowerCase(), expires)
      const bytes = Buffer.from(given, 'base64url')
      return bytes.length === wanted.length && timingSafeEqual(bytes, wanted)
    },
  }
}
