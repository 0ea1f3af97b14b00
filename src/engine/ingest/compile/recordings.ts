import { omitUndefined } from '../../../lib/omit-undefined.js'
import { formatModelName } from '../../base/model-reference.js'
import type { EngineContext } from '../../library/index.js'
import { formatByteCount, isRecording } from '../../readers/index.js'
import type { CompileFailure, CompileRequest, CompileResult } from '../../store/compiled.js'
import type { SpaceRow } from '../../store/rows/spaces.js'
import { findTranscript } from '../rows/transcripts.js'
import type { CompileWork } from './work.js'

/** Maximum size of a recording for a model; it is held in memory. */
export const MAX_RECORDING_BYTES = 100 * 1024 * 1024

interface RecordingFile {
  work: CompileWork
  request: CompileRequest
  /** of the parser without a transcript */
  result: CompileResult
}

/**
 * Reads a recording from its transcript, where it has one; otherwise releases its job and queues it for a model
 * (`TranscriptionQueue`), so that it does not block a compilation.
 *
 * @returns nothing for a released job
 */
export async function readRecording(
  context: EngineContext,
  space: SpaceRow,
  { work, request, result }: RecordingFile,
  signal: AbortSignal,
): Promise<CompileResult | undefined> {
  if (result.ok || result.failure.code !== 'unsupported-type' || !isRecording(result.failure.mediaType)) return result
  const model = context.options.defaultTranscription
  const stored = await context.db.read(findTranscript(work.document))
  if (stored !== undefined && (model === undefined || stored.model === formatModelName(model))) {
    const [, ...by] = stored.model.split('/')
    const transcript = { by: by.join('/'), text: stored.text, ...omitUndefined({ segments: stored.segments }) }
    return (await context.compiler.compile([{ ...request, transcript }], signal))[0] ?? result
  }
  if (model === undefined) return result
  const failure = checkSize(work)
  if (failure !== undefined) return { ok: false, failure }
  await context.recordings.enqueue(space, work, result.failure.mediaType)
  return undefined
}

function checkSize({ document: { filename, size_bytes: size } }: CompileWork): CompileFailure | undefined {
  if (size <= MAX_RECORDING_BYTES) return undefined
  const message = `${filename} has ${formatByteCount(size)}, but a transcription model accepts at most ${formatByteCount(MAX_RECORDING_BYTES)}: keep only the sound, or split it`
  return { code: 'limit-exceeded', message }
}
