import { isObject, textOf } from '../cli/json-file.js'
import type { Common } from './options.js'
import { outputOf, printList, printOne } from './output.js'
import { type ChatService, openChat } from './service.js'

const PAGE = 100

/** Runs a command on the service of the stored key. */
export async function withChat<T>(common: Common, work: (chat: ChatService, user: string) => Promise<T>): Promise<T> {
  const chat = await openChat(common)
  try {
    return await work(chat, encodeURIComponent(chat.user))
  } finally {
    chat.close()
  }
}

/** The items of a page as the service gives it. */
export function dataOf(page: unknown): Record<string, unknown>[] {
  return isObject(page) && Array.isArray(page.data) ? page.data.filter(isObject) : []
}

export async function conversations(options: Common & { limit?: string }): Promise<void> {
  await withChat(options, async (chat, user) => {
    const limit = encodeURIComponent(options.limit ?? '20')
    const page = await chat.call('GET', `/conversations?user=${user}&limit=${limit}`)
    await printList(dataOf(page), options, {
      columns: [{ field: 'id' }, { field: 'name' }, { field: 'updated_at', title: 'UPDATED' }],
      empty: 'No conversations yet.',
      hint: '`kchat send TEXT` begins one',
    })
  })
}

export async function rename(
  id: string,
  name: string | undefined,
  options: Common & { auto?: boolean },
): Promise<void> {
  await withChat(options, async (chat) => {
    const body = options.auto === true ? { auto_generate: true } : { name }
    const path = `/conversations/${encodeURIComponent(id)}/name`
    const item = await chat.call('POST', path, { ...body, user: chat.user })
    const out = outputOf(options)
    if (out.isJson) out.json(item)
    else await printList([item], options, { columns: [{ field: 'id' }, { field: 'name' }], empty: '' })
  })
}

export async function remove(id: string, options: Common): Promise<void> {
  await withChat(options, (chat) =>
    chat.call('DELETE', `/conversations/${encodeURIComponent(id)}`, { user: chat.user }),
  )
}

export async function variables(id: string, options: Common & { name?: string }): Promise<void> {
  await withChat(options, async (chat, user) => {
    const name = options.name === undefined ? '' : `&variable_name=${encodeURIComponent(options.name)}`
    const path = `/conversations/${encodeURIComponent(id)}/variables?limit=${PAGE}&user=${user}${name}`
    await printList(dataOf(await chat.call('GET', path)), options, {
      columns: [{ field: 'name' }, { field: 'value_type', title: 'TYPE' }, { field: 'value' }],
      empty: 'The conversation has no variables.',
    })
  })
}

/** Messages oldest first; with `all` back to the beginning. */
export async function messagesOf(
  chat: ChatService,
  conversation: string,
  all: boolean,
): Promise<Record<string, unknown>[]> {
  const messages: Record<string, unknown>[] = []
  const query = `conversation_id=${encodeURIComponent(conversation)}&user=${encodeURIComponent(chat.user)}&limit=${PAGE}`
  for (let first = ''; ; ) {
    const page = await chat.call('GET', `/messages?${query}&first_id=${first}`)
    const data = dataOf(page)
    messages.unshift(...data)
    first = textOf(data[0]?.id) ?? ''
    if (!all || first === '' || !isObject(page) || page.has_more !== true) return messages
  }
}

export async function history(id: string, options: Common & { all?: boolean }): Promise<void> {
  await withChat(options, async (chat) => {
    const messages = await messagesOf(chat, id, options.all === true)
    const out = outputOf(options)
    if (out.isJson) {
      await printList(messages, options, { columns: [], empty: '' })
      return
    }
    for (const { query, answer } of messages) {
      out.line(`> ${textOf(query) ?? ''}`)
      out.line(`${textOf(answer) ?? ''}\n`)
    }
  })
}

export async function stop(task: string, options: Common): Promise<void> {
  const path = `/chat-messages/${encodeURIComponent(task)}/stop`
  await withChat(options, (chat) => chat.call('POST', path, { user: chat.user }))
}

export async function suggest(message: string, options: Common): Promise<void> {
  await withChat(options, async (chat, user) => {
    const reply = await chat.call('GET', `/messages/${encodeURIComponent(message)}/suggested?user=${user}`)
    const data: unknown[] = isObject(reply) && Array.isArray(reply.data) ? reply.data : []
    const out = outputOf(options)
    if (out.isJson) out.json(data)
    else for (const question of data) out.line(String(question))
  })
}

export async function feedback(message: string, rating: string, options: Common & { note?: string }): Promise<void> {
  const body = {
    rating: rating === 'none' ? null : rating,
    ...(options.note === undefined ? {} : { content: options.note }),
  }
  const path = `/messages/${encodeURIComponent(message)}/feedbacks`
  await withChat(options, (chat) => chat.call('POST', path, { ...body, user: chat.user }))
}

export async function feedbacks(options: Common & { page?: string }): Promise<void> {
  await withChat(options, async (chat) => {
    const reply = await chat.call('GET', `/app/feedbacks?page=${encodeURIComponent(options.page ?? '1')}`)
    await printList(dataOf(reply), options, {
      columns: [
        { field: 'message_id', title: 'MESSAGE' },
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
