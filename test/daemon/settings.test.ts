import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { removeFolder } from '../../bench/lib/removed-folder.js'
import { loadSettings } from '../../src/daemon/config.js'
import { watchIdle } from '../../src/daemon/idle.js'
import { openLog } from '../../src/daemon/log.js'
import { createRedactor } from '../../src/daemon/redact.js'
import { openRotatingFile } from '../../src/daemon/rotating-file.js'
import { SETTINGS } from '../../src/local/settings.js'
import { until } from '../helpers/until.js'

let root = ''
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'ks-settings-'))
})
afterEach(() => removeFolder(root))

const file = () => join(root, 'config.json')
const load = (env: Record<string, string> = {}, flags = {}) => loadSettings({ file: file(), env, flags })

describe('settings', () => {
  test('come from flags, environment, file and defaults, in this order', () => {
    expect(load()).toMatchObject({ settings: { listen: '127.0.0.1:7733' }, origins: { listen: 'default' } })
    writeFileSync(file(), '{"listen":"127.0.0.1:1"}')
    expect(load()).toMatchObject({ settings: { listen: '127.0.0.1:1' }, origins: { listen: 'file' } })
    const env = { KS_DAEMON_LISTEN: '[::1]:2' }
    expect(load(env)).toMatchObject({ settings: { listen: '[::1]:2' }, origins: { listen: 'environment' } })
    expect(load(env, { listen: 'localhost:3' })).toMatchObject({
      settings: { listen: 'localhost:3' },
      origins: { listen: 'flag' },
    })
    expect(load({ KS_DAEMON_LISTEN: '' }).origins.listen).toBe('file')
  })

  test.each([
    ['{"egressAllow":["10.0.0.0/8"]}'],
    ['{"egress.allow":["10.0.0.0/8"]}'],
    ['{"egress":{"allow":["10.0.0.0/8"]}}'],
  ])('allow egress.allow as %s', (text) => {
    writeFileSync(file(), text)
    expect(load()).toMatchObject({ settings: { egressAllow: ['10.0.0.0/8'] }, origins: { egressAllow: 'file' } })
  })

  test.each([
    ['{"egressAllow":[],"egress.allow":[]}', 'the setting egressAllow is given twice'],
    ['{"egress":{"deny":[]}}', 'unknown setting "egress.deny"'],
    ['{"egress":7}', 'unknown setting "egress"'],
  ])('refuse %s', (text, reason) => {
    writeFileSync(file(), text)
    expect(() => load()).toThrow(reason)
  })

  test('can be parsed from environment variables', () => {
    const { settings } = load({
      KS_DAEMON_SOCKET: '0',
      KS_DAEMON_ALLOWED_HOSTS: 'a.example, b.example:1 ,',
      KS_DAEMON_UPLOAD_BYTES: '10',
      KS_DAEMON_IDLE_EXIT_MINUTES: '0.5',
      KS_DAEMON_QUOTAS: '{"maxNodeCount":7}',
      KS_DAEMON_DEFAULT_EMBEDDING: 'openai-compatible/local/org/model-1',
      KS_DAEMON_PROVIDERS:
        '[{"pluginId":"p","provider":"q","baseUrl":"http://127.0.0.1:1/v1","apiKeyEnv":"K","maxBatch":2}]',
    })
    expect(settings).toMatchObject({
      socket: false,
      allowedHosts: ['a.example', 'b.example:1'],
      uploadBytes: 10,
      idleExitMinutes: 0.5,
      quotas: { maxNodeCount: 7 },
      defaultEmbedding: { pluginId: 'openai-compatible', provider: 'local', model: 'org/model-1' },
      providers: [{ pluginId: 'p', provider: 'q', baseUrl: 'http://127.0.0.1:1/v1', apiKeyEnv: 'K', maxBatch: 2 }],
    })
  })

  test.each<[Record<string, string>, string]>([
    [{ KS_DAEMON_LISTEN: '7733' }, 'setting listen in KS_DAEMON_LISTEN must be host:port'],
    [{ KS_DAEMON_COMPILATION: 'later' }, 'setting compilation in KS_DAEMON_COMPILATION must be one of durable, inline'],
    [{ KS_DAEMON_UPLOAD_BYTES: '1e3' }, 'must be an integer of at least 1'],
    [{ KS_DAEMON_PROVIDERS: '[{"pluginId":"p","provider":"q","baseUrl":"ftp://x"}]' }, 'must be an http or https URL'],
    [
      { KS_DAEMON_PROVIDERS: '[{"pluginId":"p","provider":"q","baseUrl":"http://x","key":"sk-1"}]' },
      'without the key "key"',
    ],
    [{ KS_DAEMON_QUOTAS: 'maxNodeCount=1' }, 'setting quotas in KS_DAEMON_QUOTAS must be an object of quotas'],
    [{ KS_DAEMON_QUOTAS: '{"maxNodes":1}' }, 'without the key "maxNodes"'],
    [{ KS_DAEMON_QUOTAS: '{"maxNodeCount":0}' }, 'must be an integer of at least 1'],
    [{ KS_DAEMON_RETENTION_INTERVAL_MINUTES: '0' }, 'must be a number above 0'],
    [{ KS_DAEMON_RETENTION_BATCH_ROWS: '0' }, 'must be an integer of at least 1'],
  ])('refuse the environment %j', (env, sentence) => {
    expect(() => load(env)).toThrow(sentence)
  })

  test.each<[string, string]>([
    ['{', 'is not valid JSON'],
    ['[]', 'must contain a JSON object'],
    ['{"lisen":1}', 'contains an unknown setting "lisen"'],
    ['{"toString":1}', 'contains an unknown setting "toString"'],
    ['{"allowNetworkDisk":true}', 'is read from the environment only'],
    ['{"socket":"yes"}', 'setting socket in config.json must be true or false'],
  ])('refuse the file %s', (text, sentence) => {
    writeFileSync(file(), text)
    expect(() => load()).toThrow(sentence)
  })

  test('never appear in errors, because a value may be a credential', () => {
    expect(() => load({ KS_DAEMON_PROVIDERS: 'sk-secret' })).toThrow(/^(?!.*sk-secret)/)
  })

  test('each have a distinct environment variable and one line of documentation', () => {
    const settings = Object.values(SETTINGS)
    expect(new Set(settings.map(({ env }) => env)).size).toBe(settings.length)
    for (const { env, doc } of settings) {
      expect(env).toMatch(/^KS_DAEMON_[A-Z_]+$/)
      expect(doc).toMatch(/^[^\n]{10,150}$/)
    }
  })
})

describe('the log', () => {
  test('A75: masks credentials by key and by value', () => {
    const redactor = createRedactor()
    redactor.register('hunter2-and-more')
    redactor.register('short')
    redactor.register('with"quote\\and more')
    const path = join(root, 'log')
    const log = openLog({ path, level: 'info', redactor, echo: false })
    log.logger.info(
      { apiKey: 'a', nested: { Authorization: 'b', list: [{ token: 'c' }] }, ok: 'short' },
      'x hunter2-and-more',
    )
    log.logger.info({ text: 'with"quote\\and more' }, 'y')
    log.logger.error({ err: new Error('failed with hunter2-and-more') }, 'z')
    log.close()
    const lines = readFileSync(path, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(lines[0]).toMatchObject({
      level: 'info',
      apiKey: '[secret]',
      nested: { Authorization: '[secret]', list: [{ token: '[secret]' }] },
      ok: 'short',
      msg: 'x [secret]',
    })
    expect(lines[1].text).toBe('[secret]')
    expect(lines[2].err).toMatchObject({ message: 'failed with [secret]' })
  })

  test('keeps a limited number of files of limited size', () => {
    const path = join(root, 'log')
    const log = openRotatingFile(path, { maxBytes: 100, files: 3 })
    for (let index = 0; index < 40; index++) log.write(`line ${String(index).padStart(3, '0')}\n`)
    log.close()
    expect(readdirSync(root).sort()).toEqual(['log', 'log.1', 'log.2'])
    const kept = ['log.2', 'log.1', 'log'].map((name) => readFileSync(join(root, name), 'utf8'))
    expect(kept.every((text) => text.length <= 100)).toBe(true)
    expect(kept.join('').trim().split('\n').at(-1)).toBe('line 039')
    expect(kept.join('').split('\n').length).toBeGreaterThan(20)
  })
})

test('a daemon exits only after the complete idle time without requests and work', async () => {
  const state = { idleMs: 1_000, busy: true, left: false }
  // Twelve looks take three times as long as the daemon has to be idle.
  let looks = 0
  const watch = watchIdle({
    afterMs: 40,
    idleMs: () => {
      looks++
      return state.idleMs
    },
    isBusy: () => {
      looks++
      return state.busy
    },
    stop: () => (state.left = true),
  })
  await until(() => looks >= 24)
  expect(state.left).toBe(false)
  state.busy = false
  state.idleMs = 0
  looks = 0
  await until(() => looks >= 24)
  expect(state.left).toBe(false)
  state.idleMs = 1_000
  await until(() => state.left)
  watch.close()
})

test('a daemon that cannot determine whether it has work continues to run', async () => {
  let looks = 0
  let left = false
  const busy = async () => {
    looks++
    if (looks < 4) throw new Error('the database is away')
    return false
  }
  const watch = watchIdle({ afterMs: 40, idleMs: () => 1_000, isBusy: busy, stop: () => (left = true) })
  await until(() => left)
  watch.close()
  expect(looks).toBeGreaterThan(4)
})
