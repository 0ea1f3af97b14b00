import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { execaSync } from 'execa'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bodyOf, temporaryDir } from '../../helpers/daemon.js'
import { startEngine, type TestEngine } from '../../helpers/engine.js'
import { type FakeOpenAi, startFakeOpenAi } from '../../helpers/fake-openai.js'
import { until } from '../../helpers/until.js'
import { type ChatEdge, type Event, eventsOf, startChat } from './helpers.js'

const PROVIDER = { pluginId: 'openai-compatible', provider: 'fake' }
const SPEECH = { ...PROVIDER, model: 'tts-1' }
const LISTENER = { ...PROVIDER, model: 'whisper-1' }
const LOCAL = { pluginId: 'command', provider: 'local', model: 'any' }
const BROKEN = { pluginId: 'command', provider: 'broken', model: 'any' }
const UNKNOWN = '01890000-0000-7000-8000-000000000000'
const MB = 1024 * 1024
const ANSWER =
  'The shop opens at nine in the morning [1]. On Sundays it stays closed for the whole day. A kettle costs forty.'

const hasPrograms = ['espeak-ng', 'pocketsphinx_continuous'].every(
  (program) => !execaSync('which', [program], { reject: false }).failed,
)
if (!hasPrograms) console.log('SKIPPED: espeak-ng or pocketsphinx_continuous is not installed')

/** the sentences to recognize: the free model understands few others of a synthetic voice */
const GRAMMAR = `#JSGF V1.0;
grammar hours;
public <said> = the shop opens at (six | seven | eight | nine | ten | eleven) in the (morning | evening | afternoon);
`

let grammar: ReturnType<typeof temporaryDir>
let model: FakeOpenAi
let running: TestEngine
let chat: ChatEdge
/** key of an application with speech, transcription and a configured voice */
let key: string
let appId: string

beforeAll(async () => {
  model = await startFakeOpenAi({
    answer: () => ANSWER,
    transcribe: (form) => (form.includes('filename="audio.') ? ' hello there ' : 'no file'),
    deltaMs: 2,
  })
  const espeak = ['espeak-ng', '--stdout', '--stdin', '-v', '{voice}', '-s', '130']
  const sphinx = ['pocketsphinx_continuous', '-infile', '{input}', '-samprate', '22050', '-nfft', '1024']
  grammar = temporaryDir()
  writeFileSync(join(grammar.path, 'hours.gram'), GRAMMAR)
  sphinx.push('-jsgf', join(grammar.path, 'hours.gram'), '-logfn', '/dev/null')
  running = await startEngine({
    providers: [
      { ...PROVIDER, baseUrl: `${model.url}/v1` },
      {
        pluginId: 'command',
        provider: 'local',
        speech: { argv: espeak, voice: 'en-us+f3' },
        transcription: { argv: sphinx },
      },
      { pluginId: 'command', provider: 'broken', speech: { argv: ['false'] }, transcription: { argv: ['false'] } },
    ],
    defaultGenerator: { ...PROVIDER, model: 'talker' },
    defaultSpeech: SPEECH,
    defaultTranscription: LISTENER,
  })
  chat = await startChat({}, { engine: running.engine })
  const made = await appWith({
    textToSpeech: { enabled: true, voice: 'nova', autoPlay: true },
    speechToText: { enabled: true },
  })
  key = made.key
  appId = made.appId
})
afterAll(async () => {
  await chat.end()
  await running.end()
  await model.close()
  grammar.remove()
})

async function appWith(fields: object): Promise<{ key: string; appId: string }> {
  const { edge, token } = chat
  const app = await bodyOf<{ id: string }>(
    await edge.send('POST', '/chat-apps', { token, json: { name: 'A', ...fields } }),
  )
  const made = await bodyOf<{ key: string }>(await edge.send('POST', `/chat-apps/${app.id}/keys`, { token }))
  return { key: made.key, appId: app.id }
}

function form(parts: Record<string, string | File>): FormData {
  const data = new FormData()
  for (const [name, value] of Object.entries(parts)) data.append(name, value)
  return data
}

const sound = (name = 'a.mp3', type = 'audio/mpeg', bytes = Buffer.alloc(100, 1)) => new File([bytes], name, { type })
const listen = (body: FormData, token = key) => chat.edge.send('POST', '/v1/audio-to-text', { token, body })
const speak = (json: object, token = key) => chat.edge.send('POST', '/v1/text-to-audio', { token, json })

async function refusal(response: Response): Promise<{ code: string; message: string; status: number }> {
  const body = await bodyOf<{ code: string; message: string; status: number }>(response)
  expect(body.status).toBe(response.status)
  return body
}

async function ask(user: string, token = key, more: object = {}) {
  const json = { query: 'hours?', user, response_mode: 'blocking', ...more }
  const response = await chat.edge.send('POST', '/v1/chat-messages', { token, json })
  return bodyOf<{ message_id: string; conversation_id: string; answer: string }>(response)
}

describe('POST /audio-to-text', () => {
  test('transcribes an audio file, whichever of the usual media types the client declares', async () => {
    for (const file of [
      sound(),
      sound('a.mp4', 'video/mp4'),
      sound('blob', 'audio/webm;codecs=opus'),
      sound('a.WAV', ''),
    ]) {
      const response = await listen(form({ file, user: 'u' }))
      expect(await response.json()).toEqual({ text: 'hello there' })
    }
    const asked = model.requests.at(-1)?.raw.toString('latin1') ?? ''
    expect(asked).toContain('name="model"\r\n\r\nwhisper-1')
    expect(asked).toContain('filename="audio.wav"')
    expect((await listen(form({ user: 'u', file: sound() }))).status).toBe(200)
  })

  test.each([
    ['no file', () => form({ user: 'u' }), 400, 'no_audio_uploaded'],
    [
      'an empty file',
      () => form({ file: sound('a.mp3', 'audio/mpeg', Buffer.alloc(0)), user: 'u' }),
      400,
      'no_audio_uploaded',
    ],
    ['no user', () => form({ file: sound() }), 400, 'invalid_param'],
    ['an Ogg file', () => form({ file: sound('a.ogg', 'audio/ogg'), user: 'u' }), 415, 'unsupported_audio_type'],
    ['a text file', () => form({ file: sound('a.txt', 'text/plain'), user: 'u' }), 415, 'unsupported_audio_type'],
    [
      'an image named a.mp3',
      () => form({ file: sound('a.mp3', 'audio/mpeg', Buffer.from('GIF89a......')), user: 'u' }),
      415,
      'unsupported_audio_type',
    ],
    [
      'more than 15 MB',
      () => form({ file: sound('a.mp3', 'audio/mpeg', Buffer.alloc(15 * MB + 1, 1)), user: 'u' }),
      413,
      'audio_too_large',
    ],
  ])('refuses %s', async (_what, body, status, code) => {
    expect(await refusal(await listen(body()))).toMatchObject({ status, code })
  })

  test('accepts an audio file of 15 MB', async () => {
    const file = sound('a.mp3', 'audio/mpeg', Buffer.alloc(15 * MB, 1))
    expect((await listen(form({ file, user: 'u' }))).status).toBe(200)
  })

  test('refuses audio if the feature is off, if the program fails, or with an unknown key', async () => {
    const off = await appWith({})
    expect(await refusal(await listen(form({ file: sound(), user: 'u' }), off.key))).toMatchObject({
      status: 400,
      code: 'app_unavailable',
    })
    const broken = await appWith({ speechToText: { enabled: true, model: BROKEN } })
    const failed = await refusal(await listen(form({ file: sound(), user: 'u' }), broken.key))
    expect(failed).toMatchObject({ status: 400, code: 'completion_request_error' })
    expect((await listen(form({ file: sound(), user: 'u' }), 'app-none')).status).toBe(401)
  })
})

describe('POST /text-to-audio', () => {
  test('reads a text aloud that is sent as JSON, as a multipart form or URL-encoded', async () => {
    const { edge } = chat
    const fields = { text: 'Good morning', user: 'u', streaming: 'false' }
    const ways = [
      { json: { ...fields, streaming: true } },
      { body: form(fields) },
      {
        body: new URLSearchParams(fields).toString(),
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      },
    ]
    for (const way of ways) {
      const response = await edge.send('POST', '/v1/text-to-audio', { token: key, ...way })
      expect(response.headers.get('content-type')).toBe('audio/mpeg')
      const audio = await response.text()
      expect(audio).toBe('ID3(Good morning)')
      expect(response.headers.get('content-length')).toBe(String(audio.length))
      expect(model.requests.at(-1)?.body).toEqual({
        model: 'tts-1',
        input: 'Good morning',
        voice: 'nova',
        response_format: 'mp3',
      })
    }
    await speak({ text: 'x', user: 'u', voice: 'echo' })
    expect(model.requests.at(-1)?.body.voice).toBe('echo')
  })

  test('reads a message instead of a text if both are sent, and only to the user of the message', async () => {
    const { message_id } = await ask('u')
    const audio = await (await speak({ message_id, text: 'not this', user: 'u' })).text()
    expect(audio).toContain('The shop opens at nine in the morning . On Sundays')
    for (const [id, user] of [
      [message_id, 'v'],
      [message_id, 'nobody'],
      [UNKNOWN, 'u'],
    ])
      expect(await refusal(await speak({ message_id: id, text: 'x', user }))).toEqual({
        code: 'not_found',
        message: 'Message Not Exists.',
        status: 404,
      })
    expect(await (await speak({ message_id: '', text: 'this', user: 'u' })).text()).toBe('ID3(this)')
  })

  test('splits a long text into several requests and returns one audio file', async () => {
    const before = model.requests.length
    const text = 'All work and no play makes a dull day. '.repeat(250)
    const response = await speak({ text, user: 'u' })
    expect(response.status).toBe(200)
    const asked = model.requests.slice(before).map(({ body }) => String(body.input))
    expect(asked.length).toBeGreaterThan(1)
    for (const piece of asked) expect(piece.length).toBeLessThanOrEqual(4096)
    expect(asked.join(' ').split('dull day')).toHaveLength(251)
  })

  test.each([
    ['neither text nor message', { user: 'u' }, 'Text is required'],
    ['a blank text', { user: 'u', text: ' ' }, 'Text is required'],
    ['no user', { text: 'x' }, 'Arg user must be provided'],
    ['a malformed message id', { user: 'u', message_id: 'x' }, 'message_id'],
    ['a text of asterisks', { user: 'u', text: '***' }, 'contains nothing to read aloud'],
    ['a voice that looks like an option', { user: 'u', text: 'x', voice: '-w/etc/x' }, 'voice'],
    ['a text of more than 10,000 characters', { user: 'u', text: 'x'.repeat(10_001) }, 'text'],
  ])('refuses %s', async (_what, json, sentence) => {
    const body = await refusal(await speak(json))
    expect(body).toMatchObject({ status: 400, code: 'invalid_param' })
    expect(body.message).toContain(sentence)
  })

  test('refuses a text if the feature is off, if the program fails, or if the body has another type', async () => {
    const off = await appWith({})
    expect(await refusal(await speak({ text: 'x', user: 'u' }, off.key))).toMatchObject({ code: 'app_unavailable' })
    const broken = await appWith({ textToSpeech: { enabled: true, model: BROKEN } })
    const failed = await refusal(await speak({ text: 'x', user: 'u' }, broken.key))
    expect(failed).toMatchObject({ status: 400, code: 'completion_request_error' })
    const xml = { token: key, body: '<a/>', headers: { 'content-type': 'text/xml' } }
    expect(await refusal(await chat.edge.send('POST', '/v1/text-to-audio', xml))).toMatchObject({ code: 'bad_request' })
  })

  test('answers 400 without an audio model, and /parameters reports both features as off', async () => {
    const features = {
      textToSpeech: { enabled: true, voice: 'v1', language: 'en-US' },
      speechToText: { enabled: true },
    }
    const deaf = await startChat(features)
    try {
      const spoken = await deaf.chat('POST', '/text-to-audio', { json: { text: 'x', user: 'u' } })
      expect(await refusal(spoken)).toMatchObject({ status: 400, code: 'provider_not_initialize' })
      const heard = await deaf.chat('POST', '/audio-to-text', { body: form({ file: sound(), user: 'u' }) })
      expect(await refusal(heard)).toMatchObject({ status: 400, code: 'provider_not_support_speech_to_text' })
      expect(await bodyOf(await deaf.chat('GET', '/parameters'))).toMatchObject({
        speech_to_text: { enabled: false },
        text_to_speech: { enabled: false, voice: 'v1', language: 'en-US', autoPlay: 'disabled' },
      })
    } finally {
      await deaf.end()
    }
    expect(await bodyOf(await chat.edge.send('GET', '/v1/parameters', { token: key }))).toMatchObject({
      speech_to_text: { enabled: true },
      text_to_speech: { enabled: true, voice: 'nova', language: '', autoPlay: 'enabled' },
    })
    const wrong = { textToSpeech: { model: { ...SPEECH, provider: 'none' } } }
    const change = { token: chat.token, json: wrong }
    expect((await chat.edge.send('PATCH', `/chat-apps/${appId}`, change)).status).toBe(400)
  })
})

describe('the audio of chat answers', () => {
  const stream = async (user: string, token = key) => {
    const json = { query: 'hours?', user }
    return chat.edge.send('POST', '/v1/chat-messages', { token, json })
  }
  const heard = (events: Event[]) =>
    Buffer.concat(
      events.filter(({ event }) => event === 'tts_message').map(({ audio }) => Buffer.from(String(audio), 'base64')),
    )

  test('arrives sentence by sentence between the text events of a stream, and ends after message_end', async () => {
    const events = await eventsOf(await stream('a'))
    const kinds = events.map(({ event }) => event)
    expect(kinds.at(-1)).toBe('tts_message_end')
    expect(kinds.filter((kind) => kind === 'tts_message_end')).toHaveLength(1)
    expect(kinds.indexOf('tts_message')).toBeLessThan(kinds.indexOf('message_end'))
    expect(events.at(-1)).toMatchObject({ audio: '' })
    expect(new Set(events.map(({ message_id }) => message_id)).size).toBe(1)
    expect(heard(events).toString()).toBe(
      'ID3(The shop opens at nine in the morning .)ID3(On Sundays it stays closed for the whole day.)ID3(A kettle costs forty.)',
    )
    // A replay omits the audio.
    const again = await chat.edge.send('GET', `/v1/chat-messages/${events[0]?.task_id}/events?user=a`, { token: key })
    const replayed = (await eventsOf(again)).map(({ event }) => event)
    expect(replayed).not.toContain('tts_message')
    expect(replayed).toContain('message_end')
  })

  test('does not exist in blocking mode and in applications without autoPlay', async () => {
    const before = model.requests.filter(({ path }) => path.endsWith('/speech')).length
    await ask('b')
    const quiet = await appWith({ textToSpeech: { enabled: true } })
    const events = await eventsOf(await stream('b', quiet.key))
    expect(events.at(-1)?.event).toBe('message_end')
    expect(model.requests.filter(({ path }) => path.endsWith('/speech'))).toHaveLength(before)
  })

  test('does not exist if the speech program fails; the text of the answer ends with message_end', async () => {
    const broken = await appWith({ textToSpeech: { enabled: true, autoPlay: true, model: BROKEN } })
    const events = await eventsOf(await stream('c', broken.key))
    const kinds = events.map(({ event }) => event)
    expect(kinds).not.toContain('tts_message')
    expect(kinds.slice(-2)).toEqual(['message_end', 'tts_message_end'])
  })

  test('ends when the turn is stopped; if the client disconnects, the history contains the complete answer', async () => {
    const marks = join(running.dataDir, 'spoken')
    const slow = `require('fs').appendFileSync(${JSON.stringify(marks)}, 'x'); setTimeout(() => console.log('ID3'), 60000)`
    writeFileSync(join(running.dataDir, 'slow.cjs'), slow)
    const program = [process.execPath, join(running.dataDir, 'slow.cjs')]
    const engine = await startEngine({
      providers: [
        { ...PROVIDER, baseUrl: `${model.url}/v1` },
        { pluginId: 'command', provider: 'slow', speech: { argv: program }, timeoutMs: 60_000 },
      ],
      defaultGenerator: { ...PROVIDER, model: 'talker' },
      defaultSpeech: { ...LOCAL, provider: 'slow' },
    })
    const other = await startChat(
      { knowledgeSpaceIds: [], textToSpeech: { enabled: true, autoPlay: true } },
      { engine: engine.engine },
    )
    try {
      const response = await other.chat('POST', '/chat-messages', { json: { query: 'hours?', user: 'd' } })
      const reader = response.body?.getReader()
      let text = ''
      const read = async () => {
        const chunk = await reader?.read()
        text += new TextDecoder().decode(chunk?.value)
        return chunk?.done === true
      }
      while (!text.includes('message_end')) await read()
      const { task_id } = JSON.parse(text.slice(6, text.indexOf('\n')))
      await other.chat('POST', `/chat-messages/${task_id}/stop`, { json: { user: 'd' } })
      while (!(await read()));
      expect(text).toContain('tts_message_end')
      const left = await other.chat('POST', '/chat-messages', { json: { query: 'hours?', user: 'd' } })
      const leaving = left.body?.getReader()
      const first = new TextDecoder().decode((await leaving?.read())?.value)
      await leaving?.cancel()
      const { conversation_id } = JSON.parse(first.slice(6))
      await until(async () => {
        const page = await other.chat('GET', `/messages?user=d&conversation_id=${conversation_id}`)
        return (await bodyOf<{ data: { answer: string }[] }>(page)).data[0]?.answer === ANSWER
      })
      await until(async () => (await engine.engine.activity()).runningQueries === 0)
    } finally {
      await other.end()
      await engine.end()
    }
  })
})

describe.skipIf(!hasPrograms)('installed audio programs', () => {
  test('pocketsphinx transcribes what espeak-ng speaks', async () => {
    const local = await appWith({
      textToSpeech: { enabled: true, model: LOCAL, autoPlay: true },
      speechToText: { enabled: true, model: LOCAL },
    })
    for (const said of ['the shop opens at nine in the morning', 'the shop opens at ten in the evening']) {
      const spoken = await speak({ text: said, user: 'u' }, local.key)
      expect(spoken.headers.get('content-type')).toBe('audio/wav')
      const bytes = Buffer.from(await spoken.arrayBuffer())
      expect(bytes.readUInt32LE(4)).toBe(bytes.length - 8)
      const heard = await listen(form({ file: sound('said.wav', 'audio/wav', bytes), user: 'u' }), local.key)
      expect(await heard.json()).toEqual({ text: said })
    }
    const events = await eventsOf(
      await chat.edge.send('POST', '/v1/chat-messages', { token: local.key, json: { query: 'hours?', user: 'u' } }),
    )
    expect(events.at(-1)?.event).toBe('tts_message_end')
    const first = events.find(({ event }) => event === 'tts_message')
    expect(Buffer.from(String(first?.audio), 'base64').toString('latin1', 0, 4)).toBe('RIFF')
  })
})
