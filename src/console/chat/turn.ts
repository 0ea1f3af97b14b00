import type { ChatUsage, ConversationMessage, RetrieverResource } from '../../contract/chat/messages.js'
import { type ChatClient, ChatFailure } from './client.js'

/** One question and its answer so far. */
export interface TurnProgress {
  question: string
  answer: string
  state: 'running' | 'done' | 'stopped' | 'failed'
  /** steps of an agent, as tool and input */
  steps: string[]
  sources: RetrieverResource[]
  /** suggested next questions */
  suggested: string[]
  taskId?: string
  messageId?: string
  conversationId?: string
  usage?: ChatUsage
  /** answered by an annotation, without a model */
  isAnnotation?: true
  error?: string
  rating?: 'like' | 'dislike'
  /** reasons why the answer is degraded */
  degradedReasons?: readonly string[]
}

/** Converts a stored message. */
export function toTurn(message: ConversationMessage): TurnProgress {
  const { id, conversation_id, query, answer, retriever_resources, feedback, error } = message
  return {
    question: query,
    answer,
    state: 'done',
    steps: [],
    sources: retriever_resources,
    suggested: [],
    messageId: id,
    conversationId: conversation_id,
    ...(feedback === null ? {} : { rating: feedback.rating }),
    ...(error === null ? {} : { error }),
  }
}

interface RunTurnRequest {
  client: ChatClient
  question: string
  conversationId: string | undefined
  /** values of the application's variables */
  inputs: Record<string, string>
  /** whether to request suggested questions after the answer */
  withSuggestions: boolean
  signal: AbortSignal
}

/** Asks a question and reports each change until the answer is complete. */
export async function runTurn(request: RunTurnRequest, onChange: (turn: TurnProgress) => void): Promise<TurnProgress> {
  const { client, question, conversationId, inputs, withSuggestions, signal } = request
  let turn: TurnProgress = { question, answer: '', state: 'running', steps: [], sources: [], suggested: [] }
  const update = (changes: Partial<TurnProgress>) => {
    turn = { ...turn, ...changes }
    onChange(turn)
  }
  update({})
  try {
    const user = await client.user()
    const body = {
      query: question,
      user,
      inputs,
      ...(conversationId === undefined ? {} : { conversation_id: conversationId }),
    }
    for await (const frame of client.ask(body, signal)) {
      const ids = { taskId: frame.task_id, messageId: frame.message_id, conversationId: frame.conversation_id }
      if (frame.event === 'ping') update(ids)
      else if (frame.event === 'message' || frame.event === 'agent_message')
        update({ ...ids, answer: turn.answer + frame.answer })
      else if (frame.event === 'message_replace') update({ answer: frame.answer })
      else if (frame.event === 'agent_thought' && frame.tool !== '' && frame.observation === '')
        update({ steps: [...turn.steps, `${frame.tool} ${frame.tool_input}`] })
      else if (frame.event === 'error') update({ state: 'failed', error: frame.message })
      else if (frame.event === 'message_end') {
        const { usage, retriever_resources, annotation_reply, degraded_reasons } = frame.metadata
        update({
          state: 'done',
          usage,
          sources: retriever_resources,
          ...(annotation_reply === null ? {} : { isAnnotation: true }),
          ...(degraded_reasons === undefined ? {} : { degradedReasons: degraded_reasons }),
        })
      }
    }
    if (turn.state === 'running') update({ state: 'stopped' })
    if (turn.state === 'done' && withSuggestions && turn.messageId !== undefined) {
      const { data } = await client.read<{ data: string[] }>(`/messages/${turn.messageId}/suggested`, { user })
      update({ suggested: data })
    }
  } catch (error) {
    if (turn.state === 'done') return turn // only the suggestions failed
    if (signal.aborted) update({ state: 'stopped' })
    else
      update({ state: 'failed', error: error instanceof ChatFailure ? error.message : 'the service does not answer' })
  }
  return turn
}

/** Stops the answer on the service, which stores the text so far; then the stream ends. */
export async function stopTurn(client: ChatClient, { taskId }: TurnProgress): Promise<void> {
  if (taskId === undefined) return
  await client.change('POST', `/chat-messages/${taskId}/stop`, { user: await client.user() })
}

/** @param remark reason for the rating */
export async function rateTurn(
  client: ChatClient,
  { messageId }: TurnProgress,
  rating: TurnProgress['rating'],
  remark?: string,
): Promise<void> {
  if (messageId === undefined) return
  await client.change('POST', `/messages/${messageId}/feedbacks`, {
    user: await client.user(),
    rating: rating ?? null,
    ...(remark === undefined ? {} : { content: remark }),
  })
}
