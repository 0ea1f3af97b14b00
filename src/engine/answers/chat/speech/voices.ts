import type { ChatApp } from '../../../../contract/chat/apps.js'
import type { ModelReference } from '../../../base/model-reference.js'
import type { EngineContext } from '../../../library/index.js'

/** The speech model of an application; undefined if the daemon has none. */
export function getSpeechModel({ models, options }: EngineContext, app: ChatApp): ModelReference | undefined {
  const model = app.textToSpeech.model ?? options.defaultSpeech
  return model !== undefined && models.has(model, 'speech') ? model : undefined
}

/** The transcription model of an application; undefined if the daemon has none. */
export function getTranscriptionModel({ models, options }: EngineContext, app: ChatApp): ModelReference | undefined {
  const model = app.speechToText.model ?? options.defaultTranscription
  return model !== undefined && models.has(model, 'transcription') ? model : undefined
}

/** Whether streamed answers of the application include audio. */
export function isAutoPlayed(context: EngineContext, app: ChatApp): boolean {
  const { enabled, autoPlay } = app.textToSpeech
  return enabled && autoPlay && getSpeechModel(context, app) !== undefined
}
