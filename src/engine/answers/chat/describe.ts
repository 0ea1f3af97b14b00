import type { ChatInfo, ChatMeta, ChatParameters, Site } from '../../../contract/chat/application.js'
import { omitUndefined } from '../../../lib/omit-undefined.js'
import type { EngineContext } from '../../library/index.js'
import type { Read } from '../../store/program.js'
import { getReplySetting } from '../rows/chat/annotations.js'
import { TOOL_ICONS } from './agent/tools.js'
import { getChatModel } from './answer.js'
import { type AppSession, getOwner, toAppKey } from './apps.js'
import { acceptsDocuments } from './files/upload.js'
import { describeSpaces, formatOverview } from './overview/overview.js'
import { getSpeechModel, getTranscriptionModel } from './speech/voices.js'

const DISABLED = { enabled: false }

export function* describeInfo(session: AppSession): Read<ChatInfo> {
  const { app, owner, visitor } = session
  const { name, description, tags, mode } = app
  const spaces = yield* describeSpaces(getOwner(session), app.knowledgeSpaceIds)
  return {
    name,
    description,
    tags,
    mode,
    author_name: owner,
    spaces,
    overview: formatOverview(spaces, visitor !== undefined),
  }
}

/** Features that this service lacks are disabled, so that clients do not offer them. */
export function* describeParameters(context: EngineContext, session: AppSession): Read<ChatParameters> {
  const { app } = session
  // Only a model can use images.
  const vision = { ...app.vision, enabled: app.vision.enabled && getChatModel(context, app) !== undefined }
  const takesDocuments = acceptsDocuments(app)
  return {
    opening_statement: app.openingStatement,
    suggested_questions: app.suggestedQuestions,
    suggested_questions_after_answer: { enabled: app.suggestedQuestionsAfterAnswer },
    speech_to_text: { enabled: app.speechToText.enabled && getTranscriptionModel(context, app) !== undefined },
    text_to_speech: {
      enabled: app.textToSpeech.enabled && getSpeechModel(context, app) !== undefined,
      voice: app.textToSpeech.voice,
      language: app.textToSpeech.language,
      autoPlay: app.textToSpeech.autoPlay ? 'enabled' : 'disabled',
    },
    retriever_resource: { enabled: app.retrieverResource },
    annotation_reply: { enabled: (yield* getReplySetting(toAppKey(session))).enabled },
    more_like_this: DISABLED,
    sensitive_word_avoidance: { enabled: app.sensitiveWords.enabled },
    user_input_form: app.userInputForm,
    file_upload: {
      enabled: vision.enabled || takesDocuments,
      allowed_file_types: [...(vision.enabled ? ['image'] : []), ...(takesDocuments ? ['document'] : [])],
      allowed_file_extensions: [],
      allowed_file_upload_methods: vision.enabled ? vision.transferMethods : takesDocuments ? ['local_file'] : [],
      number_limits: vision.enabled || !takesDocuments ? vision.numberLimits : app.documents.numberLimits,
      image: {
        enabled: vision.enabled,
        number_limits: vision.numberLimits,
        detail: vision.detail,
        transfer_methods: vision.transferMethods,
      },
      ...(takesDocuments ? { document: { enabled: true, number_limits: app.documents.numberLimits } } : {}),
    },
    system_parameters: {
      file_size_limit: 15,
      image_file_size_limit: 10,
      audio_file_size_limit: 50,
      video_file_size_limit: 100,
      workflow_file_upload_limit: 10,
    },
  }
}

/** Icons of the agent's tools. */
export function describeMeta({ app }: AppSession): ChatMeta {
  if (app.mode !== 'agent-chat') return { tool_icons: {} }
  const { remember: _, ...others } = TOOL_ICONS
  return { tool_icons: app.conversationVariables.length === 0 ? others : TOOL_ICONS }
}

export function describeSite({ app }: AppSession): Site {
  return {
    title: app.name,
    chat_color_theme: '',
    chat_color_theme_inverted: false,
    icon_type: 'emoji',
    icon: '',
    icon_background: '',
    icon_url: null,
    description: app.description,
    copyright: '',
    privacy_policy: '',
    custom_disclaimer: '',
    default_language: 'en-US',
    show_workflow_steps: false,
    use_icon_as_answer_icon: false,
    ...omitUndefined(app.site),
  }
}
