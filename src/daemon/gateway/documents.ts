import { KsError } from '../../contract/errors.js'
import type { AcceptedDocument, documentsRoutes } from '../../contract/gateway/documents.js'
import type { Caller } from '../../engine/base/caller.js'
import type { Upload } from '../../engine/base/upload.js'
import type { HandlerDeps, RouteHandlers } from '../operation.js'
import type { ReceiveUpload } from './upload-form.js'

export function documentsHandlers({ engine: { documents }, compilation }: HandlerDeps) {
  const settle = (caller: Caller, spaceId: string, items: AcceptedDocument[]) =>
    Promise.all(items.map((item) => documents.settled(caller, spaceId, item)))

  return {
    getMultimodalAsset: ({ caller, params: { id, ...item }, query }) =>
      documents.itemAsset(caller, id, { ...item, ...query }),
    uploadDocument: async ({ caller, params, receive }) => {
      const upload = await documents.upload(caller, params.id, {
        many: false,
        answer: ([body]) => ({ status: 202, body }),
      })
      const [accepted] = await receiveUpload(upload, receive)
      if (accepted === undefined) throw new KsError('upload-failed', 'the upload ended without a document')
      if (compilation === 'durable') return { status: 202, body: accepted }
      const asset = await documents.settled(caller, params.id, accepted)
      // The document waits for something that may take long.
      return asset.parserStatus === 'pending' ? { status: 202, body: accepted } : { status: 201, body: asset }
    },
    uploadDocuments: async ({ caller, params, receive }) => {
      const upload = await documents.upload(caller, params.id, { many: true })
      const items = await receiveUpload(upload, receive)
      const bulk = await documents.bulkUpload(caller, params.id, items)
      if (compilation === 'inline') await settle(caller, params.id, items)
      return bulk
    },
    deleteDocuments: ({ caller, params, body }) => documents.delete(caller, params.id, body.documentIds),
  } satisfies Partial<RouteHandlers<typeof documentsRoutes>>
}

/** Receives the parts of a form as one upload: all of them, or none. */
async function receiveUpload(
  upload: Upload,
  receive: ReceiveUpload<{ sourceId?: string | undefined }>,
): Promise<AcceptedDocument[]> {
  try {
    const fields = await receive((file) => upload.add(file))
    return await upload.commit(fields)
  } catch (error) {
    await upload.abort()
    throw error
  }
}
