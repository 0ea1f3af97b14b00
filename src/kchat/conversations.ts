import { CliError } from '../cli/cli-error.js'
import type { Column } from '../cli/columns.js'
import { textOrStdin } from '../cli/stdin.js'
import { EXIT } from '../contract/errors.js'
import { defined } from '../lib/defined.js'
import { isRecord, textOf } from '../lib/json/values.js'
import { idOf, inPath } from './ids.js'
import type { Common } from './options.js'
import { outputOf, printDone, printList, printOne } from './output.js'
import {
  dataOf,
  type Item,
  limitOf,
  numberedPageItems,
  PAGE,
  pagedItems,
  printNumbered,
  type Range,
  withMoreNotice,
} from './pages.js'
import { type ChatService, openChat } from './service.js'

/** Opens the service for the stored key and runs a command on it. */
export async function withChat<T>(common: Common, work: (chat: ChatService, user: string) => Promise<T>): Promise<T> {
  const chat = await openChat(common)
  try {
    return await work(chat, encodeURIComponent(chat.user))
  } finally {
    chat.close()
  }
}

const LIST_DEFAULT = 20

/** `kchat conversations`. */
export async function conversations(options: Common & Range & { sort?: string; cursor?: string }): Promise<void> {
  const limit = limitOf(options, LIST_DEFAULT)
  const sort = options.sort === undefined ? '' : `&sort_by=${encodeURIComponent(options.sort)}`
  await withChat(options, async (chat, user) => {
    const items = pagedItems((size, last) => {
      const after = textOf(last?.id) ?? (options.cursor === undefined ? '' : idOf('conversation', options.cursor))
      return chat.call('GET', `/conversations?user=${user}&limit=${size}&last_id=${encodeURIComponent(after)}${sort}`)
    }, limit)
    let next: unknown
    await printList(
      withMoreNotice(items, (last) => {
        next = last.id
      }),
      options,
      {
        columns: [
          { field: 'id', kind: 'id' },
          { field: 'name' },
          { field: 'updated_at', title: 'UPDATED', kind: 'seconds' },
        ],
        empty: 'No conversations yet.',
        hint: '`kchat send TEXT` starts one',
      },
    )
    if (next !== undefined) outputOf(options).note(`more: \`--all\`, or \`--cursor ${next}\``)
  })
}

export async function rename(
  id: string,
  name: string | undefined,
  options: Common & { auto?: boolean },
): Promise<void> {
  await withChat(options, async (chat) => {
    const body = options.auto === true ? { auto_generate: true } : { name }
    const path = `/conversations/${inPath('conversation', id)}/name`
    const item = await chat.call('POST', path, { ...body, user: chat.user })
    const out = outputOf(options)
    if (out.isJson) out.json(item)
    else await printList([item], options, { columns: [{ field: 'id', kind: 'id' }, { field: 'name' }], empty: '' })
  })
}

export async function remove(word: string, options: Common): Promise<void> {
  const id = idOf('conversation', word)
  await withChat(options, (chat) =>
    chat.call('DELETE', `/conversations/${encodeURIComponent(id)}`, { user: chat.user }),
  )
  printDone(options, { id, deleted: true }, 'Deleted.')
}

export async function variables(id: string, options: Common & { name?: string }): Promise<void> {
  await withChat(options, async (chat, user) => {
    await printList(variablesOf(chat, inPath('conversation', id), user, options.name), options, {
      columns: [{ field: 'name' }, { field: 'value_type', title: 'TYPE' }, { field: 'value' }],
      empty: 'The conversation has no variables.',
    })
  })
}

function variablesOf(chat: ChatService, conversation: string, user: string, part: string | undefined) {
  const name = part === undefined ? '' : `&variable_name=${encodeURIComponent(part)}`
  const path = `/conversations/${conversation}/variables?user=${user}${name}`
  return pagedItems((size, last) => {
    return chat.call('GET', `${path}&limit=${size}&last_id=${encodeURIComponent(textOf(last?.id) ?? '')}`)
  }, undefined)
}

/** `kchat conversations set-var`. */
export async function setVariable(id: string, name: string, text: string, options: Common): Promise<void> {
  const value = await textOrStdin(text, 'the value')
  await withChat(options, async (chat, user) => {
    const conversation = inPath('conversation', id)
    let found: string | undefined
    for await (const item of variablesOf(chat, conversation, user, name))
      if (item.name === name) found = textOf(item.id)
    if (found === undefined)
      throw new CliError(`the conversation has no variable ${JSON.stringify(name)}`, {
        code: 'not-found',
        exit: EXIT.notFound,
        hint: `\`kchat conversations vars ${id}\` lists them`,
      })
    const item = await chat.call('PUT', `/conversations/${conversation}/variables/${found}`, { value, user: chat.user })
    printDone(options, isRecord(item) ? item : {}, `Set ${name}.`)
  })
}

/** The newest messages, oldest first; all messages without a limit. */
export async function messagesOf(chat: ChatService, conversation: string, limit: number | undefined): Promise<Item[]> {
  const query = `conversation_id=${encodeURIComponent(conversation)}&user=${encodeURIComponent(chat.user)}`
  const pages: Item[][] = []
  // Each page is in the order of the conversation; the next page precedes it.
  for (let [left, first] = [limit ?? Number.POSITIVE_INFINITY, '']; left > 0; ) {
    const page = await chat.call('GET', `/messages?${query}&limit=${Math.min(PAGE, left)}&first_id=${first}`)
    const data = dataOf(page)
    pages.unshift(data)
    left -= data.length
    first = textOf(data[0]?.id) ?? ''
    if (first === '' || !isRecord(page) || page.has_more !== true) break
  }
  return pages.flat()
}

/** `kchat history`: prose, or a list if a format or fields are requested. */
export async function history(id: string, options: Common & Range): Promise<void> {
  const limit = limitOf(options, PAGE)
  await withChat(options, async (chat) => {
    const messages = await messagesOf(chat, idOf('conversation', id), limit)
    const out = outputOf(options)
    if (messages.length === limit) out.note('There may be older messages: `--all` shows them.')
    if (out.isJson || options.format !== undefined || options.fields !== undefined) {
      const columns: Column[] = [
        { field: 'id', kind: 'id' },
        { field: 'created_at', title: 'SENT', kind: 'seconds' },
        { field: 'query' },
        { field: 'answer' },
      ]
      await printList(messages, options, { columns, empty: 'No messages.' })
      return
    }
    for (const { query, answer } of messages) {
      out.line(`> ${textOf(query) ?? ''}`)
      out.prose(`${textOf(answer) ?? ''}\n\n`)
      out.endProse()
    }
  })
}

export async function stop(task: string, options: Common): Promise<void> {
  const path = `/chat-messages/${encodeURIComponent(task)}/stop`
  const done = await withChat(options, (chat) => chat.call('POST', path, { user: chat.user }))
  printDone(options, isRecord(done) ? done : {}, 'Requested the stop.')
}

export async function suggest(message: string, options: Common): Promise<void> {
  await withChat(options, async (chat, user) => {
    const reply = await chat.call('GET', `/messages/${inPath('message', message)}/suggested?user=${user}`)
    const data: unknown[] = isRecord(reply) && Array.isArray(reply.data) ? reply.data : []
    const out = outputOf(options)
    if (out.isJson) out.json(data)
    else for (const question of data) out.line(String(question))
  })
}

export async function feedback(message: string, rating: string, options: Common & { note?: string }): Promise<void> {
  const body = {
    rating: rating === 'none' ? null : rating,
    ...defined({ content: options.note }),
  }
  const path = `/messages/${inPath('message', message)}/feedbacks`
  const done = await withChat(options, (chat) => chat.call('POST', path, { ...body, user: chat.user }))
  printDone(options, isRecord(done) ? done : {}, rating === 'none' ? 'Removed the rating.' : `Rated: ${rating}.`)
}

/** `kchat feedbacks`. */
export async function feedbacks(options: Common & Range & { page?: number }): Promise<void> {
  await withChat(options, async (chat) => {
    const items = numberedPageItems((query) => chat.call('GET', `/app/feedbacks?${query}`), options, LIST_DEFAULT)
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

export async function describe(part: string | undefined, options: Common): Promise<void> {
  await withChat(options, async (chat, user) =>
    printOne(await chat.call('GET', `/${part ?? 'info'}?user=${user}`), options),
  )
}
