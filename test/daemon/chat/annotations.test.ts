import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bodyOf } from '../../helpers/daemon.js'
import { type ChatEdge, eventsOf, startChat } from './helpers.js'

const UNKNOWN = '01890000-0000-7000-8000-000000000000'

interface Item {
  id: string
  question: string
  answer: string
  hit_count: number
  created_at: number
}

interface List {
  data: Item[]
  has_more: boolean
  limit: number
  total: number
  page: number
}

let chat: ChatEdge

beforeAll(async () => {
  chat = await startChat()
})
afterAll(() => chat.end())

const path = '/apps/annotations'

async function add(question: string, answer: string): Promise<Item> {
  const response = await chat.chat('POST', path, { json: { question, answer } })
  expect(response.status).toBe(200)
  return bodyOf<Item>(response)
}

async function list(query = ''): Promise<List> {
  return bodyOf<List>(await chat.chat('GET', `${path}?${query}`))
}

async function refused(method: string, target: string, json?: unknown): Promise<Record<string, unknown>> {
  const response = await chat.chat(method, target, json === undefined ? {} : { json })
  const body = await bodyOf<Record<string, unknown>>(response)
  expect(body.status).toBe(response.status)
  return body
}

async function switched(action: 'enable' | 'disable', json?: object): Promise<void> {
  const begun = await chat.chat('POST', `/apps/annotation-reply/${action}`, json === undefined ? {} : { json })
  expect(begun.status).toBe(200)
  const { job_id, job_status } = await bodyOf<{ job_id: string; job_status: string }>(begun)
  expect(job_status).toBe('waiting')
  const status = async () => await (await chat.chat('GET', `/apps/annotation-reply/${action}/status/${job_id}`)).json()
  await expect.poll(status).toEqual({ job_id, job_status: 'completed', error_msg: '' })
  const other = action === 'enable' ? 'disable' : 'enable'
  expect(await refused('GET', `/apps/annotation-reply/${other}/status/${job_id}`)).toMatchObject({
    code: 'invalid_param',
    message: 'The job does not exist.',
  })
}

async function say(query: string) {
  const json = { query, user: 'u1', response_mode: 'blocking' }
  return bodyOf<{
    answer: string
    conversation_id: string
    metadata: { annotation_reply: unknown; usage: { total_tokens: number } }
  }>(await chat.chat('POST', '/chat-messages', { json }))
}

describe('annotations', () => {
  test('can be created, changed, searched and deleted', async () => {
    const first = await add('Was kostet ein Kessel?', 'Vierzig Kronen. ÄPFEL')
    expect(first).toEqual({
      id: first.id,
      question: 'Was kostet ein Kessel?',
      answer: 'Vierzig Kronen. ÄPFEL',
      hit_count: 0,
      created_at: expect.any(Number),
    })
    const second = await add('Second?', 'Two.')
    const third = await add('Third?', 'Three.')
    expect((await list()).data.map(({ id }) => id)).toEqual([third.id, second.id, first.id])
    expect(await list('page=1&limit=2')).toMatchObject({ has_more: true, limit: 2, total: 3, page: 1 })
    expect(await list('page=2&limit=2')).toMatchObject({ has_more: false, total: 3, data: [{ id: first.id }] })
    expect((await list('keyword=äpfel')).data.map(({ id }) => id)).toEqual([first.id])
    expect((await list('keyword=')).total).toBe(3)
    const changed = await chat.chat('PUT', `${path}/${first.id}`, { json: { question: 'New?', answer: 'Yes.' } })
    expect(await changed.json()).toEqual({ ...first, question: 'New?', answer: 'Yes.' })
    for (const { id } of [first, second, third]) {
      const gone = await chat.chat('DELETE', `${path}/${id}`, { headers: { 'content-type': 'application/json' } })
      expect([gone.status, await gone.text()]).toEqual([204, ''])
    }
    expect(await list()).toMatchObject({ data: [], total: 0, has_more: false })
  })

  test.each([
    ['POST', path, { question: 'q' }, 'invalid_param', 400],
    ['POST', path, { question: ' ', answer: 'a' }, 'invalid_param', 400],
    ['PUT', `${path}/${UNKNOWN}`, { question: 'q', answer: 'a' }, 'not_found', 404],
    ['PUT', `${path}/nonsense`, { question: 'q', answer: 'a' }, 'invalid_param', 400],
    ['DELETE', `${path}/${UNKNOWN}`, undefined, 'not_found', 404],
    ['GET', `${path}?limit=101`, undefined, 'invalid_param', 400],
    ['GET', `${path}?page=0`, undefined, 'invalid_param', 400],
    ['POST', '/apps/annotation-reply/enable', {}, 'invalid_param', 400],
    ['POST', '/apps/annotation-reply/enable', { score_threshold: 1.1 }, 'invalid_param', 400],
    ['POST', '/apps/annotation-reply/toggle', { score_threshold: 0.5 }, 'invalid_param', 400],
    ['GET', `/apps/annotation-reply/enable/status/${UNKNOWN}`, undefined, 'invalid_param', 400],
    ['GET', '/apps/annotation-reply/enable/status/nonsense', undefined, 'invalid_param', 400],
  ])('%s %s refuses %j as %s', async (method, target, json, code, status) => {
    expect(await refused(method, target, json)).toMatchObject({ code, status })
  })

  test('can be listed and deleted only with a key of their application', async () => {
    const { id } = await add('Mine?', 'Yes.')
    const other = await chat.edge.send('POST', '/chat-apps', { token: chat.token, json: { name: 'Other' } })
    const { id: otherId } = await bodyOf<{ id: string }>(other)
    const made = await chat.edge.send('POST', `/chat-apps/${otherId}/keys`, { token: chat.token })
    const { key } = await bodyOf<{ key: string }>(made)
    expect((await chat.edge.send('DELETE', `/v1${path}/${id}`, { token: key })).status).toBe(404)
    expect(await (await chat.edge.send('GET', `/v1${path}`, { token: key })).json()).toMatchObject({ total: 0 })
    await chat.chat('DELETE', `${path}/${id}`)
  })
})

describe('annotation replies', () => {
  test('replace retrieval, in blocking mode and in streams, appear in the history, and count hits', async () => {
    const { id } = await add('When does the shop in Oslo open?', 'Fixed: at ten.')
    expect((await say('When does the shop in Oslo open?')).answer).toContain('nine')
    await switched('enable', { score_threshold: 0.9, embedding_provider_name: null, embedding_model_name: 'any' })
    expect(await (await chat.chat('GET', '/parameters')).json()).toMatchObject({ annotation_reply: { enabled: true } })

    const done = await say('when does the shop in OSLO open')
    const account = { id: expect.stringMatching(/^[0-9a-f-]{36}$/), name: 'ada' }
    expect(done.answer).toBe('Fixed: at ten.')
    expect(done.metadata).toMatchObject({ annotation_reply: { id, account }, usage: { total_tokens: 0 } })
    const json = { query: 'When does the shop in Oslo open??', user: 'u1' }
    const events = await eventsOf(await chat.chat('POST', '/chat-messages', { json }))
    expect(events.map(({ event }) => event)).toEqual(['ping', 'message', 'message_end'])
    expect(events[1]).toMatchObject({ answer: 'Fixed: at ten.' })
    expect(events[2]).toMatchObject({ metadata: { annotation_reply: { id, account } } })
    const history = await chat.chat('GET', `/messages?user=u1&conversation_id=${done.conversation_id}`)
    expect(await history.json()).toMatchObject({ data: [{ answer: 'Fixed: at ten.', status: 'normal' }] })
    expect((await list()).data[0]).toMatchObject({ id, hit_count: 2 })

    expect((await say('How much is a red kettle?')).metadata.annotation_reply).toBeNull()
    await switched('disable')
    expect((await say('When does the shop in Oslo open?')).answer).toContain('nine')
    expect(await (await chat.chat('GET', '/parameters')).json()).toMatchObject({ annotation_reply: { enabled: false } })
  })

  test('answer a reworded question within the threshold, and never a question about something else', async () => {
    await add('How much is a blue kettle?', 'Fixed: forty.')
    await switched('enable', { score_threshold: 0.9 })
    expect((await say('How much is a red kettle?')).answer).not.toContain('Fixed')
    await switched('enable', { score_threshold: 0.6 })
    expect((await say('How much is the blue kettle?')).answer).toBe('Fixed: forty.')
    await switched('enable', { score_threshold: 0.9 })
    const fixed: [asked: string, question: string][] = [
      ['price of plan B', 'price of plan A'],
      ['Is the kettle not safe?', 'Is the kettle safe?'],
      ['opening hours on Sunday?', 'opening hours?'],
    ]
    for (const [, question] of fixed) await add(question, 'Fixed')
    for (const [asked] of fixed) expect([asked, (await say(asked)).metadata.annotation_reply]).toEqual([asked, null])
    expect((await say('When do you open?')).answer).toBe('Fixed')
    const any = await chat.chat('POST', '/apps/annotation-reply/disable', { body: 'not json' })
    expect(any.status).toBe(200)
  })
})
