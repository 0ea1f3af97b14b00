import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest'
import { ADA, ask, ingest, uploadOne } from '../../helpers/engine.js'
import { type FakeOpenAi, startFakeOpenAi } from '../../helpers/fake-openai.js'
import {
  createChatApp,
  engineAt,
  type Gateways,
  joinAnswers,
  MESSAGE,
  readFrames,
  startGateways,
} from '../../helpers/gateways.js'
import { hasServer } from '../../helpers/postgres.js'
import { type PostgresProxy, startPostgresProxy } from '../../helpers/postgres-proxy.js'

const MODEL = { pluginId: 'openai-compatible', provider: 'local', model: 'some-model' }
const LAMPS = '# Lamps\n\nThe keeper of the lighthouse fills the lamp with colza oil every evening at sunset.\n'
const QUESTION = 'What does the keeper fill the lamp with?'

describe.skipIf(!hasServer).each(['after', 'before'] as const)('the loss of a connection right %s a commit', (when) => {
  let proxy: PostgresProxy
  let gateways: Gateways
  let model: FakeOpenAi

  beforeEach(async () => {
    proxy = await startPostgresProxy(inject('postgres') ?? '')
    model = await startFakeOpenAi()
    const providers = [{ pluginId: MODEL.pluginId, provider: MODEL.provider, baseUrl: model.url }]
    gateways = await startGateways(0, { providers })
    await gateways.join({ database: proxy.address(gateways.database) })
  })
  afterEach(async () => {
    await gateways.end()
    await proxy.end()
    await model.close()
  })

  const count = async (text: string, ...values: unknown[]) =>
    Number((await gateways.rows<{ n: string }>(text, values))[0]?.n)

  it('leaves the answer to a question complete with one trace', async () => {
    const engine = engineAt(gateways, 0)
    const { id } = await engine.spaces.create(ADA, { name: 'Lighthouse', slug: 'lighthouse' })
    await ingest(engine, ADA, id, { 'lamps.md': LAMPS })
    const lost = proxy.loseCommit(QUESTION, when)
    const asked = await ask(engine, ADA, id, QUESTION)
    await lost
    expect(asked.error).toBeUndefined()
    expect(asked.done.finishReason).toBe('retrieval-evidence')
    expect(await engine.queries.trace(ADA, asked.traceId)).toMatchObject({
      query: QUESTION,
      steps: expect.any(Array),
    })
    expect(await count('SELECT count(*) n FROM traces WHERE query = $1', QUESTION)).toBe(1)
    expect(await count('SELECT count(*) n FROM session_turns WHERE query = $1', QUESTION)).toBe(1)
  })

  it('leaves an upload acknowledged with one document', async () => {
    const engine = engineAt(gateways, 0)
    const { id } = await engine.spaces.create(ADA, { name: 'Lighthouse', slug: 'lighthouse' })
    const lost = proxy.loseCommit('lost-lamps.md', when)
    const accepted = await uploadOne(engine, ADA, id, { filename: 'lost-lamps.md', text: LAMPS })
    await lost
    const document = await engine.documents.settled(ADA, id, accepted)
    expect(document).toMatchObject({ id: accepted.asset.id, parserStatus: 'parsed' })
    expect(await count("SELECT count(*) n FROM documents WHERE filename = 'lost-lamps.md'")).toBe(1)
    expect(await count('SELECT count(*) n FROM jobs')).toBe(1)
    expect((await ask(engine, ADA, id, QUESTION)).answer).toContain('colza oil')
  })

  it('leaves a chat message and its answer stored once, and their stream ends', async () => {
    const { sessions } = await createChatApp(gateways, { model: MODEL })
    const [session] = sessions
    if (session === undefined) throw new Error('no session')
    const lost = [proxy.loseCommit('a lost question', when), proxy.loseCommit('You said: a lost question', when)]
    const turn = await engineAt(gateways, 0).chat.send(session, { ...MESSAGE, query: 'a lost question' })
    const frames = await readFrames(turn)
    await Promise.all(lost)
    expect(frames.at(-1)?.event).toBe('message_end')
    expect(joinAnswers(frames)).toBe('You said: a lost question')
    expect(await gateways.rows('SELECT id, answer, status FROM chat_messages')).toEqual([
      { id: turn.ids.messageId, answer: 'You said: a lost question', status: 'normal' },
    ])
  })
})
