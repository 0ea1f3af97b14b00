import { CliError } from '../cli/cli-error.js'
import type { OutputColumn } from '../cli/columns.js'
import { readTextOrStdin } from '../cli/stdin.js'
import { EXIT } from '../contract/errors.js'
import { isRecord, toNonEmptyString } from '../lib/json/values.js'
import { omitUndefined } from '../lib/omit-undefined.js'
import { resolveConversationId, resolveIdForPath, resolveTypedId } from './ids.js'
import type { KchatOptions } from './options.js'
import { createOutput, printDone, printList, printOne } from './output.js'
import {
  type ListItem,
  type ListRange,
  MAX_PAGE_SIZE,
  printNumbered,
  printPages,
  readNumberedPages,
  readPages,
  selectLimit,
  toItems,
} from './pages.js'
import { type ChatService, withChat } from './service.js'

export async function listConversations(
  options: KchatOptions & ListRange & { sort?: string; cursor?: string },
): Promise<void> {
  const limit = selectLimit(options)
  const sort = options.sort === undefined ? '' : `&sort_by=${encodeURIComponent(options.sort)}`
  await withChat(options, async (chat) => {
    const cursor = options.cursor === undefined ? undefined : resolveTypedId('conversation', options.cursor)
    const items = readPages(
      (size, afterId) =>
        chat.call('GET', `/conversations?user=${chat.encodedUser}&limit=${size}&last_id=${afterId}${sort}`),
      limit,
      cursor,
    )
    const columns: OutputColumn[] = [
      { field: 'id', kind: 'id' },
      { field: 'name' },
      { field: 'updated_at', title: 'UPDATED', kind: 'seconds' },
    ]
    const listOptions = { columns, empty: 'No conversations yet.', hint: '`kchat send TEXT` starts one' }
    await printPages(items, options, listOptions, (next) => `, or \`--cursor ${next}\``)
  })
}

export async function renameConversation(
  typedId: string,
  name: string | undefined,
  options: KchatOptions & { auto?: boolean },
): Promise<void> {
  await withChat(options, async (chat) => {
    const body = options.auto === true ? { auto_generate: true } : { name }
    const path = `/conversations/${encodeURIComponent(await resolveConversationId(chat, typedId))}/name`
    const item = await chat.call('POST', path, { ...body, user: chat.user })
    const out = createOutput(options)
    if (out.isJson) out.json(item)
    else await printList([item], options, { columns: [{ field: 'id', kind: 'id' }, { field: 'name' }], empty: '' })
  })
}

export async function deleteConversation(typedId: string, options: KchatOptions): Promise<void> {
  const id = await withChat(options, async (chat) => {
    const conversation = await resolveConversationId(chat, typedId)
    await chat.call('DELETE', `/conversations/${encodeURIComponent(conversation)}`, { user: chat.user })
    return conversation
  })
  printDone(options, { id, deleted: true }, 'Deleted.')
}

export async function listVariables(typedId: string, options: KchatOptions & { name?: string }): Promise<void> {
  await withChat(options, async (chat) => {
    const conversation = encodeURIComponent(await resolveConversationId(chat, typedId))
    await printList(readVariables(chat, conversation, options.name), options, {
      columns: [{ field: 'name' }, { field: 'value_type', title: 'TYPE' }, { field: 'value' }],
      empty: 'The conversation has no variables.',
    })
  })
}

/** @param nameFilter text that the names contain */
function readVariables(chat: ChatService, conversation: string, nameFilter: string | undefined) {
  const nameParameter = nameFilter === undefined ? '' : `&variable_name=${encodeURIComponent(nameFilter)}`
  const path = `/conversations/${conversation}/variables?user=${chat.encodedUser}${nameParameter}`
  return readPages((size, afterId) => chat.call('GET', `${path}&limit=${size}&last_id=${afterId}`), undefined)
}

export async function setVariable(typedId: string, name: string, text: string, options: KchatOptions): Promise<void> {
  const value = await readTextOrStdin(text, 'the value')
  await withChat(options, async (chat) => {
    const conversation = encodeURIComponent(await resolveConversationId(chat, typedId))
    let variableId: string | undefined
    for await (const item of readVariables(chat, conversation, name))
      if (item.name === name) variableId = toNonEmptyString(item.id)
    if (variableId === undefined)
      throw new CliError(`the conversation has no variable ${JSON.stringify(name)}`, {
        code: 'not-found',
        exit: EXIT.notFound,
        hint: `\`kchat conversations vars ${typedId}\` lists them`,
      })
    const item = await chat.call('PUT', `/conversations/${conversation}/variables/${variableId}`, {
      value,
      user: chat.user,
    })
    printDone(options, isRecord(item) ? item : {}, `Set ${name}.`)
  })
}

/** Reads the newest messages of a conversation, oldest first; all messages without a limit. */
export async function readMessages(
  chat: ChatService,
  conversation: string,
  limit: number | undefined,
): Promise<ListItem[]> {
  const query = `conversation_id=${encodeURIComponent(conversation)}&user=${chat.encodedUser}`
  const pages: ListItem[][] = []
  let remaining = limit ?? Number.POSITIVE_INFINITY
  let firstId = ''
  // Each page is in the order of the conversation; the next page precedes it.
  while (remaining > 0) {
    const page = await chat.call(
      'GET',
      `/messages?${query}&limit=${Math.min(MAX_PAGE_SIZE, remaining)}&first_id=${firstId}`,
    )
    const data = toItems(page)
    pages.unshift(data)
    remaining -= data.length
    firstId = toNonEmptyString(data[0]?.id) ?? ''
    if (firstId === '' || !isRecord(page) || page.has_more !== true) break
  }
  return pages.flat()
}

/** Prints messages as prose, or as a list if a format or fields are requested. */
export async function showHistory(typedId: string, options: KchatOptions & ListRange): Promise<void> {
  const limit = selectLimit(options, MAX_PAGE_SIZE)
  await withChat(options, async (chat) => {
    const messages = await readMessages(chat, await resolveConversationId(chat, typedId), limit)
    const out = createOutput(options)
    if (messages.length === limit) out.note('There may be older messages: `--all` shows them.')
    if (out.isJson || options.format !== undefined || options.fields !== undefined) {
      const columns: OutputColumn[] = [
        { field: 'id', kind: 'id' },
        { field: 'created_at', title: 'SENT', kind: 'seconds' },
        { field: 'query' },
        { field: 'answer' },
      ]
      await printList(messages, options, { columns, empty: 'No messages.' })
      return
    }
    for (const { query, answer } of messages) {
      out.line(`> ${toNonEmptyString(query) ?? ''}`)
      out.prose(`${toNonEmptyString(answer) ?? ''}\n\n`)
      out.endProse()
    }
  })
}

export async function stopAnswer(taskId: string, options: KchatOptions): Promise<void> {
  const path = `/chat-messages/${encodeURIComponent(taskId)}/stop`
  const reply = await withChat(options, (chat) => chat.call('POST', path, { user: chat.user }))
  printDone(options, isRecord(reply) ? reply : {}, 'Requested the stop.')
}

export async function showSuggestions(typedId: string, options: KchatOptions): Promise<void> {
  await withChat(options, async (chat) => {
    const reply = await chat.call(
      'GET',
      `/messages/${resolveIdForPath('message', typedId)}/suggested?user=${chat.encodedUser}`,
    )
    const data: unknown[] = isRecord(reply) && Array.isArray(reply.data) ? reply.data : []
    const out = createOutput(options)
    if (out.isJson) out.json(data)
    else for (const question of data) out.line(String(question))
  })
}

export async function rateMessage(
  typedId: string,
  rating: string,
  options: KchatOptions & { note?: string },
): Promise<void> {
  const body = {
    rating: rating === 'none' ? null : rating,
    ...omitUndefined({ content: options.note }),
  }
  const path = `/messages/${resolveIdForPath('message', typedId)}/feedbacks`
  const reply = await withChat(options, (chat) => chat.call('POST', path, { ...body, user: chat.user }))
  printDone(options, isRecord(reply) ? reply : {}, rating === 'none' ? 'Removed the rating.' : `Rated: ${rating}.`)
}

export async function listRatings(options: KchatOptions & ListRange & { page?: number }): Promise<void> {
  await withChat(options, async (chat) => {
    const items = readNumberedPages((query) => chat.call('GET', `/app/feedbacks?${query}`), options)
    await printNumbered(items, options, {
      columns: [
        { field: 'message_id', title: 'MESSAGE', kind: 'id' },
        { field: 'rating' },
        { field: 'content', title: 'NOTE' },
        { field: 'updated_at', title: 'UPDATED', kind: 'time' },
      ],
      empty: 'No ratings yet.',
    })
  })
}

export async function showApplication(part: string | undefined, options: KchatOptions): Promise<void> {
  await withChat(options, async (chat) =>
    printOne(await chat.call('GET', `/${part ?? 'info'}?user=${chat.encodedUser}`), options),
  )
}
