import type { CompileRequest } from '../store/compiled.js'
import type { ParserInput } from './parsed.js'
import { getFileEnding } from './sniff.js'

/** File endings by which transcription models know these types. */
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

/** Whether files of a type may contain speech; MIDI files do not. */
export function isRecording(mediaType: string | undefined): mediaType is string {
  return mediaType !== undefined && /^(?:audio|video)\//.test(mediaType) && mediaType !== 'audio/midi'
}

/** File ending of a recording in a request to a model: by its content, since names may be wrong. */
export function getRecordingEnding(mediaType: string, filename: string): string {
  const nameEnding = getFileEnding(filename)
  return ENDINGS[mediaType] ?? (/^[a-z0-9]{1,8}$/.test(nameEnding) ? nameEnding : 'bin')
}

/** The parser of a recording that has a transcript; `undefined` for anything else. */
export async function loadRecordingParser(
  { mediaType }: ParserInput,
  { transcript }: Pick<CompileRequest, 'transcript'>,
) {
  if (transcript === undefined || !isRecording(mediaType)) return undefined
  const { createTranscriptParser } = await import('./text/transcript.js')
  return createTranscriptParser(transcript)
}
