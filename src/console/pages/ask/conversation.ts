import { useSyncExternalStore } from 'react'
import type { AnswerDelta, AnswerDone, AnswerError, AnswerMetadata } from '../../../contract/gateway/queries.js'
import { ApiError, messageOf, open, Unreachable } from '../../api/client.js'
import { eventsOf } from '../../api/events.js'
import { session } from '../../api/session.js'

export type Mode = 'fast' | 'deep' | 'research' | 'auto'

/** A question and its answer so far. */
export interface Turn {
  id: number
  question: string
  /** undefined for the default of the space */
  mode: Mode | undefined
  text: string
  traceId: string | undefined
  metadata: AnswerMetadata | undefined
  error: string | undefined
  state: 'running' | 'done' | 'stopped' | 'failed'
}

interface Conversation {
  turns: readonly Turn[]
  /** session on the daemon; follow-up questions belong to it */
  sessionId: string | undefined
}

const NONE: Conversation = { turns: [], sessionId: undefined }
/** Conversations by space. They outlive page changes and end with the session. */
const conversations = new Map<string, Conversation>()
const running = new Map<number, AbortController>()
const listeners = new Set<() => void>()
let nextId = 1

session.subscribe(() => {
  if (session.isOpen()) return
  for (const controller of running.values()) controller.abort()
  conversations.clear()
  tell()
})

export function useConversation(spaceId: string | undefined): Conversation {
  return useSyncExternalStore(subscribe, () => (spaceId === undefined ? NONE : (conversations.get(spaceId) ?? NONE)))
}

export function stop(turn: Turn): void {
  running.get(turn.id)?.abort()
}

export function clear(spaceId: string): void {
  conversations.delete(spaceId)
  tell()
}

/** Asks a space a question; `useConversation` shows the progress. */
export async function ask(spaceId: string, question: string, mode: Mode | undefined): Promise<void> {
  const id = nextId++
  const controller = new AbortController()
  running.set(id, controller)
  const before = conversations.get(spaceId) ?? NONE
  const turn: Turn = {
    id,
    question,
    mode,
    text: '',
    traceId: undefined,
    metadata: undefined,
    error: undefined,
    state: 'running',
  }
  conversations.set(spaceId, { ...before, turns: [...before.turns, turn] })
  tell()
  const change = (to: Partial<Turn>, sessionId?: string) => {
    const now = conversations.get(spaceId)
    if (now === undefined) return
    const turns = now.turns.map((one) => (one.id === id ? { ...one, ...to } : one))
    conversations.set(spaceId, { turns, sessionId: sessionId ?? now.sessionId })
    tell()
  }
  try {
    await stream(spaceId, turn, before.sessionId, controller.signal, change)
  } catch (error) {
    change(controller.signal.aborted ? { state: 'stopped' } : { state: 'failed', error: brokenOff(error) })
  } finally {
    running.delete(id)
  }
}

async function stream(
  spaceId: string,
  { question, mode }: Turn,
  sessionId: string | undefined,
  signal: AbortSignal,
  change: (to: Partial<Turn>, sessionId?: string) => void,
): Promise<void> {
  const body = {
    knowledgeSpaceId: spaceId,
    query: question,
    ...(mode === undefined ? {} : { mode }),
    ...(sessionId === undefined ? {} : { sessionId }),
  }
  const response = await open('POST /queries', { body }, { signal })
  change(
    { traceId: response.headers.get('x-query-run-id') ?? undefined },
    response.headers.get('x-session-id') ?? undefined,
  )
  let text = ''
  for await (const { event, data } of eventsOf(response)) {
    if (event === 'answer.delta') {
      // the contract gives the type of a frame
      const { delta }: AnswerDelta = JSON.parse(data)
      text += delta
      change({ text })
    } else if (event === 'answer.done') {
      const { metadata, traceId }: AnswerDone = JSON.parse(data)
      return change({ metadata, traceId, state: 'done' })
    } else if (event === 'answer.error') {
      const { error }: AnswerError = JSON.parse(data)
      return change({ error, state: 'failed' })
    }
  }
  change({ state: 'failed', error: BROKEN_OFF })
}

const BROKEN_OFF = 'The answer broke off: the connection to the daemon was lost.'

/** The browser's own message for an interrupted stream is not helpful: replaces it. */
function brokenOff(error: unknown): string {
  return error instanceof ApiError || error instanceof Unreachable ? messageOf(error) : BROKEN_OFF
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

function tell(): void {
  for (const listener of listeners) listener()
}
