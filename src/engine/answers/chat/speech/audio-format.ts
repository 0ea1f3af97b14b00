/** Extension and media type of audio for a model. */
export interface AudioFormat {
  extension: string
  mimeType: string
}

/** Containers declare their type at the beginning. */
const MAX_HEAD_BYTES = 64 * 1024

const EXTENSIONS = ['mp3', 'mp4', 'mpeg', 'mpga', 'm4a', 'wav', 'webm']

/** Media types that clients send, with the extension of each. */
const EXTENSION_BY_MIME_TYPE: Readonly<Record<string, string>> = {
  'audio/mp3': 'mp3',
  'audio/mpeg': 'mp3',
  'audio/mpga': 'mpga',
  'audio/mp4': 'mp4',
  'audio/m4a': 'm4a',
  'audio/x-m4a': 'm4a',
  'audio/wav': 'wav',
  'audio/x-wav': 'wav',
  'audio/wave': 'wav',
  'audio/vnd.wave': 'wav',
  'audio/webm': 'webm',
  'video/mp4': 'mp4',
  'video/mpeg': 'mpeg',
  'video/webm': 'webm',
}

const MIME_TYPE_BY_EXTENSION: Readonly<Record<string, string>> = {
  mp3: 'audio/mpeg',
  mpeg: 'audio/mpeg',
  mpga: 'audio/mpeg',
  mp4: 'audio/mp4',
  m4a: 'audio/mp4',
  wav: 'audio/wav',
  webm: 'audio/webm',
}

/**
 * Detects the format of supported audio: by its bytes if possible, otherwise by declared type or name.
 *
 * @returns undefined for other types, including bytes that are evidently something else
 */
export async function detectAudioFormat(
  bytes: Uint8Array,
  filename: string,
  declared: string,
): Promise<AudioFormat | undefined> {
  const { fileTypeFromBuffer } = await import('file-type')
  const detected = await fileTypeFromBuffer(bytes.subarray(0, MAX_HEAD_BYTES))
  const fileExtension = /\.([^.]+)$/.exec(filename)?.[1]?.toLowerCase() ?? ''
  const alias = EXTENSION_BY_MIME_TYPE[declared.split(';')[0]?.trim().toLowerCase() ?? '']
  const declaredFormat = EXTENSIONS.find((extension) => extension === fileExtension) ?? alias
  const format =
    detected === undefined
      ? declaredFormat
      : (EXTENSION_BY_MIME_TYPE[detected.mime] ?? EXTENSIONS.find((one) => one === detected.ext))
  if (format === undefined) return undefined
  return { extension: format, mimeType: MIME_TYPE_BY_EXTENSION[format] ?? 'application/octet-stream' }
}
