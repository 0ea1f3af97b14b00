import type { ChatApp } from '../../../contract/chat/apps.js'
import type { ModelReference } from '../../base/model-reference.js'
import type { EngineContext } from '../../context.js'

/** The model that reads aloud for an application; undefined where the daemon has none. */
export function speechModel({ models, options }: EngineContext, app: ChatApp): ModelReference | undefined {
  const model = app.textToSpeech.model ?? options.defaultSpeech
  return model !== undefined && models.has(model, 'speech') ? model : undefined
}

/** The model that writes down what is said; undefined where the daemon has none. */
export function transcriptionModel({ models, options }: EngineContext, app: ChatApp): ModelReference | undefined {
  const model = app.speechToText.model ?? options.defaultTranscription
  return model !== undefined && models.has(model, 'transcription') ? model : undefined
}

/** Whether a streamed answer of the application brings its own audio. */
export function playsByItself(context: EngineContext, app: ChatApp): boolean {
  const { enabled, autoPlay } = app.textToSpeech
  return enabled && autoPlay && speechModel(context, app) !== undefined
}
