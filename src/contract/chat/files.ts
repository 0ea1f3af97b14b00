import { z } from 'zod'
import { count, uuid } from '../primitives.js'
import { route } from '../route.js'
import { endUser } from './messages.js'

export const FileUpload = z
  .strictObject({
    id: uuid,
    name: z.string(),
    /** Size in bytes. */
    size: count,
    /** Lower case, without a dot. */
    extension: z.string(),
    mime_type: z.string(),
    /** Id of the end user. */
    created_by: uuid,
    created_at: count,
  })
  .meta({ id: 'FileUploadResponse' })
export type FileUpload = z.output<typeof FileUpload>

/** Clients write booleans in queries as `true`, `True` or `1`; blank values are dropped before validation. */
const queryFlag = z
  .string()
  .regex(/^(true|false|1|0)$/i, 'true or false')
  .transform((text) => /^(true|1)$/i.test(text))
  .pipe(z.boolean())

export const filesRoutes = [
  route({
    id: 'uploadChatFile',
    method: 'POST',
    path: '/v1/files/upload',
    scope: 'application',
    summary: 'Upload an image, or a document where the application takes them, for messages of the same user.',
    multipart: { file: { name: 'file', many: false }, fields: z.object({ user: endUser }) },
    ok: { 200: FileUpload, 201: FileUpload },
    errors: [400, 413, 415, 503],
  }),
  route({
    id: 'previewChatFile',
    method: 'GET',
    path: '/v1/files/{file_id}/preview',
    scope: 'application',
    summary: 'Download a file of a message. A signed address needs no key.',
    params: z.object({ file_id: uuid }),
    query: z.object({ as_attachment: queryFlag.default(false) }),
    ok: { 200: 'binary' },
    binary: ['image/png', 'image/jpeg', 'image/webp', 'image/gif', 'application/octet-stream'],
    errors: [400, 403, 404],
  }),
] as const
