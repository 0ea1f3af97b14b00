import type { AcceptedDocument, DocumentAsset } from '../../../../contract/gateway/documents.js'
import { getErrorMessage, getToken } from '../../../api/session.js'

interface UploadResult {
  documentId: string
  /** undefined if the document was published at once, or exists already */
  jobId: string | undefined
}

/**
 * Uploads one file. Uses `XMLHttpRequest` because `fetch` does not report upload progress.
 *
 * @param onProgress called with the fraction of the bytes that are sent
 * @throws Error with the daemon's message
 */
export async function sendFile(
  spaceId: string,
  name: string,
  file: File,
  onProgress: (fraction: number) => void,
): Promise<UploadResult> {
  if (file.size === 0) throw new Error('the file is empty')
  const form = new FormData()
  form.append('file', file, name)
  const token = await getToken()
  return await new Promise((resolve, reject) => {
    const request = new XMLHttpRequest()
    request.open('POST', `/knowledge-spaces/${encodeURIComponent(spaceId)}/documents`)
    if (token !== undefined) request.setRequestHeader('authorization', `Bearer ${token}`)
    request.upload.onprogress = ({ loaded, total }) => onProgress(total === 0 ? 0 : loaded / total)
    request.onerror = () => reject(new Error('the connection broke during the upload, or the file could not be read'))
    request.onload = () => {
      const body = parseJson(request.responseText)
      if (request.status >= 400) reject(new Error(getErrorMessage(body) ?? `the service answered ${request.status}`))
      // the contract defines which body belongs to a status
      else if (request.status === 202) {
        const { asset, compilationJob } = body as AcceptedDocument
        resolve({ documentId: asset.id, jobId: compilationJob.id })
      } else resolve({ documentId: (body as DocumentAsset).id, jobId: undefined })
    }
    request.send(form)
  })
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
