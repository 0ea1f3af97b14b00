import { useSyncExternalStore } from 'react'
import type { AnswerDelta, AnswerDone, AnswerError, AnswerMetadata } from '../../../contract/gateway/queries.js'
import { messageOf, openResponse, RequestError, UnreachableError } from '../../api/client.js'
import { readEvents } from '../../api/events.js'
import { createListeners } from '../../api/listeners.js'
import { session } from '../../api/session.js'

export type AskMode = 'fast' | 'deep' | 'research' | 'auto'

/** A question and its answer so far. */
export interface AskTurn {
  id: number
  question: string
  /** undefined for the default of the space */
  mode: AskMode | undefined
  text: string
  traceId: string | undefined
  metadata: AnswerMetadata | undefined
  error: string | undefined
  state: 'running' | 'done' | 'stopped' | 'failed'
}

interface AskConversation {
  turns: readonly AskTurn[]
  /** session on the daemon; follow-up questions belong to it */
  sessionId: string | undefined
}

const CONNECTION_LOST = 'The answer broke off: the connection to the daemon was lost.'
const EMPTY_CONVERSATION: AskConversation = { turns: [], sessionId: undefined }
/** Conversations by space id. They outlive page changes and end with the session of the tab. */
const conversations = new Map<string, AskConversation>()
/** by id of the turn */
const running = new Map<number, AbortController>()
const listeners = createListeners()
let nextId = 1

session.subscribe(() => {
  if (session.isOpen()) return
  for (const controller of running.values()) controller.abort()
  conversations.clear()
  listeners.notify()
})

export function useConversation(spaceId: string | undefined): AskConversation {
  return useSyncExternalStore(listeners.subscribe, () =>
    spaceId === undefined ? EMPTY_CONVERSATION : (conversations.get(spaceId) ?? EMPTY_CONVERSATION),
  )
}

export function stopTurn(turn: AskTurn): void {
  running.get(turn.id)?.abort()
}

export function clearConversation(spaceId: string): void {
  conversations.delete(spaceId)
  listeners.notify()
}

/** Asks a space a question; `useConversation` shows the progress. */
export async function ask(spaceId: string, question: string, mode: AskMode | undefined): Promise<void> {
  const id = nextId++
  const controller = new AbortController()
  running.set(id, controller)
  const previous = conversations.get(spaceId) ?? EMPTY_CONVERSATION
  const turn: AskTurn = {
    id,
    question,
    mode,
    text: '',
    traceId: undefined,
    metadata: undefined,
    error: undefined,
    state: 'running',
  }
  conversations.set(spaceId, { ...previous, turns: [...previous.turns, turn] })
  listeners.notify()
  const update: UpdateTurn = (changes, sessionId) => {
    const conversation = conversations.get(spaceId)
    if (conversation === undefined) return
    const turns = conversation.turns.map((current) => (current.id === id ? { ...current, ...changes } : current))
    conversations.set(spaceId, { turns, sessionId: sessionId ?? conversation.sessionId })
    listeners.notify()
  }
  try {
    const { sessionId } = previous
    await streamAnswer({ spaceId, question, mode, sessionId, signal: controller.signal }, update)
  } catch (error) {
    update(controller.signal.aborted ? { state: 'stopped' } : { state: 'failed', error: describeInterruption(error) })
  } finally {
    running.delete(id)
  }
}

/** Changes the turn of a request; the session id is set if it is given. */
type UpdateTurn = (changes: Partial<AskTurn>, sessionId?: string) => void

interface AnswerRequest extends Pick<AskTurn, 'question' | 'mode'> {
  spaceId: string
  sessionId: string | undefined
  signal: AbortSignal
}

async function streamAnswer(
  { spaceId, question, mode, sessionId, signal }: AnswerRequest,
  update: UpdateTurn,
): Promise<void> {
  const body = {
    knowledgeSpaceId: spaceId,
    query: question,
    ...(mode === undefined ? {} : { mode }),
    ...(sessionId === undefined ? {} : { sessionId }),
  }
  const response = await openResponse('POST /queries', { body }, { signal })
  update(
    { traceId: response.headers.get('x-query-run-id') ?? undefined },
    response.headers.get('x-session-id') ?? undefined,
  )
  let text = ''
  for await (const { event, data } of readEvents(response)) {
    if (event === 'answer.delta') {
      // the contract gives the type of a frame
      const { delta }: AnswerDelta = JSON.parse(data)
      text += delta
      update({ text })
    } else if (event === 'answer.done') {
      const { metadata, traceId }: AnswerDone = JSON.parse(data)
      return update({ metadata, traceId, state: 'done' })
    } else if (event === 'answer.error') {
      const { error }: AnswerError = JSON.parse(data)
      return update({ error, state: 'failed' })
    }
  }
  update({ state: 'failed', error: CONNECTION_LOST })
}

/** Replaces the browser's message for an interrupted stream, which does not help users. */
function describeInterruption(error: unknown): string {
  return error instanceof RequestError || error instanceof UnreachableError ? messageOf(error) : CONNECTION_LOST
}
