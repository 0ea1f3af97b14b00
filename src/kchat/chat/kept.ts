import { CliError } from '../../cli/cli-error.js'
import { ttyLine } from '../../cli/terminal.js'
import { EXIT } from '../../contract/errors.js'
import { isRecord, textOf } from '../../lib/json/values.js'
import { messagesOf } from '../conversations.js'
import { idOf } from '../ids.js'
import { dataOf, type Item, pagedItems } from '../pages.js'
import type { Conversation } from './conversation.js'

/** Slash commands for the conversations that the service stores. */

/** count of conversations that `/open` lists */
const LISTED = 20
/** maximum conversations whose names are searched, and of these the newest ones whose messages are searched */
const NAMES_SEARCHED = 1000
const MESSAGES_SEARCHED = 20
const FOUND_MAX = 20
/** characters before and after a match in a message */
const AROUND = 30

/** Lists the latest conversations, or opens one of them by number or id. */
export async function openConversation(conversation: Conversation, word: string): Promise<void> {
  if (word !== '') {
    await conversation.settled()
    const id = named(conversation, word)
    conversation.reset()
    await conversation.load(id)
    return
  }
  const items = dataOf(
    await conversation.chat.call('GET', `/conversations?user=${userOf(conversation)}&limit=${LISTED}`),
  )
  list(
    conversation,
    items.map((item) => ({ item, said: '' })),
    'There is no conversation yet.',
  )
}

/** Searches the names of conversations, and the messages of the newest ones. */
export async function searchConversations(conversation: Conversation, words: string): Promise<void> {
  if (words === '') return conversation.note('/search needs words.')
  const { chat } = conversation
  const user = userOf(conversation)
  const wanted = words.toLowerCase()
  const found: { item: Item; said: string }[] = []
  const items = pagedItems((size, last) => {
    const after = encodeURIComponent(textOf(last?.id) ?? '')
    return chat.call('GET', `/conversations?user=${user}&limit=${size}&last_id=${after}`)
  }, NAMES_SEARCHED)
  let looked = 0
  for await (const item of items) {
    if (found.length === FOUND_MAX) break
    looked++
    if ((textOf(item.name) ?? '').toLowerCase().includes(wanted)) found.push({ item, said: '' })
    else if (looked <= MESSAGES_SEARCHED) {
      const said = await saidIn(conversation, textOf(item.id) ?? '', wanted)
      if (said !== undefined) found.push({ item, said })
    }
  }
  const scope = looked > MESSAGES_SEARCHED ? ` (messages: only the newest ${MESSAGES_SEARCHED} conversations)` : ''
  list(conversation, found, `No conversation contains ${JSON.stringify(words)}${scope}.`)
}

/** Finds a text in a conversation. @returns the match with the text before and after it */
async function saidIn(conversation: Conversation, id: string, wanted: string): Promise<string | undefined> {
  for (const message of await messagesOf(conversation.chat, id, 100)) {
    for (const text of [textOf(message.query) ?? '', textOf(message.answer) ?? '']) {
      const at = text.toLowerCase().indexOf(wanted)
      if (at !== -1) return ttyLine(text.slice(Math.max(0, at - AROUND), at + wanted.length + AROUND))
    }
  }
  return undefined
}

function list(conversation: Conversation, found: readonly { item: Item; said: string }[], empty: string): void {
  conversation.listed = found.map(({ item }) => textOf(item.id) ?? '')
  const lines = found.map(({ item, said }, index) => {
    const mark = item.id === conversation.state().conversationId ? '*' : ' '
    return `${index + 1}${mark} ${textOf(item.name) ?? ''}${said === '' ? '' : `: ${said}`}`
  })
  conversation.note(lines.length === 0 ? empty : [...lines, '/open N opens one, /delete N deletes one'].join('\n'))
}

/** Renames the open conversation. */
export async function renameConversation(conversation: Conversation, name: string): Promise<void> {
  const { conversationId } = conversation.state()
  if (conversationId === undefined) return conversation.note('The conversation has not begun.')
  const { chat } = conversation
  const how = name === '' ? { auto_generate: true } : { name }
  const made = await chat.call('POST', `/conversations/${conversationId}/name`, { ...how, user: chat.user })
  conversation.note(`The conversation is now called ${JSON.stringify(isRecord(made) ? textOf(made.name) : name)}.`)
}

/** Deletes a conversation after confirmation. */
export async function removeConversation(conversation: Conversation, word: string): Promise<void> {
  const { conversationId } = conversation.state()
  const id = word === '' ? conversationId : named(conversation, word)
  if (id === undefined) return conversation.note('The conversation has not begun.')
  const { chat } = conversation
  const run = async () => {
    await conversation.settled()
    await chat.call('DELETE', `/conversations/${encodeURIComponent(id)}`, { user: chat.user })
    conversation.note('Deleted.')
    if (id === conversation.state().conversationId) conversation.reset()
  }
  const which = word === '' || id === conversationId ? 'this conversation' : `conversation ${word}`
  conversation.change({ confirm: { question: `Delete ${which} with its messages? [y/N]`, run } })
}

/** @throws CliError exit 5 */
function named(conversation: Conversation, word: string): string {
  const { listed } = conversation
  if (!/^\d{1,3}$/.test(word)) return idOf('conversation', word)
  const id = listed[Number(word) - 1]
  if (id !== undefined) return id
  throw new CliError(`the list has no conversation ${word}`, {
    code: 'not-found',
    exit: EXIT.notFound,
    hint: '/open lists them',
  })
}

function userOf({ chat }: Conversation): string {
  return encodeURIComponent(chat.user)
}
