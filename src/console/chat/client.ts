import type { ChatConversation } from '../../contract/chat/conversations.js'
import type { ChatFrame, ConversationMessage } from '../../contract/chat/messages.js'

/** Short-lived credential of a page; it replaces the key of the application. */
export interface Visit {
  token: string
  /** the end user that requests name */
  user: string
  expiresInSeconds: number
}

/** A request that the chat service refused; the message is the service's. */
export class ChatFailure extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
  ) {
    super(message)
    this.name = 'ChatFailure'
  }
}

export interface ChatClient {
  /** end user of the current visit */
  user(): Promise<string>
  read<T>(path: string, query?: Record<string, string>): Promise<T>
  change<T>(method: string, path: string, body?: unknown): Promise<T>
  /** Streams the events of an answer. */
  ask(body: Record<string, unknown>, signal: AbortSignal): AsyncGenerator<ChatFrame>
}

const MARGIN_MS = 60_000

/** @param begin starts a visit, or continues the one of the previous token */
export function chatClient(begin: (before: string | undefined) => Promise<Visit>): ChatClient {
  let visit: (Visit & { until: number }) | undefined
  let beginning: Promise<void> | undefined

  const current = async (): Promise<Visit> => {
    if (visit === undefined || visit.until - MARGIN_MS < Date.now()) {
      beginning ??= begin(visit?.token)
        .then((begun) => {
          visit = { ...begun, until: Date.now() + begun.expiresInSeconds * 1000 }
        })
        .finally(() => {
          beginning = undefined
        })
      await beginning
    }
    if (visit === undefined) throw new Error('there is no visit')
    return visit
  }

  const send = async (method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<Response> => {
    const { token } = await current()
    const response = await fetch(`/v1${path}`, {
      method,
      cache: 'no-store',
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: signal ?? null,
    })
    if (response.ok) return response
    if (response.status === 401) visit = undefined
    throw await failureOf(response)
  }

  const answer = async (response: Response) => {
    const text = await response.text()
    // The contract gives the type; the service validates its responses in its own tests.
    return JSON.parse(text === '' ? 'null' : text)
  }

  return {
    user: async () => (await current()).user,
    read: async (path, query = {}) => await answer(await send('GET', `${path}?${new URLSearchParams(query)}`)),
    change: async (method, path, body) => await answer(await send(method, path, body)),
    ask: async function* (body, signal) {
      yield* framesOf(await send('POST', '/chat-messages', { response_mode: 'streaming', ...body }, signal))
    },
  }
}

/** Reads server-sent events. The service sends only `data:` lines, so no event parser is needed. */
async function* framesOf(response: Response): AsyncGenerator<ChatFrame> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  if (reader === undefined) return
  let rest = ''
  try {
    while (true) {
      const { done, value } = await reader.read()
      if (done) return
      const lines = (rest + value).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) if (line.startsWith('data: ')) yield JSON.parse(line.slice(6))
    }
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}

async function failureOf(response: Response): Promise<ChatFailure> {
  const body: unknown = await response.json().catch(() => undefined)
  const said = typeof body === 'object' && body !== null ? body : {}
  const code = 'code' in said && typeof said.code === 'string' ? said.code : 'internal_server_error'
  const text = 'message' in said && typeof said.message === 'string' ? said.message : ''
  return new ChatFailure(response.status, code, text === '' ? `the service answered ${response.status}` : text)
}

export interface Messages {
  data: ConversationMessage[]
  has_more: boolean
}
export interface Conversations {
  data: ChatConversation[]
  has_more: boolean
}
