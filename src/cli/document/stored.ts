import type { Client } from '../../client/client.js'
import type { MultimodalItem } from '../../contract/gateway/document-parts.js'
import { omitUndefined } from '../../lib/omit-undefined.js'
import type { PictureView } from '../json-output/documents.js'
import type { ReadingElement } from './element.js'
import type { DocumentContent, DocumentForm } from './forms.js'

/** Loads the parts of a stored document that the form needs. */
export async function loadStoredDocument(
  client: Client,
  path: { id: string; documentId: string },
  form: DocumentForm,
): Promise<DocumentContent> {
  const items =
    form === 'pictures' || form === 'markdown'
      ? (await client.request('GET /knowledge-spaces/{id}/documents/{documentId}/multimodal', { path })).items
      : []
  const outline =
    form === 'outline'
      ? (await client.request('GET /knowledge-spaces/{id}/documents/{documentId}/outline', { path })).nodes
      : []
  const elements = form === 'pictures' || form === 'outline' ? [] : await loadElements(client, path)
  const images = items.filter(({ modality }) => modality === 'image')
  const pictureLocations = images.map((item): [string, string] => [item.parseElementId, item.assetRef?.uri ?? item.id])
  return { elements, outline, pictures: images.map(toPictureView), pictureLocations: new Map(pictureLocations) }
}

async function loadElements(client: Client, path: { id: string; documentId: string }): Promise<ReadingElement[]> {
  const { version } = await client.request('GET /knowledge-spaces/{id}/documents/{documentId}', { path })
  const artifact = await client.request('GET /knowledge-spaces/{id}/documents/{documentId}/parse-artifacts/{version}', {
    path: { ...path, version: String(version) },
  })
  return artifact.elements
}

function toPictureView({ id, sourceMetadata, assetRef, ...item }: MultimodalItem): PictureView {
  const { sizeBytes } = sourceMetadata
  return {
    id,
    ...omitUndefined({
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
