import { z } from 'zod'
import { count } from '../primitives.js'
import { route } from '../route.js'
import { CHAT_LIMITS } from './limits.js'

const control = {
  label: z.string().min(1).max(CHAT_LIMITS.appName),
  variable: z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,99}$/, 'a name of letters, digits and underscores'),
  required: z.boolean().default(false),
  default: z.string().max(CHAT_LIMITS.text).optional(),
}
const maxLength = z.int().min(1).max(CHAT_LIMITS.longText).optional()

/** One control of the input form of an application; its only key is its kind. */
export const InputControl = z
  .union([
    z.strictObject({ 'text-input': z.strictObject({ ...control, max_length: maxLength }) }),
    z.strictObject({ paragraph: z.strictObject({ ...control, max_length: maxLength }) }),
    z.strictObject({ select: z.strictObject({ ...control, options: z.array(z.string().min(1)).min(1) }) }),
  ])
  .meta({ id: 'ChatInputControl' })
export type InputControl = z.output<typeof InputControl>

const text = z.string().max(CHAT_LIMITS.text)

export const Site = z
  .strictObject({
    title: text,
    chat_color_theme: text,
    chat_color_theme_inverted: z.boolean(),
    icon_type: z.enum(['emoji', 'image']),
    icon: text,
    icon_background: text,
    icon_url: z.url().nullable(),
    description: text,
    copyright: text,
    privacy_policy: text,
    custom_disclaimer: text,
    default_language: text,
    show_workflow_steps: z.boolean(),
    use_icon_as_answer_icon: z.boolean(),
  })
  .meta({ id: 'ChatSite' })
export type Site = z.output<typeof Site>

/** extension: a space that the application answers from */
const KnowledgeOverview = z.strictObject({
  /** absent for visitors of a page */
  name: z.string().optional(),
  documents: count,
  /** newest change in seconds since the epoch; absent: no document */
  updated_at: z.int().min(0).optional(),
})
export type KnowledgeOverview = z.output<typeof KnowledgeOverview>

export const ChatInfo = z
  .strictObject({
    name: z.string(),
    description: z.string(),
    tags: z.array(z.string()),
    mode: z.enum(['chat', 'agent-chat']),
    author_name: z.string(),
    /** extension: what it answers from, as data and as a sentence; empty for an application without spaces */
    spaces: z.array(KnowledgeOverview),
    overview: z.string(),
  })
  .meta({ id: 'ChatInfo' })
export type ChatInfo = z.output<typeof ChatInfo>

const enabled = z.strictObject({ enabled: z.boolean() })
const megabytes = z.int().min(0)

export const ChatParameters = z
  .strictObject({
    opening_statement: z.string(),
    suggested_questions: z.array(z.string()),
    suggested_questions_after_answer: enabled,
    speech_to_text: enabled,
    text_to_speech: z.strictObject({
      enabled: z.boolean(),
      voice: z.string(),
      language: z.string(),
      autoPlay: z.enum(['enabled', 'disabled']),
    }),
    retriever_resource: enabled,
    annotation_reply: enabled,
    more_like_this: enabled,
    sensitive_word_avoidance: enabled,
    user_input_form: z.array(InputControl),
    file_upload: z.strictObject({
      enabled: z.boolean(),
      allowed_file_types: z.array(z.string()),
      allowed_file_extensions: z.array(z.string()),
      allowed_file_upload_methods: z.array(z.enum(['remote_url', 'local_file'])),
      number_limits: z.int().min(0),
      image: z.strictObject({
        enabled: z.boolean(),
        number_limits: z.int().min(0),
        detail: z.string(),
        transfer_methods: z.array(z.enum(['remote_url', 'local_file'])),
      }),
      /** extension: documents in messages; absent if the application takes none */
      document: z.strictObject({ enabled: z.literal(true), number_limits: z.int().min(1) }).optional(),
    }),
    system_parameters: z.strictObject({
      file_size_limit: megabytes,
      image_file_size_limit: megabytes,
      audio_file_size_limit: megabytes,
      video_file_size_limit: megabytes,
      workflow_file_upload_limit: megabytes,
    }),
  })
  .meta({ id: 'ChatParameters' })
export type ChatParameters = z.output<typeof ChatParameters>

export const ChatMeta = z
  .strictObject({
    tool_icons: z.record(
      z.string(),
      z.union([z.string(), z.strictObject({ background: z.string(), content: z.string() })]),
    ),
  })
  .meta({ id: 'ChatMeta' })
export type ChatMeta = z.output<typeof ChatMeta>

export const applicationRoutes = [
  route({
    id: 'getChatInfo',
    method: 'GET',
    path: '/v1/info',
    scope: 'application',
    visitors: true,
    summary: 'Get the name, description and tags of the application.',
    ok: { 200: ChatInfo },
    errors: [],
  }),
  route({
    id: 'getChatParameters',
    method: 'GET',
    path: '/v1/parameters',
    scope: 'application',
    visitors: true,
    summary: 'Get the parameters of the user interface: opening message, form, features and limits.',
    ok: { 200: ChatParameters },
    errors: [],
  }),
  route({
    id: 'getChatMeta',
    method: 'GET',
    path: '/v1/meta',
    scope: 'application',
    visitors: true,
    summary: 'Get the icons of the tools; empty for an application without tools.',
    ok: { 200: ChatMeta },
    errors: [],
  }),
  route({
    id: 'getChatSite',
    method: 'GET',
    path: '/v1/site',
    scope: 'application',
    visitors: true,
    summary: 'Get the appearance of the application on the web.',
    ok: { 200: Site },
    errors: [],
  }),
] as const
