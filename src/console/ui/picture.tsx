import { useEffect, useState } from 'react'
import { messageOf, openResponse } from '../api/client.js'

/** Operation that returns an item of a document, such as a picture or a rendered page, in a variant. */
export const ASSET = 'GET /knowledge-spaces/{id}/documents/{documentId}/multimodal/{itemId}/asset'

export interface ItemPath {
  /** of the space */
  id: string
  documentId: string
  itemId: string
}

/** Image types that browsers render and that cannot contain scripts. */
const SUPPORTED_TYPES = new Set(['image/jpeg', 'image/png', 'image/gif', 'image/webp', 'image/bmp', 'image/avif'])

export type LoadedPicture = { url: string; error?: undefined } | { url?: undefined; error: string | undefined }

/**
 * Loads a picture and returns an object URL, valid while the component is mounted. The type is detected from the bytes.
 */
export function usePicture({ id, documentId, itemId }: ItemPath, variant: 'preview' | 'page'): LoadedPicture {
  const [picture, setPicture] = useState<LoadedPicture>({ error: undefined })
  useEffect(() => {
    const controller = new AbortController()
    let url: string | undefined
    setPicture({ error: undefined })
    void openResponse(ASSET, { path: { id, documentId, itemId }, query: { variant } }, { signal: controller.signal })
      .then(async (response) => {
        const bytes = await response.arrayBuffer()
        const type = detectImageType(new Uint8Array(bytes.slice(0, 16)))
        if (!SUPPORTED_TYPES.has(type)) throw new Error('the browser cannot show this type of picture')
        url = URL.createObjectURL(new Blob([bytes], { type }))
        setPicture({ url })
      })
      .catch((error: unknown) => {
        if (!controller.signal.aborted) setPicture({ error: messageOf(error) })
      })
    return () => {
      controller.abort()
      if (url !== undefined) URL.revokeObjectURL(url)
    }
  }, [id, documentId, itemId, variant])
  return picture
}

/** @param firstBytes the first 12 bytes, or all of a shorter picture */
function detectImageType(firstBytes: Uint8Array): string {
  const text = String.fromCharCode(...firstBytes)
  if (text.startsWith('\xff\xd8\xff')) return 'image/jpeg'
  if (text.startsWith('\x89PNG')) return 'image/png'
  if (text.startsWith('GIF8')) return 'image/gif'
  if (text.startsWith('RIFF') && text.slice(8, 12) === 'WEBP') return 'image/webp'
  if (text.startsWith('BM')) return 'image/bmp'
  return text.slice(4, 12) === 'ftypavif' ? 'image/avif' : 'application/octet-stream'
}
