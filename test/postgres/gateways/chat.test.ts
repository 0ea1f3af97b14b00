import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { AppSession } from '../../../src/engine/answers/chat/apps.js'
import { type FakeOpenAi, startFakeOpenAi } from '../../helpers/fake-openai.js'
import {
  createChatApp,
  type Gateways,
  joinAnswers,
  MESSAGE,
  readFrames,
  startGateways,
} from '../../helpers/gateways.js'
import { hasServer } from '../../helpers/postgres.js'
import { until } from '../../helpers/until.js'

const MODEL = { pluginId: 'openai-compatible', provider: 'local', model: 'some-model' }
const SLOW_MS = 2500

describe.skipIf(!hasServer)('a conversation on two gateways', () => {
  let model: FakeOpenAi
  let gateways: Gateways
  let sessions: AppSession[]

  beforeEach(async () => {
    model = await startFakeOpenAi({ deltaMs: 60 })
    const providers = [{ pluginId: MODEL.pluginId, provider: MODEL.provider, baseUrl: model.url }]
    gateways = await startGateways(2, { providers })
    sessions = (await createChatApp(gateways, { model: MODEL })).sessions
  })
  afterEach(async () => {
    model.clear()
    await gateways.end()
    await model.close()
  })

  const at = (place: number) => {
    const [test, session] = [gateways.all[place], sessions[place]]
    if (test === undefined || session === undefined) throw new Error(`there is no gateway ${place}`)
    return { chat: test.engine.chat, session }
  }
  const send = (place: number, query: string, conversation_id?: string) => {
    const { chat, session } = at(place)
    return chat.send(session, { ...MESSAGE, query, ...(conversation_id === undefined ? {} : { conversation_id }) })
  }
  const messages = () =>
    gateways.rows<{ query: string; answer: string; status: string }>(
      'SELECT query, answer, status FROM chat_messages ORDER BY place',
    )
  const asked = () => model.requests.map(({ body }) => body.messages?.at(-1)?.content)

  it('runs one turn at a time, in the order of the messages, each with the previous ones as history', async () => {
    model.script({ kind: 'slow', ms: SLOW_MS })
    const first = await send(0, 'first question')
    const { conversationId } = first.ids
    const second = await send(1, 'second question', conversationId)
    const third = await send(0, 'third question', conversationId)
    await until(() => model.requests.length > 0)
    expect(asked()).toEqual([expect.stringContaining('first question')])
    const ends = await Promise.all([first, second, third].map((turn) => readFrames(turn)))
    expect(ends.map((frames) => frames.at(-1)?.event)).toEqual(['message_end', 'message_end', 'message_end'])
    expect(model.peak()).toBe(1)
    expect(asked().map((text) => /first|second|third/.exec(text ?? '')?.[0])).toEqual(['first', 'second', 'third'])
    const history = model.requests[2]?.body.messages?.map(({ content }) => content).join('\n')
    expect(history).toContain('You said: second question')
    expect((await messages()).map(({ query, status }) => [query, status])).toEqual([
      ['first question', 'normal'],
      ['second question', 'normal'],
      ['third question', 'normal'],
    ])
  })

  it('can be stopped at the other gateway by its user, and keeps the text that was streamed until then', async () => {
    model.script({ kind: 'stall-after', deltas: 2 })
    const turn = await send(0, 'a long question')
    const frames = readFrames(turn)
    const other = at(1)
    await other.chat.stop(other.session, turn.ids.taskId, 'somebody else')
    await until(() => model.requests.length === 1)
    expect(await gateways.rows('SELECT * FROM chat_turn_requests')).toEqual([])
    const waiting = await send(1, 'one that waits', turn.ids.conversationId)
    const waited = readFrames(waiting)
    await other.chat.stop(other.session, turn.ids.taskId, MESSAGE.user)
    expect((await frames).at(-1)?.event).toBe('message_end')
    await waited
    const [stopped, next] = await messages()
    expect([stopped?.status, next?.status]).toEqual(['stopped', 'normal'])
    expect(joinAnswers(await frames)).toBe(stopped?.answer)
  })

  it('can be replayed at the other gateway with the same frames, during the turn and afterwards', async () => {
    const { chat, session } = at(1)
    const turn = await send(0, 'one two three four five six seven eight nine ten')
    const replayed = await chat.replay(session, turn.ids.taskId, MESSAGE.user)
    const [frames, same] = await Promise.all([readFrames(turn), readFrames(replayed)])
    expect(frames.at(-1)?.event).toBe('message_end')
    expect(same).toEqual(frames)
    expect(replayed.ping()).toEqual(turn.ping())
    expect(await readFrames(await chat.replay(session, turn.ids.taskId, MESSAGE.user))).toEqual(frames)
    for (const [task, user] of [
      [turn.ids.taskId, 'somebody else'],
      [turn.ids.messageId, MESSAGE.user],
      ['no id', MESSAGE.user],
    ] as const)
      await expect(chat.replay(session, task, user)).rejects.toMatchObject({ code: 'not_found' })
    // Its rows are removed when no client reads them any more.
    await until(async () => (await gateways.rows('SELECT 1 FROM chat_turn_requests')).length === 0)
    expect(await gateways.rows('SELECT 1 FROM chat_turn_frames')).toEqual([])
  })

  it('continues after a gateway has died: its answer ends as an error, and the next turn runs', async () => {
    model.script({ kind: 'stall-after', deltas: 1 })
    const turn = await send(0, 'a question that nobody answers')
    const frames = readFrames(turn)
    await until(() => model.requests.length === 1)
    const next = await send(1, 'the next question', turn.ids.conversationId)
    const { chat, session } = at(1)
    const followed = readFrames(await chat.replay(session, turn.ids.taskId, MESSAGE.user))
    // Simulates a minute of silence; the next gateway that opens cleans up.
    const [owner] = await gateways.rows<{ claimed_by: string }>('SELECT claimed_by FROM chat_messages WHERE place = 1')
    await gateways.rows('UPDATE gateways SET beat_at = beat_at - 61000 WHERE id = $1', [owner?.claimed_by])
    await gateways.join()
    expect((await readFrames(next)).at(-1)?.event).toBe('message_end')
    expect((await followed).at(-1)).toMatchObject({ event: 'error', code: 'service_unavailable' })
    // The gateway that counts as dead learns this, and does not complete its answer.
    expect((await frames).at(-1)).toMatchObject({ event: 'error', code: 'service_unavailable' })
    expect((await messages()).map(({ status }) => status)).toEqual(['error', 'normal'])
  })

  it('ends its stream at one gateway when it is deleted at the other', async () => {
    model.script({ kind: 'stall-after', deltas: 1 })
    const turn = await send(0, 'a question')
    await until(() => model.requests.length === 1)
    const { chat, session } = at(1)
    await chat.deleteConversation(session, turn.ids.conversationId, MESSAGE.user)
    expect((await readFrames(turn)).at(-1)?.event).toBe('message_end')
    await until(() => model.requests[0]?.isAborted === true)
    expect(await messages()).toEqual([])
  })
})

describe.skipIf(!hasServer)('an application with a limit of concurrent answers', () => {
  it('applies the limit to all gateways together, and accepts one more when an answer ends', async () => {
    const model = await startFakeOpenAi()
    model.always({ kind: 'stall-after', deltas: 1 })
    const providers = [{ pluginId: MODEL.pluginId, provider: MODEL.provider, baseUrl: model.url }]
    const gateways = await startGateways(2, { providers })
    try {
      const { sessions } = await createChatApp(gateways, { model: MODEL, maxConcurrentRequests: 3 })
      const send = (place: number) =>
        gateways.all[place]?.engine.chat.send(sessions[place] as AppSession, { ...MESSAGE, query: 'a question' })
      const sent = await Promise.allSettled([0, 1, 0, 1, 0, 1].map(send))
      const refused = sent.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []))
      expect(refused).toHaveLength(3)
      for (const reason of refused) expect(reason).toMatchObject({ code: 'too_many_requests' })
      const [turn] = sent.flatMap((one) => (one.status === 'fulfilled' && one.value !== undefined ? [one.value] : []))
      await gateways.all[1]?.engine.chat.stop(sessions[1] as AppSession, turn?.ids.taskId ?? '', MESSAGE.user)
      await until(async () => {
        const [row] = await gateways.rows<{ n: string }>(
          "SELECT count(*) n FROM chat_messages WHERE status = 'running'",
        )
        return Number(row?.n) === 2
      })
      await expect(send(1)).resolves.toBeDefined()
    } finally {
      await gateways.end()
      await model.close()
    }
  })
})
