import { CliError } from '../../cli/cli-error.js'
import { ttyLine } from '../../cli/terminal.js'
import { EXIT } from '../../contract/errors.js'
import { isRecord, toNonEmptyString } from '../../lib/json/values.js'
import { readMessages } from '../conversations.js'
import { resolveConversationId } from '../ids.js'
import { type ListItem, MAX_PAGE_SIZE, readPages, toItems } from '../pages.js'
import type { Conversation } from './conversation.js'

/** Slash commands for the conversations that the service stores. */

/** count of conversations that `/open` lists */
const LIST_COUNT = 20
/** maximum conversations whose names are searched, and of these the newest ones whose messages are searched */
const MAX_NAMES_SEARCHED = 1000
const MAX_CONVERSATIONS_SEARCHED = 20
const MAX_MATCHES = 20
/** characters before and after a match in a message */
const CONTEXT_CHARACTERS = 30

interface ConversationMatch {
  item: ListItem
  /** the match in a message with the text before and after it; absent if the name matches */
  excerpt?: string
}

/** Lists the latest conversations, or opens one of them by number or id. */
export async function openConversation(conversation: Conversation, reference: string): Promise<void> {
  if (reference !== '') {
    await conversation.waitUntilSettled()
    const id = await resolveConversation(conversation, reference)
    conversation.reset()
    await conversation.load(id)
    return
  }
  const items = toItems(
    await conversation.chat.call('GET', `/conversations?user=${conversation.chat.encodedUser}&limit=${LIST_COUNT}`),
  )
  const matches = items.map((item) => ({ item }))
  showList(conversation, matches, 'There is no conversation yet.')
}

/** Searches the names of conversations, and the messages of the newest ones. */
export async function searchConversations(conversation: Conversation, words: string): Promise<void> {
  if (words === '') return conversation.note('/search needs words.')
  const { chat } = conversation
  const searchText = words.toLowerCase()
  const matches: ConversationMatch[] = []
  const items = readPages(
    (size, afterId) => chat.call('GET', `/conversations?user=${chat.encodedUser}&limit=${size}&last_id=${afterId}`),
    MAX_NAMES_SEARCHED,
  )
  let searchedCount = 0
  for await (const item of items) {
    if (matches.length === MAX_MATCHES) break
    searchedCount++
    if ((toNonEmptyString(item.name) ?? '').toLowerCase().includes(searchText)) matches.push({ item })
    else if (searchedCount <= MAX_CONVERSATIONS_SEARCHED) {
      const excerpt = await findInMessages(conversation, toNonEmptyString(item.id) ?? '', searchText)
      if (excerpt !== undefined) matches.push({ item, excerpt })
    }
  }
  const scope =
    searchedCount > MAX_CONVERSATIONS_SEARCHED
      ? ` (messages: only the newest ${MAX_CONVERSATIONS_SEARCHED} conversations)`
      : ''
  showList(conversation, matches, `No conversation contains ${JSON.stringify(words)}${scope}.`)
}

/** Finds a text in a conversation. @returns the match with the text before and after it */
async function findInMessages(conversation: Conversation, id: string, searchText: string): Promise<string | undefined> {
  for (const message of await readMessages(conversation.chat, id, MAX_PAGE_SIZE)) {
    for (const text of [toNonEmptyString(message.query) ?? '', toNonEmptyString(message.answer) ?? '']) {
      const index = text.toLowerCase().indexOf(searchText)
      if (index !== -1)
        return ttyLine(
          text.slice(Math.max(0, index - CONTEXT_CHARACTERS), index + searchText.length + CONTEXT_CHARACTERS),
        )
    }
  }
  return undefined
}

/** Lists conversations with numbers for `/open` and `/delete`. @param empty text for an empty list */
function showList(conversation: Conversation, matches: readonly ConversationMatch[], empty: string): void {
  conversation.listedIds = matches.map(({ item }) => toNonEmptyString(item.id) ?? '')
  const lines = matches.map(({ item, excerpt }, index) => {
    const mark = item.id === conversation.getState().conversationId ? '*' : ' '
    return `${index + 1}${mark} ${toNonEmptyString(item.name) ?? ''}${excerpt === undefined ? '' : `: ${excerpt}`}`
  })
  conversation.note(lines.length === 0 ? empty : [...lines, '/open N opens one, /delete N deletes one'].join('\n'))
}

/** Renames the open conversation. */
export async function renameConversation(conversation: Conversation, name: string): Promise<void> {
  const { conversationId } = conversation.getState()
  if (conversationId === undefined) return conversation.note('The conversation has not begun.')
  const { chat } = conversation
  const nameFields = name === '' ? { auto_generate: true } : { name }
  const renamed = await chat.call('POST', `/conversations/${conversationId}/name`, { ...nameFields, user: chat.user })
  conversation.note(
    `The conversation is now called ${JSON.stringify(isRecord(renamed) ? toNonEmptyString(renamed.name) : name)}.`,
  )
}

/** Deletes a conversation after confirmation. */
export async function removeConversation(conversation: Conversation, reference: string): Promise<void> {
  const { conversationId } = conversation.getState()
  const id = reference === '' ? conversationId : await resolveConversation(conversation, reference)
  if (id === undefined) return conversation.note('The conversation has not begun.')
  const { chat } = conversation
  const run = async () => {
    await conversation.waitUntilSettled()
    await chat.call('DELETE', `/conversations/${encodeURIComponent(id)}`, { user: chat.user })
    conversation.note('Deleted.')
    if (id === conversation.getState().conversationId) conversation.reset()
  }
  const target = reference === '' || id === conversationId ? 'this conversation' : `conversation ${reference}`
  conversation.update({ confirm: { question: `Delete ${target} with its messages? [y/N]`, run } })
}

/** Resolves a number of the last list, an id, or `last`. @throws CliError exit 5 */
async function resolveConversation({ chat, listedIds }: Conversation, reference: string): Promise<string> {
  if (!/^\d{1,3}$/.test(reference)) return await resolveConversationId(chat, reference)
  const id = listedIds[Number(reference) - 1]
  if (id !== undefined) return id
  throw new CliError(`the list has no conversation ${reference}`, {
    code: 'not-found',
    exit: EXIT.notFound,
    hint: '/open lists them',
  })
}
