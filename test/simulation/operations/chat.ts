import type { ChatConversation } from '../../../src/contract/chat/conversations.js'
import type { ChatCompletion, ConversationMessage } from '../../../src/contract/chat/messages.js'
import { answerTo, ConversationModel, type SaidMessage } from '../chat-model.js'
import { Register, type Span } from '../history.js'
import type { ChatAnswer } from '../session.js'
import { type Context, choose, diverge, type Operation, pick } from './context.js'

/** One in three messages starts a conversation. */
const NEW = 0.34

const user = ({ session }: Context) => session.endUser.name

/** A conversation without a known deletion. */
function pickConversation({ session, step }: Context): ConversationModel | undefined {
  const now = { from: session.world.moments.next(), to: session.world.moments.next() }
  const alive = [...session.endUser.conversations.values()].filter(({ isThere }) => isThere.allows(true, now))
  return choose(alive, pick(step, 2))
}

/** Sends a message and waits for the complete answer. */
const say: Operation = async (context) => {
  const { session, step } = context
  const conversation = pick(step, 1) < NEW ? undefined : pickConversation(context)
  const query = `${session.tenant.marker} asks ${step.number}`
  session.endUser.unsure.set(query, conversation?.id)
  const answer = await session.chat<ChatCompletion>(step, 'POST', '/v1/chat-messages', {
    query,
    user: user(context),
    response_mode: 'blocking',
    auto_generate_name: false,
    ...(conversation === undefined ? {} : { conversation_id: conversation.id }),
  })
  if (answer === undefined) return
  if (answer.value === undefined) return expectChatRefusal(context, conversation, answer)
  const { conversation_id, message_id, answer: text } = answer.value
  if (text !== answerTo(query)) diverge(context, answerTo(query), text)
  remember(context, conversation, conversation_id, { id: message_id, query, atLeast: undefined })
}

/** Sends a message, and stops the answer as soon as its task id is known. */
const sayAndStop: Operation = async (context) => {
  const { session, step } = context
  const conversation = pick(step, 1) < NEW ? undefined : pickConversation(context)
  const query = `${session.tenant.marker} asks ${step.number}`
  session.endUser.unsure.set(query, conversation?.id)
  const body = {
    query,
    user: user(context),
    response_mode: 'streaming',
    auto_generate_name: false,
    ...(conversation === undefined ? {} : { conversation_id: conversation.id }),
  }
  const answer = await session.chatStream(step, '/v1/chat-messages', body, (task) =>
    session.chat(step, 'POST', `/v1/chat-messages/${task}/stop`, { user: user(context) }),
  )
  if (answer === undefined) return
  if (answer.status >= 400) return expectChatRefusal(context, conversation, answer)
  const frames = answer.frames
  const failed = frames.find(({ event }) => event === 'error')
  const said = frames.flatMap((frame) => (frame.event === 'message' ? [frame.answer] : [])).join('')
  if (!answerTo(query).startsWith(said)) diverge(context, `a beginning of ${answerTo(query)}`, said)
  if (failed !== undefined || !frames.some(({ event }) => event === 'message_end')) {
    if (failed !== undefined && !session.world.wasTroubled(answer))
      diverge(context, 'an answer', JSON.stringify(failed))
    return
  }
  const [first] = frames
  if (first !== undefined)
    remember(context, conversation, first.conversation_id, { id: first.message_id, query, atLeast: said })
}

function remember(
  context: Context,
  query: ConversationModel | undefined,
  id: string,
  message: Omit<SaidMessage, 'rating'>,
): void {
  const { conversations, unsure } = context.session.endUser
  if (query !== undefined && query.id !== id) diverge(context, `an answer in conversation ${query.id}`, id)
  const known = conversations.get(id) ?? new ConversationModel(id)
  conversations.set(id, known)
  known.messages.push({ ...message, rating: new Register<'like' | 'dislike' | undefined>(undefined) })
  unsure.delete(message.query)
}

/**
 * A refusal that the model of the simulation explains: the conversation may be deleted, or a provider or the disk
 * failed.
 */
function expectChatRefusal(
  context: Context,
  conversation: ConversationModel | undefined,
  answer: Span & { status: number; text: string },
): void {
  if (answer.status === 404 && conversation?.isThere.allows(false, answer) === true) return
  if (context.session.world.wasTroubled(answer) && [400, 429, 503].includes(answer.status)) return
  // Like the gateway's `unavailable`: nothing was done, and the next daemon will do it.
  if (answer.status === 503 && answer.text.includes('"service_unavailable"')) return
  diverge(context, 'an answer of the chat service', `${answer.status} ${answer.text}`)
}

const readChat: Operation = async (context) => {
  const conversation = choose([...context.session.endUser.conversations.values()], pick(context.step, 2))
  if (conversation !== undefined) await checkConversation(context, conversation)
}

/** Reads a complete conversation and compares it. */
export async function checkConversation(context: Context, conversation: ConversationModel): Promise<void> {
  const { session, step } = context
  const query = new URLSearchParams({ conversation_id: conversation.id, user: user(context), limit: '100' })
  const answer = await session.chatRead<{ data: ConversationMessage[] }>(step, `/v1/messages?${query}`)
  const what = `conversation ${conversation.id}`
  if (answer.value === undefined) {
    if (answer.status !== 404 || !conversation.isThere.allows(false, answer))
      diverge(context, what, `${answer.status} ${answer.text}`)
    return
  }
  if (!conversation.isThere.allows(true, answer)) return diverge(context, `${what} to be deleted`, 'it is there')
  const { data } = answer.value
  for (const [place, found] of data.entries()) {
    if (data.findIndex(({ query }) => query === found.query) !== place)
      diverge(context, `${found.query} once`, 'it is there twice')
    checkMessage(context, conversation, found, answer)
  }
  const queries = new Set(data.map((found) => found.query))
  for (const message of conversation.messages)
    if (!queries.has(message.query)) diverge(context, `${what} with ${message.query}`, [...queries].join())
  const order = data.flatMap(({ query }) => (conversation.messages.some((one) => one.query === query) ? [query] : []))
  const expected = conversation.messages.map((message) => message.query)
  if (order.join() !== expected.join()) diverge(context, expected.join(), order.join())
}

function checkMessage(context: Context, { id, messages }: ConversationModel, found: ConversationMessage, span: Span) {
  const { unsure } = context.session.endUser
  const message = messages.find(({ query }) => query === found.query)
  const whole = answerTo(found.query)
  if (message === undefined) {
    const sentTo = unsure.get(found.query)
    if (!unsure.has(found.query) || (sentTo !== undefined && sentTo !== id))
      diverge(context, `only messages that were sent to conversation ${id}`, found.query)
    if (!whole.startsWith(found.answer)) diverge(context, `a beginning of ${whole}`, found.answer)
    return
  }
  const isRight =
    message.atLeast === undefined
      ? found.answer === whole
      : whole.startsWith(found.answer) && found.answer.startsWith(message.atLeast)
  if (!isRight) diverge(context, `${message.atLeast ?? whole} as the answer to ${found.query}`, found.answer)
  const rating = found.feedback?.rating
  if (!message.rating.allows(rating, span))
    diverge(context, `${found.query} rated ${message.rating.possible(span).join(' or ')}`, String(rating))
}

const listChats: Operation = async (context) => checkConversations(context)

/** Lists the conversations of the user; an unknown one may belong to a message without a response. */
export async function checkConversations(context: Context): Promise<void> {
  const { session, step } = context
  const { conversations, unsure } = session.endUser
  const query = new URLSearchParams({ user: user(context), limit: '100' })
  const answer = await session.chatRead<{ data: ChatConversation[] }>(step, `/v1/conversations?${query}`)
  // A user without messages is unknown.
  if (answer.value === undefined) {
    if (conversations.size > 0 || answer.status !== 404)
      diverge(context, 'conversations', `${answer.status} ${answer.text}`)
    return
  }
  const found = new Map(answer.value.data.map((conversation) => [conversation.id, conversation]))
  for (const [id, known] of conversations) {
    if (!known.isThere.allows(found.has(id), answer))
      diverge(context, `conversation ${id}: ${known.isThere.possible(answer).join(' or ')}`, String(found.has(id)))
    const name = found.get(id)?.name
    const names = known.name.possible(answer)
    if (name !== undefined && !names.includes(undefined) && !names.includes(name))
      diverge(context, `conversation ${id} named ${names.join(' or ')}`, name)
  }
  const strangers = [...found.keys()].filter((id) => !conversations.has(id))
  const mayBe = [...unsure.values()].filter((sentTo) => sentTo === undefined).length
  if (strangers.length > mayBe) diverge(context, `at most ${mayBe} conversations that nobody knows`, strangers.join())
  for (const id of strangers) conversations.set(id, new ConversationModel(id))
}

const renameChat: Operation = async (context) => {
  const { session, step } = context
  const conversation = pickConversation(context)
  if (conversation === undefined) return
  const name = `${session.tenant.marker} ${step.number}`
  const begun = conversation.name.begin(name, session.world.moments.next())
  const answer = await session.chat(step, 'POST', `/v1/conversations/${conversation.id}/name`, {
    name,
    user: user(context),
  })
  settle(context, conversation, conversation.name, begun, answer)
}

const deleteChat: Operation = async (context) => {
  const { session, step } = context
  const conversation = pickConversation(context)
  if (conversation === undefined) return
  const begun = conversation.isThere.begin(false, session.world.moments.next())
  const answer = await session.chat(step, 'DELETE', `/v1/conversations/${conversation.id}`, { user: user(context) })
  settle(context, conversation, conversation.isThere, begun, answer)
}

const rate: Operation = async (context) => {
  const { session, step } = context
  const conversation = pickConversation(context)
  const message = choose(conversation?.messages ?? [], pick(step, 3))
  if (conversation === undefined || message === undefined) return
  const rating = choose(['like', 'dislike', undefined] as const, pick(step, 4))
  const begun = message.rating.begin(rating, session.world.moments.next())
  const body = { rating: rating ?? null, user: user(context) }
  const answer = await session.chat(step, 'POST', `/v1/messages/${message.id}/feedbacks`, body)
  settle(context, conversation, message.rating, begun, answer)
}

function settle<T>(
  context: Context,
  conversation: ConversationModel,
  register: Register<T>,
  begun: ReturnType<Register<T>['begin']>,
  answer: ChatAnswer<unknown> | undefined,
): void {
  if (answer === undefined) register.lost(begun, context.session.world.moments.next())
  else if (answer.status < 400) register.done(begun, answer.to)
  else {
    register.refused(begun)
    expectChatRefusal(context, conversation, answer)
  }
}

export const chatOperations = { say, sayAndStop, readChat, listChats, renameChat, deleteChat, rate }
