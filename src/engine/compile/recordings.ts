import { defined } from '../../lib/defined.js'
import { modelName } from '../base/model-reference.js'
import type { EngineContext } from '../context.js'
import type { CompileFailure, CompileRequest, CompileResult } from '../parse/compiled.js'
import { bytesInWords } from '../parse/limits.js'
import { isRecording } from '../parse/recording.js'
import type { SpaceRow } from '../rows/spaces.js'
import { keptTranscript } from '../rows/transcripts.js'
import type { Work } from './work.js'

/** Maximum size of a recording for a model; it is held in memory. */
export const MAX_RECORDING_BYTES = 100 * 1024 * 1024

/**
 * Reads a recording from its transcript, where it has one; otherwise releases its job and queues it for a model
 * (`TranscriptionQueue`), so that it does not block a compilation.
 *
 * @param result of the parser without a transcript
 * @returns nothing for a released job
 */
export async function readRecording(
  context: EngineContext,
  space: SpaceRow,
  { work, request }: { work: Work; request: CompileRequest },
  result: CompileResult,
  signal: AbortSignal,
): Promise<CompileResult | undefined> {
  if (result.ok || result.failure.code !== 'unsupported-type' || !isRecording(result.failure.mediaType)) return result
  const model = context.options.defaultTranscription
  const kept = await context.db.read(keptTranscript(work.document))
  if (kept !== undefined && (model === undefined || kept.model === modelName(model))) {
    const [, ...by] = kept.model.split('/')
    const transcript = { by: by.join('/'), text: kept.text, ...defined({ segments: kept.segments }) }
    return (await context.compiler.compile([{ ...request, transcript }], signal))[0] ?? result
  }
  if (model === undefined) return result
  const failure = tooLarge(work)
  if (failure !== undefined) return { ok: false, failure }
  await context.recordings.listenTo(space, work, result.failure.mediaType)
  return undefined
}

function tooLarge({ document: { filename, size_bytes: size } }: Work): CompileFailure | undefined {
  if (size <= MAX_RECORDING_BYTES) return undefined
  const message = `${filename} has ${bytesInWords(size)}, but a transcription model accepts at most ${bytesInWords(MAX_RECORDING_BYTES)}: keep only the sound, or split it`
  return { code: 'limit-exceeded', message }
}
