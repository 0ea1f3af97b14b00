/** Extension and media type of audio for a model. */
export interface AudioFormat {
  extension: string
  mimeType: string
}

/** Containers declare their type at the beginning. */
const HEAD_BYTES = 64 * 1024

const EXTENSIONS = ['mp3', 'mp4', 'mpeg', 'mpga', 'm4a', 'wav', 'webm']

/** Media types that clients send, with the extension of each. */
const ALIASES: Readonly<Record<string, string>> = {
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

const MIME_TYPES: Readonly<Record<string, string>> = {
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
export async function audioFormat(
  bytes: Uint8Array,
  filename: string,
  declared: string,
): Promise<AudioFormat | undefined> {
  const { fileTypeFromBuffer } = await import('file-type')
  const found = await fileTypeFromBuffer(bytes.subarray(0, HEAD_BYTES))
  const named = /\.([^.]+)$/.exec(filename)?.[1]?.toLowerCase() ?? ''
  const alias = ALIASES[declared.split(';')[0]?.trim().toLowerCase() ?? '']
  const told = EXTENSIONS.find((extension) => extension === named) ?? alias
  const sniffed = found === undefined ? told : (ALIASES[found.mime] ?? EXTENSIONS.find((one) => one === found.ext))
  if (sniffed === undefined) return undefined
  return { extension: sniffed, mimeType: MIME_TYPES[sniffed] ?? 'application/octet-stream' }
}
