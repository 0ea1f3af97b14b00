import { isObject, textOf } from '../cli/json-file.js'
import { tty } from '../cli/terminal.js'
import { print, printList } from './output.js'
import { type ChatService, type Common, openChat } from './service.js'

const PAGE = 100

async function withChat<T>(common: Common, work: (chat: ChatService, user: string) => Promise<T>): Promise<T> {
  const chat = await openChat(common)
  try {
    return await work(chat, encodeURIComponent(chat.user))
  } finally {
    chat.close()
  }
}

export async function conversations(options: Common & { limit?: string }): Promise<void> {
  await withChat(options, async (chat, user) => {
    const page = await chat.call(
      'GET',
      `/conversations?user=${user}&limit=${encodeURIComponent(options.limit ?? '20')}`,
    )
    printList(isObject(page) ? page.data : [], ['id', 'name', 'updated_at'], options.json)
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
    if (options.json === true) print(item)
    else printList([item], ['id', 'name'], false)
  })
}

export async function remove(id: string, options: Common): Promise<void> {
  await withChat(options, (chat) =>
    chat.call('DELETE', `/conversations/${encodeURIComponent(id)}`, { user: chat.user }),
  )
}

/** Messages oldest first; `--all` walks back to the beginning. */
export async function history(id: string, options: Common & { all?: boolean }): Promise<void> {
  await withChat(options, async (chat, user) => {
    const messages: Record<string, unknown>[] = []
    for (let first = ''; ; ) {
      const query = `conversation_id=${encodeURIComponent(id)}&user=${user}&limit=${PAGE}&first_id=${first}`
      const page = await chat.call('GET', `/messages?${query}`)
      const data = isObject(page) && Array.isArray(page.data) ? page.data.filter(isObject) : []
      messages.unshift(...data)
      first = textOf(data[0]?.id) ?? ''
      if (options.all !== true || first === '' || !isObject(page) || page.has_more !== true) break
    }
    if (options.json === true) return print(messages)
    for (const { query, answer } of messages)
      process.stdout.write(`> ${tty(textOf(query) ?? '')}\n${tty(textOf(answer) ?? '')}\n\n`)
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
    if (options.json === true) print(data)
    else for (const question of data) process.stdout.write(`${tty(String(question))}\n`)
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
    printList(isObject(reply) ? reply.data : [], ['message_id', 'rating', 'content', 'updated_at'], options.json)
  })
}

export async function describe(part: string | undefined, options: Common): Promise<void> {
  await withChat(options, async (chat, user) => print(await chat.call('GET', `/${part ?? 'info'}?user=${user}`)))
}
