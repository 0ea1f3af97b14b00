import type { AcceptedDocument, DocumentAsset } from '../../../../contract/gateway/documents.js'
import { sentenceOf, tokenNow } from '../../../api/session.js'

interface Sent {
  documentId: string
  /** absent where it was compiled at once, or is there already */
  jobId: string | undefined
}

/**
 * Sends one file. With `XMLHttpRequest`, since `fetch` does not tell how much of a body is sent.
 *
 * @param onProgress told the share that is sent
 * @throws Error with the daemon's own sentence
 */
export async function sendFile(
  spaceId: string,
  name: string,
  file: File,
  onProgress: (share: number) => void,
): Promise<Sent> {
  if (file.size === 0) throw new Error('it is empty')
  const form = new FormData()
  form.append('file', file, name)
  const token = await tokenNow()
  return await new Promise((resolve, reject) => {
    const request = new XMLHttpRequest()
    request.open('POST', `/knowledge-spaces/${encodeURIComponent(spaceId)}/documents`)
    if (token !== undefined) request.setRequestHeader('authorization', `Bearer ${token}`)
    request.upload.onprogress = ({ loaded, total }) => onProgress(total === 0 ? 0 : loaded / total)
    request.onerror = () => reject(new Error('the connection broke while it was sent, or the file could not be read'))
    request.onload = () => {
      const answer = parsed(request.responseText)
      if (request.status >= 400) reject(new Error(sentenceOf(answer) ?? `the service answered ${request.status}`))
      // the contract says which body a status has
      else if (request.status === 202) resolve(accepted(answer as AcceptedDocument))
      else resolve({ documentId: (answer as DocumentAsset).id, jobId: undefined })
    }
    request.send(form)
  })
}

function accepted({ asset, compilationJob }: AcceptedDocument): Sent {
  return { documentId: asset.id, jobId: compilationJob.id }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
