import type { CompileRequest } from './compiled.js'
import type { ParserInput } from './parsed.js'
import { endingOf } from './sniff.js'

/** Endings by which models know these types. */
const ENDINGS: Readonly<Record<string, string>> = {
  'audio/mpeg': 'mp3',
  'audio/mp4': 'm4a',
  'audio/wav': 'wav',
  'audio/flac': 'flac',
  'audio/ogg': 'ogg',
  'audio/aac': 'aac',
  'audio/amr': 'amr',
  'video/mp4': 'mp4',
  'video/webm': 'webm',
  'video/mpeg': 'mpeg',
  'video/x-msvideo': 'avi',
  'video/x-flv': 'flv',
}

/** Whether speech may be in files of a type. Notes of music are none. */
export function isRecording(mediaType: string | undefined): mediaType is string {
  return mediaType !== undefined && /^(?:audio|video)\//.test(mediaType) && mediaType !== 'audio/midi'
}

/** How a recording is called towards a model: by its content, since names lie. */
export function recordingEnding(mediaType: string, filename: string): string {
  const own = endingOf(filename)
  return ENDINGS[mediaType] ?? (/^[a-z0-9]{1,8}$/.test(own) ? own : 'bin')
}

/** The reader of a recording whose speech is at hand. */
export async function recordingParser({ mediaType }: ParserInput, { transcript }: Pick<CompileRequest, 'transcript'>) {
  if (transcript === undefined || !isRecording(mediaType)) return undefined
  const { transcriptParser } = await import('./text/transcript.js')
  return transcriptParser(transcript)
}
