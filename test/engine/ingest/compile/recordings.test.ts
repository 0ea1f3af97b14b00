import { Readable } from 'node:stream'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { copyDataDir } from '../../../helpers/copied-store.js'
import { ADA, BOB, startEngine, type TestEngine } from '../../../helpers/engine.js'
import { type FakeOpenAi, startFakeOpenAi } from '../../../helpers/fake-openai.js'
import { until } from '../../../helpers/until.js'

const WAV = Buffer.from('UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQIAAAAAAA==', 'base64')
const PROVIDER = { pluginId: 'openai-compatible', provider: 'ears' }
const LONG_MS = 60_000

let server: FakeOpenAi
/** The response to each form. */
let hear: (form: Buffer) => string | Promise<string>
const open: TestEngine[] = []

beforeAll(async () => {
  server = await startFakeOpenAi({ transcribe: (form) => hear(form) })
})
afterAll(() => server.close())
beforeEach(() => {
  hear = () => 'The lock opens at dawn.'
  server.requests.length = 0
})
afterEach(async () => {
  for (const one of open.splice(0)) await one.end()
})

async function started(dataDir?: string, more: object = {}): Promise<TestEngine> {
  const made = await startEngine({
    providers: [{ ...PROVIDER, baseUrl: `${server.url}/v1`, ...more }],
    defaultTranscription: { ...PROVIDER, model: 'whisper' },
    // Like a restarted daemon: the next process knows that the previous one is gone.
    heldLock: 'lock',
    ...(dataDir === undefined ? {} : { dataDir }),
  })
  open.push(made)
  return made
}

async function upload({ engine }: TestEngine, space: string, names: readonly string[], caller = ADA): Promise<void> {
  const upload = await engine.documents.upload(caller, space, { many: true })
  for (const name of names) {
    const content = name.endsWith('.wav')
      ? Buffer.concat([WAV, Buffer.from(name)])
      : Buffer.from(`# ${name}\n\nA buoy.`)
    await upload.add({ filename: name, content: Readable.from([content]) })
  }
  await upload.commit({})
}

const spaceOf = async ({ engine }: TestEngine, caller = ADA, name = 's') =>
  (await engine.spaces.create(caller, { name, slug: name })).id

const statusOf = async ({ engine }: TestEngine, space: string, caller = ADA) =>
  Object.fromEntries(
    (await engine.documents.list(caller, space, { limit: 100 })).items.map(({ filename, parserStatus }) => [
      filename,
      parserStatus,
    ]),
  )
const isParsed = async (test: TestEngine, space: string, name: string, caller = ADA) =>
  (await statusOf(test, space, caller))[name] === 'parsed'
const jobsOf = async ({ engine }: TestEngine, space: string) =>
  (await engine.jobs.list(ADA, space, { limit: 100 })).items

describe('the transcription of recordings', () => {
  it('resumes at once in the next process after a crash, and sends no finished recording again', {
    timeout: 2 * LONG_MS,
  }, async () => {
    let asked = 0
    hear = () => (++asked === 1 ? 'The lock opens at dawn.' : new Promise<string>(() => {}))
    const first = await started()
    const space = await spaceOf(first)
    await upload(first, space, ['a.wav'])
    await until(() => isParsed(first, space, 'a.wav'), LONG_MS)
    await upload(first, space, ['b.wav'])
    await until(() => asked === 2, LONG_MS)
    // The state after a kill.
    const copy = copyDataDir(first.dataDir)
    hear = () => 'The pilot boards at noon.'
    const second = await started(copy)
    expect((await jobsOf(second, space)).filter(({ stage }) => stage === 'queued')).toHaveLength(1)
    await until(() => isParsed(second, space, 'b.wav'), LONG_MS)
    expect(server.requests).toHaveLength(3)
  })

  it('alternates between spaces', { timeout: 2 * LONG_MS }, async () => {
    const order: string[] = []
    const answers: (() => void)[] = []
    let answerCount = 0
    hear = (form) => {
      order.push(/[ab]\d\.wav/.exec(form.toString('latin1'))?.[0] ?? '')
      // One request at a time.
      expect(answers).toHaveLength(answerCount)
      return new Promise((resolve) => answers.push(() => resolve('Ahoy there, said the pilot.')))
    }
    const test = await started()
    const [mine, other] = [await spaceOf(test), await spaceOf(test, BOB, 'o')]
    await upload(test, mine, ['a1.wav', 'a2.wav', 'a3.wav'])
    await until(() => order.length === 1, LONG_MS)
    await upload(test, other, ['b1.wav', 'note.md'], BOB)
    await until(() => isParsed(test, other, 'note.md', BOB), LONG_MS)
    // The queue has its recording, or is about to get it.
    for (let turn = 1; turn <= 4; turn++) {
      await until(() => answers.length === turn, LONG_MS)
      answerCount = turn
      answers[turn - 1]?.()
    }
    await until(() => isParsed(test, other, 'b1.wav', BOB), LONG_MS)
    await until(
      async () =>
        (await Promise.all(['a1.wav', 'a2.wav', 'a3.wav'].map((name) => isParsed(test, mine, name)))).every(Boolean),
      LONG_MS,
    )
    // In order of arrival it would be the last one.
    expect(order.slice(1, 3)).toContain('b1.wav')
    expect(server.requests).toHaveLength(4)
  })

  it('gets a second attempt after a timeout, then fails with the name of the setting for the timeout', {
    timeout: 2 * LONG_MS,
  }, async () => {
    hear = () => new Promise<string>(() => {})
    const test = await started(undefined, { ingestTimeoutMs: 200 })
    const space = await spaceOf(test)
    await upload(test, space, ['a.wav'])
    await until(async () => (await statusOf(test, space))['a.wav'] === 'failed', LONG_MS)
    const [job] = await jobsOf(test, space)
    expect(job?.error).toMatch(/a\.wav was not transcribed: .*200 ms.*`ingestTimeoutMs`/)
    expect(server.requests).toHaveLength(2)
  })

  it('stops when the job is canceled', { timeout: 2 * LONG_MS }, async () => {
    hear = () => new Promise<string>(() => {})
    const test = await started()
    const space = await spaceOf(test)
    await upload(test, space, ['a.wav'])
    await until(() => server.requests.length === 1, LONG_MS)
    const [job] = await jobsOf(test, space)
    await test.engine.jobs.cancel(ADA, job?.id ?? '')
    await until(() => server.requests[0]?.isAborted === true, LONG_MS)
    expect(await statusOf(test, space)).toEqual({ 'a.wav': 'failed' })
  })
})
