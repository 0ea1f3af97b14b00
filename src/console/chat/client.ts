import type { ChatConversation } from '../../contract/chat/conversations.js'
import type { ChatFrame, ConversationMessage } from '../../contract/chat/messages.js'

/** Short-lived credential of a page, used instead of the key of the application. */
export interface BrowserVisit {
  token: string
  /** end user on whose behalf the page sends requests */
  user: string
  expiresInSeconds: number
}

/** A request that the chat service refused; the message comes from the service. */
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

/** Client of the chat API. @throws ChatFailure */
export interface ChatClient {
  /** end user of the current visit */
  user(): Promise<string>
  read<T>(path: string, query?: Record<string, string>): Promise<T>
  change<T>(method: string, path: string, body?: unknown): Promise<T>
  /** Streams the events of an answer. */
  ask(body: Record<string, unknown>, signal: AbortSignal): AsyncGenerator<ChatFrame>
}

/** A visit is renewed this long before it expires. */
const EXPIRY_MARGIN_MS = 60_000

/** @param startVisit starts a visit, or continues the one of the previous token */
export function createChatClient(startVisit: (previousToken: string | undefined) => Promise<BrowserVisit>): ChatClient {
  let visit: (BrowserVisit & { expiresAt: number }) | undefined
  let pendingVisit: Promise<void> | undefined

  const getVisit = async (): Promise<BrowserVisit> => {
    if (visit === undefined || visit.expiresAt - EXPIRY_MARGIN_MS < Date.now()) {
      pendingVisit ??= startVisit(visit?.token)
        .then((started) => {
          visit = { ...started, expiresAt: Date.now() + started.expiresInSeconds * 1000 }
        })
        .finally(() => {
          pendingVisit = undefined
        })
      await pendingVisit
    }
    if (visit === undefined) throw new Error('there is no visit')
    return visit
  }

  const send = async (method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<Response> => {
    const authorization = `Bearer ${(await getVisit()).token}`
    const response = await fetch(`/v1${path}`, {
      method,
      cache: 'no-store',
      signal: signal ?? null,
      ...(body === undefined
        ? { headers: { authorization } }
        : { headers: { authorization, 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    })
    if (response.ok) return response
    if (response.status === 401) visit = undefined
    throw await toChatFailure(response)
  }

  const parseJson = async (response: Response) => {
    const text = await response.text()
    // The contract gives the type; the service validates its responses in its own tests.
    return JSON.parse(text === '' ? 'null' : text)
  }

  return {
    user: async () => (await getVisit()).user,
    read: async (path, query = {}) => await parseJson(await send('GET', `${path}?${new URLSearchParams(query)}`)),
    change: async (method, path, body) => await parseJson(await send(method, path, body)),
    ask: async function* (body, signal) {
      yield* readFrames(await send('POST', '/chat-messages', { response_mode: 'streaming', ...body }, signal))
    },
  }
}

/** Reads server-sent events. The service sends only `data:` lines, so no event parser is needed. */
async function* readFrames(response: Response): AsyncGenerator<ChatFrame> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  if (reader === undefined) return
  let buffered = ''
  try {
    while (true) {
      const { done, value } = await reader.read()
      if (done) return
      const lines = (buffered + value).split('\n')
      buffered = lines.pop() ?? ''
      for (const line of lines) if (line.startsWith('data: ')) yield JSON.parse(line.slice(6))
    }
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}

async function toChatFailure(response: Response): Promise<ChatFailure> {
  const body: unknown = await response.json().catch(() => undefined)
  const fields = typeof body === 'object' && body !== null ? body : {}
  const code = 'code' in fields && typeof fields.code === 'string' ? fields.code : 'internal_server_error'
  const text = 'message' in fields && typeof fields.message === 'string' ? fields.message : ''
  return new ChatFailure(response.status, code, text === '' ? `the service answered ${response.status}` : text)
}

interface ChatPage<T> {
  data: T[]
  has_more: boolean
}
export type MessagePage = ChatPage<ConversationMessage>
export type ConversationPage = ChatPage<ChatConversation>
