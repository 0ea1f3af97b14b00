import type { Client } from '../../client/client.js'
import type { MultimodalItem } from '../../contract/gateway/document-parts.js'
import { defined } from '../../lib/defined.js'
import type { Element } from './element.js'
import type { Form, PictureView, Shown } from './forms.js'

/** Loads the parts of a stored document that the form needs. */
export async function shownOfStored(
  client: Client,
  path: { id: string; documentId: string },
  form: Form,
): Promise<Shown> {
  const items = form === 'pictures' || form === 'markdown' ? await itemsOf(client, path) : []
  const outline =
    form === 'outline'
      ? (await client.request('GET /knowledge-spaces/{id}/documents/{documentId}/outline', { path })).nodes
      : []
  const elements = form === 'pictures' || form === 'outline' ? [] : await elementsOf(client, path)
  const images = items.filter(({ modality }) => modality === 'image')
  const places = images.map((item): [string, string] => [item.parseElementId, item.assetRef?.uri ?? item.id])
  return { elements, outline, pictures: images.map(pictureOf), places: new Map(places) }
}

async function itemsOf(client: Client, path: { id: string; documentId: string }): Promise<MultimodalItem[]> {
  const manifest = await client.request('GET /knowledge-spaces/{id}/documents/{documentId}/multimodal', { path })
  return manifest.items
}

async function elementsOf(client: Client, path: { id: string; documentId: string }): Promise<Element[]> {
  const { version } = await client.request('GET /knowledge-spaces/{id}/documents/{documentId}', { path })
  const artifact = await client.request('GET /knowledge-spaces/{id}/documents/{documentId}/parse-artifacts/{version}', {
    path: { ...path, version: String(version) },
  })
  return artifact.elements
}

function pictureOf({ id, sourceMetadata, assetRef, ...item }: MultimodalItem): PictureView {
  const { sizeBytes } = sourceMetadata
  return {
    id,
    ...defined({
      pageNumber: item.pageNumber,
      section: item.sectionPath.at(-1),
      caption: item.caption,
      contentType: assetRef?.contentType,
      sizeBytes: typeof sizeBytes === 'number' ? sizeBytes : undefined,
      text: item.ocrText ?? item.textPreview,
      externalUri: assetRef?.uri,
    }),
  }
}
