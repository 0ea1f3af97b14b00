import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { bodyOf } from '../helpers/daemon.js'
import { type FakeOpenAi, type FakeTranscript, startFakeOpenAi } from '../helpers/fake-openai.js'
import { until } from '../helpers/until.js'
import {
  createFolder,
  forgetDaemon,
  freePort,
  type SettingValues,
  startWholeDaemon,
  stopAllDaemons,
  type WholeDaemon,
} from '../helpers/whole-daemon.js'

/* Sound files and videos as documents, with the text that the configured transcription model returns. */

const LONG_MS = 120_000
/** The smallest WAV: one sample, and some bytes that differ by test, because equal bytes are one document. */
const wav = (own = '') =>
  Buffer.concat([
    Buffer.from('UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQIAAAAAAA==', 'base64'),
    Buffer.from(own),
  ])
const MP4 = Buffer.from('\0\0\0\x18ftypisom\0\0\0\0isommp42 and no film', 'latin1')
const PROVIDER = { pluginId: 'openai-compatible', provider: 'ears' }
const HEARD: FakeTranscript = {
  text: 'The harbour master opens the lock at dawn. The ferry to Foula waits for the pilot.',
  segments: [
    { start: 0, end: 4.2, text: ' The harbour master opens the lock at dawn.' },
    { start: 130.5, end: 136, text: ' The ferry to Foula waits for the pilot.' },
  ],
}

let model: FakeOpenAi
/** the next transcripts: by default immediate and equal */
let hear: (form: Buffer) => FakeTranscript | string | Promise<FakeTranscript | string>

beforeAll(async () => {
  model = await startFakeOpenAi({ transcribe: (form) => hear(form) })
})
afterAll(() => model.close())
beforeEach(() => {
  hear = () => HEARD
  model.requests.length = 0
})
afterEach(async () => {
  model.always()
  await stopAllDaemons()
})

const listening = (url = model.url): SettingValues => ({
  providers: [{ ...PROVIDER, baseUrl: `${url}/v1` }],
  defaultTranscription: { ...PROVIDER, model: 'whisper' },
})

interface Document {
  id: string
  filename: string
  mimeType: string
  parserStatus: string
  metadata: { title?: string; error?: { code: string; message: string } }
}

async function spaceOf({ call }: WholeDaemon): Promise<string> {
  return (await bodyOf<{ id: string }>(await call('POST', '/knowledge-spaces', { json: { name: 'N', slug: 'n' } }))).id
}

const add = async ({ call }: WholeDaemon, space: string, file: File) =>
  (await bodyOf<{ asset: Document }>(await call('POST', `/knowledge-spaces/${space}/documents`, { form: { file } })))
    .asset

const documents = async ({ call }: WholeDaemon, space: string) =>
  (await bodyOf<{ items: Document[] }>(await call('GET', `/knowledge-spaces/${space}/documents?limit=100`))).items

/** A document after its compilation. */
async function ended(started: WholeDaemon, space: string, filename: string): Promise<Document | undefined> {
  const find = async () => (await documents(started, space)).find((one) => one.filename === filename)
  await until(async () => (await find())?.parserStatus !== 'pending', LONG_MS)
  return await find()
}

interface Found {
  text: string
  citations: { sectionPath: string[] }[]
  metadata: { filename: string; transcript?: { by: string } }
}

const search = async ({ call }: WholeDaemon, space: string, query: string) =>
  (
    await bodyOf<{ items: Found[] }>(
      await call('POST', `/knowledge-spaces/${space}/queries/search`, { json: { query } }),
    )
  ).items

const jobs = async ({ call }: WholeDaemon, space: string) =>
  (
    await bodyOf<{ items: { id: string; stage: string; error?: string }[] }>(
      await call('GET', `/knowledge-spaces/${space}/jobs`),
    )
  ).items

it("a recording is found by its transcript, with times and the model's name", {
  timeout: LONG_MS,
}, async () => {
  const started = await startWholeDaemon(listening())
  const space = await spaceOf(started)
  const { id } = await add(started, space, new File([wav()], 'harbour talk.wav'))
  expect(await ended(started, space, 'harbour talk.wav')).toMatchObject({
    parserStatus: 'parsed',
    mimeType: 'audio/wav',
    metadata: { title: 'harbour talk' },
  })
  const [found] = await search(started, space, 'ferry to Foula')
  expect(found).toMatchObject({
    text: 'The ferry to Foula waits for the pilot.',
    citations: [{ sectionPath: ['00:02:00 – 00:04:00'] }],
    metadata: { filename: 'harbour talk.wav', transcript: { by: 'ears/whisper' } },
  })
  const artifact = await started.call('GET', `/knowledge-spaces/${space}/documents/${id}/parse-artifacts/1`)
  expect(await artifact.text()).toMatch(/"startTime":"00:02:10"/)
  expect(model.requests).toHaveLength(1)
  expect(model.requests[0]?.raw.toString('latin1')).toMatch(/filename="audio\.wav"[\s\S]*content-type: audio\/wav/)
})

it('a video is sent unchanged, and a model without times gets a second request for plain text', {
  timeout: LONG_MS,
}, async () => {
  const plain = await startFakeOpenAi({ transcribe: () => 'The keel was laid in Leith.', refuses: ['times'] })
  try {
    const started = await startWholeDaemon(listening(plain.url))
    const space = await spaceOf(started)
    await add(started, space, new File([MP4], 'launch.mov'))
    expect(await ended(started, space, 'launch.mov')).toMatchObject({ parserStatus: 'parsed', mimeType: 'video/mp4' })
    await add(started, space, new File([wav()], 'other.wav'))
    await ended(started, space, 'other.wav')
    expect((await search(started, space, 'keel in Leith'))[0]?.text).toBe('The keel was laid in Leith.')
    const asked = plain.requests.map(({ raw }) => /(?:verbose_)?json/.exec(raw.toString('latin1'))?.[0])
    expect(asked).toEqual(['verbose_json', 'json', 'json'])
    expect(plain.requests[0]?.raw.toString('latin1')).toContain('filename="audio.mp4"')
  } finally {
    await plain.close()
  }
})

it('a recording without a configured model fails with instructions, and a reindex after configuration succeeds', {
  timeout: LONG_MS,
}, async () => {
  const dataDir = createFolder()
  const before = await startWholeDaemon({}, 'manual', dataDir)
  const space = await spaceOf(before)
  const { id } = await add(before, space, new File([wav()], 'talk.wav'))
  const refused = await ended(before, space, 'talk.wav')
  expect(refused?.parserStatus).toBe('failed')
  const [job] = await jobs(before, space)
  expect(job?.error).toContain(
    'a sound file (audio/wav): reading it needs a transcription model, `defaultTranscription` in the configuration of the daemon',
  )
  await stop(before)
  const after = await startWholeDaemon(listening(), 'manual', dataDir)
  await after.call('POST', `/knowledge-spaces/${space}/documents/bulk/reindex`, { json: { documentIds: [id] } })
  expect(await ended(after, space, 'talk.wav')).toMatchObject({ parserStatus: 'parsed' })
  expect(await search(after, space, 'harbour master')).not.toHaveLength(0)
})

it('a transcript is stored: restarts and reindexing send no further requests', { timeout: LONG_MS }, async () => {
  const dataDir = createFolder()
  const before = await startWholeDaemon(listening(), 'manual', dataDir)
  const space = await spaceOf(before)
  const { id } = await add(before, space, new File([wav()], 'talk.wav'))
  await ended(before, space, 'talk.wav')
  await stop(before)
  const again = async (settings: SettingValues) => {
    const started = await startWholeDaemon(settings, 'manual', dataDir)
    const path = `/knowledge-spaces/${space}/documents/bulk/reindex`
    await started.call('POST', path, { json: { documentIds: [id] } })
    await until(async () => (await jobs(started, space)).every(({ stage }) => stage === 'published'), LONG_MS)
    expect(await search(started, space, 'harbour master')).not.toHaveLength(0)
    await stop(started)
  }
  await again(listening())
  // This also holds without a configured model.
  await again({})
  expect(model.requests).toHaveLength(1)
})

it('an unreachable provider is retried until the transcript is complete', { timeout: LONG_MS }, async () => {
  const port = await freePort()
  const started = await startWholeDaemon(listening(`http://127.0.0.1:${port}`))
  const space = await spaceOf(started)
  await add(started, space, new File([wav()], 'talk.wav'))
  await until(async () => /could not be reached/.test((await jobs(started, space))[0]?.error ?? ''), LONG_MS)
  expect((await documents(started, space))[0]?.parserStatus).toBe('pending')
  const late = await startFakeOpenAi({ transcribe: () => HEARD, port })
  try {
    expect(await ended(started, space, 'talk.wav')).toMatchObject({ parserStatus: 'parsed' })
    expect(await search(started, space, 'harbour master')).not.toHaveLength(0)
  } finally {
    await late.close()
  }
})

it('a transcription that the provider refuses fails at once, with the reason and the media type', {
  timeout: LONG_MS,
}, async () => {
  const started = await startWholeDaemon(listening())
  const space = await spaceOf(started)
  for (const [status, own] of [
    [413, 'large'],
    [400, 'odd'],
    [401, 'key'],
  ] as const) {
    model.always({ kind: 'status', status })
    await add(started, space, new File([wav(own)], `${own}.wav`))
    expect(await ended(started, space, `${own}.wav`)).toMatchObject({ parserStatus: 'failed' })
    model.always()
  }
  const errors = (await jobs(started, space)).map(({ error = '' }) => error)
  expect(errors.find((one) => one.startsWith('large.wav'))).toMatch(/refused the request \(4xx\): .*audio\/wav.*MB/)
  expect(errors.find((one) => one.startsWith('large.wav'))).not.toContain('maxChars')
  expect(errors.find((one) => one.startsWith('odd.wav'))).toMatch(/may not take audio\/wav.*`convert`/)
  expect(errors.find((one) => one.startsWith('key.wav'))).toMatch(/refused the credentials \(401\).*key is wrong/)
  // Only the first request is repeated in its second form.
  expect(model.requests).toHaveLength(4)
})

it('during a transcription further documents are published, and deleting the recording aborts the request', {
  timeout: LONG_MS,
}, async () => {
  let answer = (_: FakeTranscript): void => {}
  hear = () => new Promise((resolve) => (answer = resolve))
  const started = await startWholeDaemon(listening())
  const space = await spaceOf(started)
  const { id } = await add(started, space, new File([wav('slow')], 'slow.wav'))
  await add(started, space, new File([wav('next')], 'next.wav'))
  await until(() => model.requests.length === 1, LONG_MS)
  const notes = Array.from({ length: 80 }, (_, n) => `note-${n}.md`)
  for (const name of notes) await add(started, space, new File([`# ${name}\n\nThe buoy of ${name} is red.`], name))
  for (const name of notes) expect(await ended(started, space, name)).toMatchObject({ parserStatus: 'parsed' })
  expect(model.requests[0]?.isClosed).toBe(false)
  // one at a time
  expect(model.requests).toHaveLength(1)
  await started.call('DELETE', `/knowledge-spaces/${space}/documents/bulk`, { json: { documentIds: [id] } })
  await until(() => model.requests[0]?.isAborted === true, LONG_MS)
  await until(() => model.requests.length === 2, LONG_MS)
  answer(HEARD)
  expect(await ended(started, space, 'next.wav')).toMatchObject({ parserStatus: 'parsed' })
  expect((await search(started, space, 'ferry Foula'))[0]?.metadata.filename).toBe('next.wav')
})

it('a transcription that a stop interrupts runs again after the restart', {
  timeout: LONG_MS,
}, async () => {
  hear = () => new Promise(() => {})
  const dataDir = createFolder()
  const before = await startWholeDaemon(listening(), 'manual', dataDir)
  const space = await spaceOf(before)
  await add(before, space, new File([wav('one')], 'one.wav'))
  await add(before, space, new File([wav('two')], 'two.wav'))
  await until(() => model.requests.length === 1, LONG_MS)
  await stop(before)
  hear = () => HEARD
  const after = await startWholeDaemon(listening(), 'manual', dataDir)
  for (const name of ['one.wav', 'two.wav'])
    expect(await ended(after, space, name)).toMatchObject({ parserStatus: 'parsed' })
})

it('a silent recording fails as without speech after one request', { timeout: LONG_MS }, async () => {
  hear = () => ''
  const started = await startWholeDaemon(listening())
  const space = await spaceOf(started)
  await add(started, space, new File([wav()], 'wind.wav'))
  expect(await ended(started, space, 'wind.wav')).toMatchObject({ parserStatus: 'failed' })
  expect((await jobs(started, space))[0]?.error).toBe(
    'wind.wav: ears/whisper found no speech that could be transcribed',
  )
  expect(model.requests).toHaveLength(1)
})

async function stop({ daemon }: WholeDaemon): Promise<void> {
  daemon.stop('test')
  await daemon.stopped
  forgetDaemon(daemon)
}
