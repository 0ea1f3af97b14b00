import { stat } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { basename } from 'node:path'
import { usageError } from '../cli/cli-error.js'
import { toUnreadableError } from '../cli/input-file.js'
import { formatBytes } from '../cli/units.js'
import { readText } from '../client/http.js'
import { buildMultipartBody, type UploadPart, UploadReadError } from '../client/multipart.js'
import { isRecord, toNonEmptyString } from '../lib/json/values.js'
import type { KchatOptions } from './options.js'
import { createOutput, printOne } from './output.js'
import { type ChatService, withChat } from './service.js'

/**
 * Uploads a file, or stdin for `-`, as multipart form data and parses the JSON response.
 *
 * @param path route of the service
 * @param name file name to send, instead of the file's own
 * @throws CliError exit 2 for a missing file
 */
export async function uploadFile(chat: ChatService, path: string, file: string, name?: string): Promise<unknown> {
  const part = file === '-' ? toStdinPart(name ?? 'stdin') : await toFilePart(file, name)
  try {
    const response = await chat.upload(path, buildMultipartBody('file', [part], { user: chat.user }))
    return JSON.parse(await readText(response))
  } catch (error) {
    if (error instanceof UploadReadError) throw usageError(`${JSON.stringify(file)} cannot be read: ${error.message}`)
    throw error
  }
}

function toStdinPart(filename: string): UploadPart {
  if (process.stdin.isTTY) throw usageError('the file is read from stdin, but stdin is a terminal')
  return { filename, content: { stream: process.stdin } }
}

async function toFilePart(file: string, name: string | undefined): Promise<UploadPart> {
  const fileInfo = await stat(file).catch((error: unknown) => {
    throw toUnreadableError('the file to send', file, error)
  })
  if (!fileInfo.isFile()) throw usageError(`${JSON.stringify(file)} is not a file`)
  return { filename: name ?? basename(file), content: { path: file, size: fileInfo.size } }
}

/** Writes the bytes of a response to `-o` or stdout. @throws CliError exit 2 if stdout is a terminal */
export async function saveBytes(
  openBody: () => Promise<IncomingMessage>,
  options: KchatOptions & { output?: string },
): Promise<void> {
  const { output } = options
  const out = createOutput(options)
  if (output === undefined && out.isTerminal)
    throw usageError('binary output is not written to a terminal', 'give `-o FILE`')
  const { saveBody } = await import('../cli/save-body.js')
  const size = await saveBody(await openBody(), output)
  if (output !== undefined) out.note(`Wrote ${output}, ${formatBytes(size)}.`)
}

/** Makes the message input for an image: the service fetches a URL; a file is uploaded first. */
export async function toImageInput(chat: ChatService, fileOrUrl: string): Promise<object> {
  if (/^https?:\/\//i.test(fileOrUrl)) return { type: 'image', transfer_method: 'remote_url', url: fileOrUrl }
  return await toFileInput(chat, fileOrUrl)
}

/** Uploads a file for a message. The service decides whether it is an image or a document. */
export async function toFileInput(chat: ChatService, file: string): Promise<object> {
  const uploaded = await uploadFile(chat, '/files/upload', file)
  const { id, mime_type: mediaType } = isRecord(uploaded) ? uploaded : {}
  const type = toNonEmptyString(mediaType)?.startsWith('image/') === true ? 'image' : 'document'
  return { type, transfer_method: 'local_file', upload_file_id: id }
}

export async function uploadForMessage(file: string, options: KchatOptions & { name?: string }): Promise<void> {
  await withChat(options, async (chat) => {
    printOne(await uploadFile(chat, '/files/upload', file, options.name), options, [
      { field: 'id' },
      { field: 'name' },
      { field: 'mime_type', title: 'TYPE' },
      { field: 'size', kind: 'bytes' },
    ])
  })
}

/** Writes the bytes of a file to `-o` or stdout. @throws CliError exit 2 if stdout is a terminal */
export async function savePreview(id: string, options: KchatOptions & { output?: string }): Promise<void> {
  await withChat(options, (chat) =>
    saveBytes(() => chat.open('GET', `/files/${encodeURIComponent(id)}/preview`), options),
  )
}
