import { existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { execaSync } from 'execa'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { resolveDataLayout } from '../../src/local/layout.js'
import { isLocked } from '../../src/local/lock.js'
import { SETTINGS, type SettingName } from '../../src/local/settings.js'
import { picture } from '../engine/readers/picture.js'
import { bodyOf } from '../helpers/daemon.js'
import { rowsOf } from '../helpers/databases.js'
import { type FakeOpenAi, startFakeOpenAi } from '../helpers/fake-openai.js'
import { page, startSite } from '../helpers/site.js'
import { until } from '../helpers/until.js'
import {
  createFolder,
  createIdentityProvider,
  fetchHealthStatus,
  forgetDaemon,
  freePort,
  type SettingValues,
  startWholeDaemon,
  stopAllDaemons,
  type WholeDaemon,
} from '../helpers/whole-daemon.js'

const PROVIDER = { pluginId: 'openai-compatible', provider: 'local' }
const READY = 60_000
/** an image */
const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

let model: FakeOpenAi

beforeAll(async () => {
  model = await startFakeOpenAi({ answer: () => 'Said by the model [1].', transcribe: () => 'heard words' })
})
afterAll(() => model.close())
afterEach(async () => {
  model.clear()
  model.requests.length = 0
  await stopAllDaemons()
})

const text = (content: string, name = 'a.md') => new File([content], name)

async function spaceOf({ call }: WholeDaemon, slug = 'notes'): Promise<string> {
  return (await bodyOf<{ id: string }>(await call('POST', '/knowledge-spaces', { json: { name: 'N', slug } }))).id
}

async function withDocument(started: WholeDaemon): Promise<string> {
  const id = await spaceOf(started)
  const form = { file: text('# Hours\n\nThe shop in Oslo opens at nine in the morning.\n') }
  expect((await started.call('POST', `/knowledge-spaces/${id}/documents`, { form })).status).toBe(202)
  await until(async () => {
    const { items } = await bodyOf<{ items: { parserStatus: string }[] }>(
      await started.call('GET', `/knowledge-spaces/${id}/documents`),
    )
    return items[0]?.parserStatus === 'parsed'
  }, READY)
  return id
}

/** The child process that runs a program. */
function childOf(program: string): number {
  const pids = readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').trim().split(' ').filter(Boolean)
  const found = pids.find((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(program))
  if (found === undefined) throw new Error(`no ${program} runs`)
  return Number(found)
}

const query = ({ call }: WholeDaemon, knowledgeSpaceId: string) =>
  call('POST', '/queries', { json: { knowledgeSpaceId, query: 'When does the shop in Oslo open?' } })

const withModel = (
  kind: 'defaultEmbedding' | 'defaultGenerator' | 'defaultSpeech' | 'defaultTranscription' | 'visionModel',
) => ({
  providers: [{ ...PROVIDER, baseUrl: `${model.url}/v1` }],
  [kind]: { ...PROVIDER, model: 'a-model' },
})
const asked = (path: string) => model.requests.filter((request) => request.path.endsWith(path)).map(({ body }) => body)

/** A key of a chat application with these fields. */
async function chatKey({ call }: WholeDaemon, fields: object): Promise<string> {
  const app = await bodyOf<{ id: string }>(await call('POST', '/chat-apps', { json: { name: 'A', ...fields } }))
  return (await bodyOf<{ key: string }>(await call('POST', `/chat-apps/${app.id}/keys`))).key
}

const statusWith = async ({ call }: WholeDaemon, token: string) =>
  (await call('GET', '/knowledge-spaces', { token })).status

async function identityEffect(changed: SettingValues, claims: Record<string, unknown>, refusedBefore: number) {
  const { token, settings } = createIdentityProvider()
  const before = await startWholeDaemon(settings)
  expect(await statusWith(before, await token())).toBe(200)
  expect(await statusWith(before, await token(claims))).toBe(refusedBefore)
  expect(await statusWith(await startWholeDaemon({ ...settings, ...changed }), await token(claims))).toBe(200)
}

/** The effect of each setting, seen from outside. A setting without an effect cannot be listed. */
const EFFECTS = {
  ocrLanguages: ocrEffect,
  visionModel: visionEffect,
  listen: async () => {
    const port = await freePort()
    await startWholeDaemon({ listen: `127.0.0.1:${port}` })
    expect(await fetchHealthStatus(`http://127.0.0.1:${port}`)).toBe(200)
  },
  socket: async () => {
    expect(existsSync((await startWholeDaemon()).daemon.file.socket ?? 'none')).toBe(true)
    const { daemon, dataDir } = await startWholeDaemon({ socket: false })
    expect([daemon.file.socket, existsSync(join(dataDir, 'run', 'sock'))]).toEqual([undefined, false])
  },
  allowedHosts: async () => {
    const headers = { host: 'ks.example' }
    expect(await fetchHealthStatus((await startWholeDaemon()).url, headers)).toBe(403)
    expect(await fetchHealthStatus((await startWholeDaemon({ allowedHosts: ['ks.example'] })).url, headers)).toBe(200)
  },
  allowedOrigins: async () => {
    const headers = { origin: 'https://app.example' }
    expect(await fetchHealthStatus((await startWholeDaemon()).url, headers)).toBe(403)
    expect(
      await fetchHealthStatus((await startWholeDaemon({ allowedOrigins: ['https://app.example'] })).url, headers),
    ).toBe(200)
  },
  chatPages: async () => {
    const app = '0190a0a0-0000-7000-8000-000000000001'
    const page = async (url: string) => (await fetch(`${url}/chat/${app}`)).status
    expect(await page((await startWholeDaemon()).url)).toBe(404)
    expect(await page((await startWholeDaemon({ chatPages: [app] })).url)).toBe(200)
  },
  chatPageFrames: async () => {
    const app = '0190a0a0-0000-7000-8000-000000000001'
    const framesAt = async (url: string) => {
      const { headers } = await fetch(`${url}/chat/${app}`)
      return /frame-ancestors ([^;]*)/.exec(headers.get('content-security-policy') ?? '')?.[1]
    }
    expect(await framesAt((await startWholeDaemon({ chatPages: [app] })).url)).toBe("'none'")
    const given = { chatPages: [app], chatPageFrames: ['https://www.example.com'] }
    expect(await framesAt((await startWholeDaemon(given)).url)).toBe('https://www.example.com')
    await expect(
      startWholeDaemon({ ...given, chatPageFrames: ["https://a.example; script-src 'unsafe-inline'"] }),
    ).rejects.toThrow('chatPageFrames')
  },
  publicUrl: async () => {
    const started = await startWholeDaemon({ ...withModel('defaultGenerator'), publicUrl: 'https://ks.example/base' })
    const token = await chatKey(started, { vision: { enabled: true } })
    const form = { file: new File([PIXEL], 'a.png', { type: 'image/png' }), user: 'eve' }
    const sent = await started.call('POST', '/v1/files/upload', { token, form })
    const { id } = await bodyOf<{ id: string }>(sent)
    const files = [{ type: 'image', transfer_method: 'local_file', upload_file_id: id }]
    const json = { query: 'What is it?', user: 'eve', inputs: {}, response_mode: 'blocking', files }
    const said = await started.call('POST', '/v1/chat-messages', { token, json })
    const { conversation_id: talk } = await bodyOf<{ conversation_id: string }>(said)
    const shown = await started.call('GET', `/v1/messages?user=eve&conversation_id=${talk}`, { token })
    expect(await shown.text()).toContain(`"url":"https://ks.example/base/v1/files/`)
  },
  tlsCert: () => tlsEffect('tlsCert'),
  tlsKey: () => tlsEffect('tlsKey'),
  insecureListen: async () => {
    const listen = '0.0.0.0:0'
    await expect(startWholeDaemon({ listen })).rejects.toThrow('not a loopback address')
    const { url } = await startWholeDaemon({ listen, insecureListen: true })
    expect(await fetchHealthStatus(`http://127.0.0.1:${new URL(url).port}`)).toBe(200)
  },
  compilation: async () => {
    const started = await startWholeDaemon({ compilation: 'inline' })
    const id = await spaceOf(started)
    const sent = await started.call('POST', `/knowledge-spaces/${id}/documents`, {
      form: { file: text('# A\n\nB.\n') },
    })
    expect([sent.status, (await bodyOf<{ parserStatus?: string }>(sent)).parserStatus]).toEqual([201, 'parsed'])
  },
  uploadBytes: async () => {
    const started = await startWholeDaemon({ uploadBytes: 10 })
    const at = `/knowledge-spaces/${await spaceOf(started)}/documents`
    expect((await started.call('POST', at, { form: { file: text('x'.repeat(11)) } })).status).toBe(413)
    expect((await started.call('POST', at, { form: { file: text('x'.repeat(10)) } })).status).toBe(202)
  },
  bulkFiles: async () => {
    const started = await startWholeDaemon({ bulkFiles: 1 })
    const at = `/knowledge-spaces/${await spaceOf(started)}/documents/bulk`
    const two = { files1: text('one'), files2: text('two', 'b.md') }
    expect((await started.call('POST', at, { form: two })).status).toBe(413)
    expect((await started.call('POST', at, { form: { files1: text('one') } })).status).toBe(202)
  },
  bulkBytes: async () => {
    const started = await startWholeDaemon({ bulkBytes: 10 })
    const at = `/knowledge-spaces/${await spaceOf(started)}/documents/bulk`
    const two = { files1: text('x'.repeat(6)), files2: text('y'.repeat(6), 'b.md') }
    expect((await started.call('POST', at, { form: two })).status).toBe(413)
    expect((await started.call('POST', at, { form: { files1: text('x'.repeat(6)) } })).status).toBe(202)
  },
  concurrentQueries: async () => {
    const started = await startWholeDaemon({
      ...withModel('defaultGenerator'),
      concurrentQueries: 1,
      waitingQueries: 0,
    })
    const id = await withDocument(started)
    model.script({ kind: 'slow', ms: 3000 })
    const first = query(started, id)
    await until(() => asked('/chat/completions').length === 1, READY)
    expect((await query(started, id)).status).toBe(429)
    await (await first).text()
  },
  waitingQueries: async () => {
    const started = await startWholeDaemon({
      ...withModel('defaultGenerator'),
      concurrentQueries: 1,
      waitingQueries: 1,
    })
    const id = await withDocument(started)
    model.script({ kind: 'slow', ms: 3000 })
    const first = query(started, id)
    await until(() => asked('/chat/completions').length === 1, READY)
    const others = [query(started, id), query(started, id)]
    expect((await Promise.race(others)).status).toBe(429)
    const all = await Promise.all([first, ...others])
    expect(all.map(({ status }) => status).sort()).toEqual([200, 200, 429])
    for (const one of all) await one.text()
  },
  spacesPerTenant: async () => {
    const started = await startWholeDaemon({ spacesPerTenant: 1 })
    await spaceOf(started)
    const more = await started.call('POST', '/knowledge-spaces', { json: { name: 'M', slug: 'more' } })
    expect(more.status).toBe(429)
  },
  quotas: async () => {
    const started = await startWholeDaemon({ quotas: { maxRawDocumentBytes: 5 } })
    const at = `/knowledge-spaces/${await spaceOf(started)}/documents`
    expect((await started.call('POST', at, { form: { file: text('x'.repeat(6)) } })).status).toBe(429)
  },
  retentionIntervalMinutes: async () => {
    const started = await startWholeDaemon({ retentionIntervalMinutes: 0.001 })
    const answer = await query(started, await spaceOf(started))
    await answer.text()
    const trace = `/queries/${answer.headers.get('x-query-run-id')}`
    expect((await started.call('GET', trace)).status).toBe(200)
    await rowsOf(started.dataDir).run('UPDATE traces SET created_at = 0')
    await until(async () => (await started.call('GET', trace)).status === 404)
  },
  egressAllow: async () => {
    const site = await startSite({ '/': page('Start', 'The page says something.') })
    try {
      const crawl = async (settings: SettingValues) => {
        const started = await startWholeDaemon(settings)
        const at = `/knowledge-spaces/${await spaceOf(started)}/sources`
        const json = { name: 'S', type: 'web', uri: `${site.url}/` }
        const made = await started.call('POST', at, { json })
        if (made.status !== 201) return made.status
        const { id } = await bodyOf<{ id: string }>(made)
        return (await started.call('POST', `${at}/${id}/crawl`)).status
      }
      expect(await crawl({})).toBe(400)
      expect(site.hits).toEqual([])
      expect(await crawl({ egressAllow: ['127.0.0.2'] })).toBe(200)
    } finally {
      await site.end()
    }
  },
  trustedProxies: async () => {
    const app = '0190a0a0-0000-7000-8000-000000000001'
    const statuses = async (settings: SettingValues) => {
      const { url } = await startWholeDaemon({ chatPages: [app], ...settings })
      const begin = async (client: number) => {
        const headers = { 'content-type': 'application/json', 'x-forwarded-for': `203.0.113.${client}` }
        return (await fetch(`${url}/chat/${app}/visits`, { method: 'POST', headers, body: '{}' })).status
      }
      return new Set(await Promise.all(Array.from({ length: 40 }, (_, client) => begin(client))))
    }
    expect(await statuses({})).toEqual(new Set([201, 429]))
    expect(await statuses({ trustedProxies: ['127.0.0.0/8'] })).toEqual(new Set([201]))
  },
  rateLimit: async () => {
    const started = await startWholeDaemon({ rateLimit: 2 })
    const answers = []
    for (let round = 0; round < 3; round++) answers.push(await started.call('GET', '/knowledge-spaces'))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 429])
    expect(Number(answers[2]?.headers.get('retry-after'))).toBeGreaterThan(0)
  },
  providers: () => modelEffect('defaultEmbedding'),
  defaultEmbedding: () => modelEffect('defaultEmbedding'),
  defaultGenerator: () => modelEffect('defaultGenerator'),
  defaultSpeech: async () => {
    const started = await startWholeDaemon(withModel('defaultSpeech'))
    const token = await chatKey(started, { textToSpeech: { enabled: true } })
    await started.call('POST', '/v1/text-to-audio', { token, json: { text: 'Hello.', user: 'eve' } })
    expect(asked('/audio/speech')[0]?.model).toBe('a-model')
  },
  defaultTranscription: async () => {
    const started = await startWholeDaemon(withModel('defaultTranscription'))
    const token = await chatKey(started, { speechToText: { enabled: true } })
    const form = { file: new File([Buffer.alloc(100, 1)], 'a.mp3', { type: 'audio/mpeg' }), user: 'eve' }
    const said = await bodyOf<{ text: string }>(await started.call('POST', '/v1/audio-to-text', { token, form }))
    expect(said.text).toBe('heard words')
  },
  jwtJwksUrl: async () => {
    const { token, settings, jwk } = createIdentityProvider()
    const keys = createServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ keys: [jwk] }))
    })
    await new Promise<void>((resolve) => keys.listen(0, '127.0.0.1', resolve))
    try {
      const { jwtPublicKeyFile: _, ...others } = settings
      const jwtJwksUrl = `http://127.0.0.1:${(keys.address() as AddressInfo).port}/keys`
      expect(await statusWith(await startWholeDaemon({ ...others, jwtJwksUrl }), await token())).toBe(200)
      expect(await statusWith(await startWholeDaemon(), await token())).toBe(401)
    } finally {
      await new Promise((resolve) => keys.close(resolve))
    }
  },
  jwtPublicKeyFile: async () => {
    const { token, settings } = createIdentityProvider()
    expect(await statusWith(await startWholeDaemon(settings), await token())).toBe(200)
    expect(await statusWith(await startWholeDaemon(settings), await createIdentityProvider().token())).toBe(401)
  },
  jwtIssuer: () => identityEffect({ jwtIssuer: 'https://other.example' }, { iss: 'https://other.example' }, 401),
  jwtAudience: () => identityEffect({ jwtAudience: 'others' }, { aud: 'others' }, 401),
  jwtTenantClaim: () => identityEffect({ jwtTenantClaim: 'org' }, { tenant: undefined, org: 'tenant-a' }, 401),
  jwtScopeClaim: () => identityEffect({ jwtScopeClaim: 'scp' }, { scope: '', scp: 'knowledge-spaces:read' }, 403),
  jwtLocalTokens: async () => {
    const { settings } = createIdentityProvider()
    const statusOf = async (given: SettingValues) => {
      const started = await startWholeDaemon(given)
      return (await started.call('GET', '/knowledge-spaces')).status
    }
    expect(await statusOf(settings)).toBe(401)
    expect(await statusOf({ ...settings, jwtLocalTokens: true })).toBe(200)
    expect(await statusOf({ jwtLocalTokens: false })).toBe(401)
  },
  idleExitMinutes: async () => {
    const { daemon } = await startWholeDaemon({ idleExitMinutes: 0.002 }, 'auto')
    await daemon.stopped
  },
  stopSeconds: async () => {
    const started = await startWholeDaemon({ stopSeconds: 0.05 })
    await withDocument(started)
    const index = childOf('index-child.js')
    process.kill(index, 'SIGSTOP')
    started.daemon.stop('test')
    await expect(started.daemon.stopped).rejects.toThrow('could not stop in order within 0.05 s')
    process.kill(index, 'SIGKILL')
    // Late connections close before the folder is removed.
    await until(() => !isLocked(resolveDataLayout(started.dataDir).lock))
    forgetDaemon(started.daemon)
  },
  logLevel: async () => {
    const linesOf = async (settings: SettingValues) =>
      readFileSync(join((await startWholeDaemon(settings)).dataDir, 'logs', 'daemon.log'), 'utf8').length
    expect(await linesOf({})).toBeGreaterThan(0)
    expect(await linesOf({ logLevel: 'error' })).toBe(0)
  },
} satisfies Partial<Record<SettingName, () => Promise<void>>>

/** Settings whose effect another test observes: its file, and a part of its text. */
const ELSEWHERE = {
  allowNetworkDisk: ['test/daemon/network-disk.test.ts', 'KS_DAEMON_ALLOW_NETWORK_DISK'],
  embeddingThreads: ['test/daemon/worker-settings.test.ts', 'embeddingThreads'],
  objects: ['test/daemon/objects-in-bucket.test.ts', '--objects'],
  converters: ['test/daemon/converters.test.ts', 'converters: [{ types'],
  readingProcesses: ['test/daemon/worker-settings.test.ts', 'readingProcesses'],
  search: ['test/postgres/ksd.test.ts', '--search'],
  backend: ['test/postgres/ksd.test.ts', 'KS_DAEMON_BACKEND'],
  backendPasswordFile: ['test/postgres/password.test.ts', 'gets the password from a file'],
  keys: ['test/postgres/ksd.test.ts', 'refuse to start without the same keys'],
  unconfinedPrograms: ['test/daemon/converters.test.ts', 'unconfinedPrograms: true'],
  retentionBatchRows: ['test/engine/upkeep/retention/sweep.test.ts', 'batchRows: 2'],
} as const

async function tlsEffect(missing: 'tlsCert' | 'tlsKey') {
  const at = createFolder()
  const [tlsCert, tlsKey] = [join(at, 'cert.pem'), join(at, 'key.pem')]
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1', '-days', '2', '-nodes']
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1']
  execaSync('openssl', ['req', '-x509', ...curve, '-keyout', tlsKey, '-out', tlsCert, ...subject], { stdio: 'ignore' })
  const both = { tlsCert, tlsKey }
  await expect(startWholeDaemon({ ...both, [missing]: undefined })).rejects.toThrow('must be set together')
  const { url } = await startWholeDaemon(both)
  expect(await fetchHealthStatus(url.replace(/^http:/, 'https:'), {}, readFileSync(tlsCert, 'utf8'))).toBe(200)
}

/** Uploads a file into a new space. @returns the file after its compilation */
async function uploaded(
  started: WholeDaemon,
  file: File,
): Promise<{ parserStatus: string; id: string; space: string }> {
  const space = await spaceOf(started)
  await started.call('POST', `/knowledge-spaces/${space}/documents`, { form: { file } })
  const listed = async () =>
    (
      await bodyOf<{ items: { parserStatus: string; id: string }[] }>(
        await started.call('GET', `/knowledge-spaces/${space}/documents`),
      )
    ).items[0]
  await until(async () => ((await listed())?.parserStatus ?? 'pending') !== 'pending', READY)
  return { ...{ parserStatus: '', id: '' }, ...(await listed()), space }
}

/** Pictures are read in the named languages; a language that is not installed is reported. */
async function ocrEffect() {
  const started = await startWholeDaemon({ ocrLanguages: 'xho' })
  const { parserStatus, space } = await uploaded(started, new File([picture(400, 300)], 'scan.png'))
  expect(parserStatus).toBe('failed')
  const jobs = await (await started.call('GET', `/knowledge-spaces/${space}/jobs`)).text()
  expect(jobs).toContain('the language xho is not installed')
}

async function visionEffect() {
  const started = await startWholeDaemon(withModel('visionModel'))
  const shown = `<img alt="a chart" src="data:image/png;base64,${picture(400, 300).toString('base64')}">`
  const html = `<h1>Harbour</h1><p>${'Herring were landed here all year. '.repeat(20)}</p>${shown}`
  expect(await uploaded(started, text(html, 'a.html'))).toMatchObject({ parserStatus: 'parsed' })
  await until(() => asked('/chat/completions').length > 0, READY)
  expect(asked('/chat/completions')[0]?.model).toBe('a-model')
}

async function modelEffect(kind: 'defaultEmbedding' | 'defaultGenerator') {
  const started = await startWholeDaemon(withModel(kind))
  const id = await withDocument(started)
  await (await query(started, id)).text()
  const path = kind === 'defaultEmbedding' ? '/embeddings' : '/chat/completions'
  await until(() => asked(path).length > 0, READY)
  expect(asked(path)[0]?.model).toBe('a-model')
}

describe('a setting of the daemon with its documented effect', () => {
  test.each(Object.entries(EFFECTS))('%s', (_name, effect) => effect(), READY)

  test('exists in a test for every setting', () => {
    expect([...Object.keys(EFFECTS), ...Object.keys(ELSEWHERE)].sort()).toEqual(Object.keys(SETTINGS).sort())
    for (const [name, [file, words]] of Object.entries(ELSEWHERE))
      expect(readFileSync(join(import.meta.dirname, '../..', file), 'utf8'), name).toContain(words)
  })
})
