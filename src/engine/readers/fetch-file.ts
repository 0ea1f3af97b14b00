import type { FileChunkReply, FileChunkRequest } from './file-feed.js'

/**
 * Fetches all bytes of a file of the current request from the parent process, which opens it.
 *
 * @throws Error with the code of the system's error
 */
export async function fetchFile(index: number): Promise<Buffer> {
  let bytes: Buffer | undefined
  for (let offset = 0; ; ) {
    const reply = await requestChunk({ kind: 'file', index, offset })
    if (reply.kind === 'no-bytes') throw Object.assign(new Error(reply.code), { code: reply.code })
    bytes ??= Buffer.allocUnsafeSlow(reply.size)
    bytes.set(reply.bytes, offset)
    offset += reply.bytes.length
    // A file that is truncated meanwhile ends early.
    if (reply.bytes.length === 0 || offset >= bytes.length) return bytes.subarray(0, offset)
  }
}

function requestChunk(request: FileChunkRequest): Promise<FileChunkReply> {
  return new Promise((resolve, reject) => {
    const onMessage = (message: FileChunkReply | { kind?: undefined }): void => {
      if (message.kind !== 'bytes' && message.kind !== 'no-bytes') return
      process.off('message', onMessage)
      resolve(message)
    }
    process.on('message', onMessage)
    process.send?.(request, (error: Error | null) => (error === null ? undefined : reject(error)))
  })
}
