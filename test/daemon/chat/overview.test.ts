import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import type { ChatInfo, ChatParameters } from '../../../src/contract/chat/application.js'
import type { ChatApp, NewChatAppKey } from '../../../src/contract/chat/apps.js'
import { OpeningQuestions } from '../../../src/engine/answers/chat/overview/opening-questions.js'
import { bodyOf } from '../../helpers/daemon.js'
import { ingest } from '../../helpers/engine.js'
import { type ChatEdge, startChat } from './helpers.js'

const CALLER = { tenant: 'tenant-a', subject: 'ada' }

let chat: ChatEdge
beforeAll(async () => {
  chat = await startChat()
})
afterAll(() => chat.end())

interface Message {
  answer: string
  metadata: { retriever_resources: { document_name: string; section_path?: string[]; cited?: boolean }[] }
}

const say = async (query: string) =>
  bodyOf<Message>(await chat.chat('POST', '/chat-messages', { json: { query, user: 'u', response_mode: 'blocking' } }))
/** Suggested questions; the first request of a revision may get only some of them. */
const suggested = async () =>
  (await bodyOf<ChatParameters>(await chat.chat('GET', '/parameters?user=u'))).suggested_questions

test('the information of an application states its spaces, their documents and the newest change', async () => {
  const info = await bodyOf<ChatInfo>(await chat.chat('GET', '/info'))
  expect(info.spaces).toEqual([{ name: 'Shop', documents: 2, updated_at: expect.any(Number) }])
  expect(info.overview).toMatch(/^Answers from Shop \(2 documents\); newest change \d{4}-\d\d-\d\d\.$/)
})

test('an application without suggested questions offers headings of its documents, each of which is answered from its section', async () => {
  await expect.poll(async () => [...(await suggested())].sort()).toEqual(['Opening hours?', 'Prices?'])
  for (const question of await suggested()) {
    const { retriever_resources: resources } = (await say(question)).metadata
    const cited = resources.filter((resource) => resource.cited)
    expect(cited.map(({ section_path: path }) => path?.at(-1))).toContain(question.slice(0, -1))
  }
})

test('the search for questions begins when an application is created or changed, before the first request for them', async () => {
  const { edge, token, spaceId } = chat
  const prepared = vi.spyOn(OpeningQuestions.prototype, 'prepare')
  const json = { name: 'Early', knowledgeSpaceIds: [spaceId] }
  const { id } = await bodyOf<ChatApp>(await edge.send('POST', '/chat-apps', { token, json }))
  await edge.send('PATCH', `/chat-apps/${id}`, { token, json: { description: 'changed' } })
  expect(prepared.mock.calls.map(([, app]) => [app.id, app.description])).toEqual([
    [id, ''],
    [id, 'changed'],
  ])
  prepared.mockRestore()
})

test('an application offers its own suggested questions instead of headings', async () => {
  const { edge, token, spaceId } = chat
  const json = { name: 'Own', knowledgeSpaceIds: [spaceId], suggestedQuestions: ['Do you deliver?'] }
  const app = await bodyOf<ChatApp>(await edge.send('POST', '/chat-apps', { token, json }))
  const { key } = await bodyOf<NewChatAppKey>(await edge.send('POST', `/chat-apps/${app.id}/keys`, { token }))
  const own = await bodyOf<ChatParameters>(await edge.send('GET', '/v1/parameters?user=u', { token: key ?? '' }))
  expect(own.suggested_questions).toEqual(['Do you deliver?'])
})

test('a question about the application itself is answered by its documents and questions, without passages', async () => {
  for (const question of ['What can you do?', 'what is in here?']) {
    const { answer, metadata } = await say(question)
    expect(answer).toContain('Answers from Shop (2 documents)')
    expect(answer).toContain('- prices.md')
    expect(answer).toContain('- Opening hours?')
    expect(metadata.retriever_resources).toEqual([])
  }
})

test('a summary quotes the newest document whose name contains the subject', async () => {
  const { edge, spaceId } = chat
  await ingest(edge.engine, CALLER, spaceId, {
    'atlas-2025.md': '---\ndate: 2025-03-01\n---\n\n# Project Atlas\n\nProject Atlas maps the northern coast.\n',
  })
  await ingest(edge.engine, CALLER, spaceId, {
    'atlas-2026.md': '---\ndate: 2026-03-01\n---\n\n# Project Atlas\n\nProject Atlas now maps the southern coast.\n',
  })
  const { answer, metadata } = await say('Summarise project Atlas')
  expect(answer).toMatch(/^\[\d\] atlas-2026\.md › Project Atlas\n\n/)
  expect(answer).toContain('southern coast')
  expect(answer).not.toContain('northern coast')
  const cited = metadata.retriever_resources.filter((resource) => resource.cited)
  expect(cited.map(({ document_name: name }) => name)).toEqual(['atlas-2026.md'])
})

test('suggested questions follow a change of the documents', async () => {
  const question = 'How can a customer return a kettle?'
  expect(await suggested()).not.toContain(question)
  await ingest(chat.edge.engine, CALLER, chat.spaceId, {
    'returns.md': `# ${question}\n\nA kettle can be returned within thirty days.\n`,
  })
  await expect.poll(async () => (await suggested())[0]).toBe(question)
})
