/** Error codes of the chat service with their statuses. Free of zod. */
export const CHAT_ERRORS = {
  invalid_param: 400,
  bad_request: 400,
  app_unavailable: 400,
  provider_not_initialize: 400,
  provider_quota_exceeded: 400,
  model_currently_not_support: 400,
  completion_request_error: 400,
  no_file_uploaded: 400,
  too_many_files: 400,
  filename_not_exists_error: 400,
  no_audio_uploaded: 400,
  provider_not_support_speech_to_text: 400,
  unauthorized: 401,
  forbidden: 403,
  file_access_denied: 403,
  not_found: 404,
  conversation_not_exists: 404,
  file_not_found: 404,
  method_not_allowed: 405,
  too_large: 413,
  file_too_large: 413,
  audio_too_large: 413,
  unsupported_media_type: 415,
  unsupported_file_type: 415,
  unsupported_audio_type: 415,
  range_not_satisfiable: 416,
  /** The concurrent answers of an application exceed its limit. */
  too_many_requests: 429,
  /** The requests per minute exceed the limit of the key or of the model's provider. */
  rate_limit_error: 429,
  internal_server_error: 500,
  service_unavailable: 503,
  storage_connection_failed: 503,
  storage_permission_denied: 503,
  storage_file_too_large: 503,
} as const

export type ChatErrorCode = keyof typeof CHAT_ERRORS

/** A failure of the chat service: clients match on code and message, so both are part of the contract. */
export class ChatError extends Error {
  readonly code: ChatErrorCode
  /** Name of the first invalid field. */
  readonly params?: string
  /** Possible cause, in addition to the message that clients match on. */
  readonly hint?: string
  /** Seconds after which a retry may succeed. */
  readonly retryAfter?: number

  constructor(
    code: ChatErrorCode,
    message: string,
    options: { params?: string; hint?: string; retryAfter?: number } = {},
  ) {
    super(message)
    this.name = 'ChatError'
    this.code = code
    if (options.params !== undefined) this.params = options.params
    if (options.hint !== undefined) this.hint = options.hint
    if (options.retryAfter !== undefined) this.retryAfter = options.retryAfter
  }
}

export function conversationMissingError(code: 'not_found' | 'conversation_not_exists' = 'not_found'): ChatError {
  return new ChatError(code, 'Conversation Not Exists.', {
    hint: 'the conversation was deleted, never existed, or belongs to a different user',
  })
}

export function filenameMissingError(): ChatError {
  return new ChatError('filename_not_exists_error', 'The specified filename does not exist.')
}

export function messageMissingError(): ChatError {
  return new ChatError('not_found', 'Message Not Exists.')
}

export function invalidParamError(params: string, message: string): ChatError {
  return new ChatError('invalid_param', message, { params })
}
