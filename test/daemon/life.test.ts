import { once } from 'node:events'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { type IncomingMessage, request } from 'node:http'
import { execa } from 'execa'
import { decodeJwt } from 'jose'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { readDaemonFile } from '../../src/local/daemon-file.js'
import { createToken, LOCAL_TENANT, readCliToken } from '../../src/local/keys.js'
import { resolveDataLayout } from '../../src/local/layout.js'
import { isLocked } from '../../src/local/lock.js'
import { type DaemonProcess, spawnKsd, startKsd, temporaryDir } from '../helpers/daemon.js'
import { until } from '../helpers/until.js'

const LOCK_MODULE = new URL('../../dist/local/lock.js', import.meta.url).href

let home: ReturnType<typeof temporaryDir>
const running: DaemonProcess[] = []

beforeEach(() => {
  home = temporaryDir()
})
afterEach(async () => {
  for (const daemon of running.splice(0)) if (daemon.child.exitCode === null) await daemon.end('SIGKILL')
  home.remove()
})

async function start(args: string[] = [], env: Record<string, string> = {}): Promise<DaemonProcess> {
  const daemon = await startKsd(home.path, args, env)
  running.push(daemon)
  return daemon
}

const layout = () => resolveDataLayout(home.path)
const token = () => readCliToken(home.path) ?? ''
const ask = (url: string, path: string, init: RequestInit = {}) =>
  fetch(url + path, {
    ...init,
    headers: { authorization: `Bearer ${token()}`, 'content-type': 'application/json', ...init.headers },
  })

async function createSpace(url: string, slug: string): Promise<string> {
  const made = await ask(url, '/knowledge-spaces', { method: 'POST', body: JSON.stringify({ name: slug, slug }) })
  expect(made.status).toBe(201)
  return ((await made.json()) as { id: string }).id
}

describe('a running daemon', () => {
  test('reports its address at startup, and daemon.json contains the same', async () => {
    const { ready, child } = await start()
    expect(ready).toMatchObject({
      pid: child.pid,
      dataDir: home.path,
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
    })
    expect(readDaemonFile(layout().daemonFile)).toMatchObject({ ...ready, mode: 'manual', socket: layout().socket })
    const health = await fetch(`${ready.url}/health`)
    expect(health.headers.get('x-ks-instance')).toBe(ready.instance)
    expect(await health.json()).toMatchObject({ ok: true })
  })

  test('creates the token of the command line for the local tenant', async () => {
    const { ready } = await start()
    const id = await createSpace(ready.url, 'one')
    expect(await (await ask(ready.url, `/knowledge-spaces/${id}`)).json()).toMatchObject({ tenantId: LOCAL_TENANT })
  })

  test('applies the rules for tokens and origins on its unix socket, too', async () => {
    await start()
    expect(await overSocket('/health')).toMatchObject({ status: 200 })
    expect(await overSocket('/knowledge-spaces')).toMatchObject({ status: 401 })
    expect(await overSocket('/knowledge-spaces', { authorization: `Bearer ${token()}` })).toMatchObject({ status: 200 })
    expect(await overSocket('/health', { origin: 'https://evil.example' })).toMatchObject({ status: 403 })
  })

  test('refuses foreign hosts and origins', async () => {
    const { ready } = await start(['--no-socket'])
    expect(existsSync(layout().socket)).toBe(false)
    expect((await overTcp(ready.url, { host: 'evil.example' })).status).toBe(403)
    expect((await overTcp(ready.url, { origin: 'https://evil.example' })).status).toBe(403)
    expect((await overTcp(ready.url, {})).status).toBe(200)
  })

  test('refuses a revoked token at once and after a restart', async () => {
    const first = await start()
    const made = await createToken(home.path, { tenant: 'local', subject: 'guest', scopes: ['knowledge-spaces:read'] })
    const asGuest = (url: string) =>
      ask(url, '/knowledge-spaces', { headers: { authorization: `Bearer ${made.token}` } })
    expect((await asGuest(first.ready.url)).status).toBe(200)
    const revoked = await ask(first.ready.url, `/daemon/tokens/${decodeJwt(made.token).jti}`, { method: 'DELETE' })
    expect(revoked.status).toBe(204)
    expect((await asGuest(first.ready.url)).status).toBe(401)
    expect(await first.end('SIGTERM')).toBe(0)
    expect((await asGuest((await start()).ready.url)).status).toBe(401)
  })

  test('reports its memory and its processes', async () => {
    const { ready } = await start()
    const status = (await (await ask(ready.url, '/daemon/status')).json()) as {
      memory: { rss: number }
      processes: { pid: number }[]
    }
    expect(status.memory.rss).toBeGreaterThan(10 * 1024 * 1024)
    expect(status.processes[0]?.pid).toBe(ready.pid)
  })
})

describe('a second daemon on the same data directory', () => {
  test('exits with 75 and names the process that owns it', async () => {
    const { ready } = await start()
    const second = spawnKsd(home.path, ['--listen', '127.0.0.1:0'])
    expect(await second.exit).toBe(75)
    expect(second.stderr()).toBe(`ksd: the data directory ${home.path} is in use by process ${ready.pid}\n`)
    expect((await fetch(`${ready.url}/health`)).status).toBe(200)
    expect(readDaemonFile(layout().daemonFile)?.instance).toBe(ready.instance)
  })

  test('names the owner of the lock even if daemon.json is missing or from an earlier daemon', async () => {
    const layoutOf = layout()
    const holding = `const { acquireLock } = await import(${JSON.stringify(LOCK_MODULE)})
      globalThis.lock = acquireLock(${JSON.stringify(layoutOf.lock)})
      console.log(typeof lock)
      setInterval(() => {}, 1000)`
    await (await start()).end('SIGKILL')
    const left = readDaemonFile(layoutOf.daemonFile)
    const holder = execa(process.execPath, ['--input-type=module', '-e', holding], {
      stdio: ['ignore', 'pipe', 'inherit'],
      buffer: false,
      reject: false,
    })
    await once(holder.stdout, 'data')
    for (const isLeft of [true, false]) {
      if (!isLeft) rmSync(layoutOf.daemonFile)
      const second = spawnKsd(home.path, ['--listen', '127.0.0.1:0'])
      expect(await second.exit).toBe(75)
      expect(second.stderr()).toBe(`ksd: the data directory ${home.path} is in use by process ${holder.pid}\n`)
    }
    expect(left?.pid).not.toBe(holder.pid)
    holder.kill('SIGKILL')
    await once(holder, 'exit')
  })

  test('exits with 0 and no output in mode auto', async () => {
    await start()
    const second = spawnKsd(home.path, ['--mode', 'auto'])
    expect(await second.exit).toBe(0)
    expect(second.stderr()).toBe('')
  })

  test('exits with 0 unless it is the first of five that start at once in mode auto', async () => {
    const many = Array.from({ length: 5 }, () => spawnKsd(home.path, ['--mode', 'auto', '--listen', '127.0.0.1:0']))
    const ends = many.map(({ exit }) => exit)
    await until(
      async () => (await Promise.race([Promise.all(ends), readDaemonFile(layout().daemonFile)])) !== undefined,
    )
    const winner = readDaemonFile(layout().daemonFile)
    const losers = many.filter(({ child }) => child.pid !== winner?.pid)
    expect(await Promise.all(losers.map(({ exit }) => exit))).toEqual([0, 0, 0, 0])
    process.kill(winner?.pid ?? 0, 'SIGTERM')
    await Promise.all(ends)
  })
})

describe('a killed daemon', () => {
  test('loses nothing that it acknowledged, and the next daemon starts', async () => {
    const first = await start()
    const id = await createSpace(first.ready.url, 'kept')
    expect(await first.end('SIGKILL')).toBe('SIGKILL')
    expect(isLocked(layout().lock)).toBe(false)
    const second = await start()
    expect(second.ready.instance).not.toBe(first.ready.instance)
    expect((await ask(second.ready.url, `/knowledge-spaces/${id}`)).status).toBe(200)
    expect(await overSocket('/health')).toMatchObject({ status: 200 })
  })
})

describe('a stopping daemon', () => {
  test.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
    'exits with 0 on %s and removes its files and lock',
    async (signal) => {
      const daemon = await start()
      await createSpace(daemon.ready.url, 'one')
      expect(await daemon.end(signal)).toBe(0)
      expect(existsSync(layout().daemonFile)).toBe(false)
      expect(existsSync(layout().socket)).toBe(false)
      expect(isLocked(layout().lock)).toBe(false)
      expect(daemon.stderr()).toBe('')
    },
  )

  test('exits after the idle time in mode auto', async () => {
    const daemon = await start(['--mode', 'auto'], { KS_DAEMON_IDLE_EXIT_MINUTES: '0.01' })
    await until(() => daemon.child.exitCode !== null)
    expect(daemon.child.exitCode).toBe(0)
    expect(existsSync(layout().daemonFile)).toBe(false)
  })
})

describe('a daemon that cannot start prints one line with the reason', () => {
  const fails = async (args: string[], env: Record<string, string> = {}) => {
    const daemon = spawnKsd(home.path, args, env)
    const code = await daemon.exit
    return { code, error: daemon.stderr() }
  }

  test('for an invalid setting', async () => {
    expect(await fails([], { KS_DAEMON_SOCKET: 'maybe' })).toEqual({
      code: 2,
      error: 'ksd: setting socket in KS_DAEMON_SOCKET must be true or false\n',
    })
    writeFileSync(layout().config, '{"lisen":"127.0.0.1:1"}')
    expect(await fails([])).toEqual({ code: 2, error: `ksd: ${layout().config} contains an unknown setting "lisen"\n` })
  })

  test('for a port in use', async () => {
    const { ready } = await start()
    const other = temporaryDir()
    const address = new URL(ready.url).host
    const daemon = spawnKsd(other.path, ['--listen', address])
    expect(await daemon.exit).toBe(8)
    expect(daemon.stderr()).toMatch(/^ksd: \S+ is already in use by node ksd\.js \(pid \d+\)\n$/)
    expect(daemon.stderr()).toContain(address)
    other.remove()
  })

  test('for an address that other machines can reach', async () => {
    const { code, error } = await fails(['--listen', '0.0.0.0:0'])
    expect(code).toBe(2)
    expect(error).toMatch(/^ksd: listen 0\.0\.0\.0:0 is not a loopback address/)
  })

  test('F66: for a data directory of a later version', async () => {
    writeFileSync(layout().version, '99\n')
    const { code, error } = await fails([])
    expect(code).toBe(8)
    expect(error).toContain('has layout 99')
  })
})

test('A75: the log contains no credential', async () => {
  writeFileSync(
    layout().config,
    JSON.stringify({
      providers: [{ pluginId: 'openai-compatible', provider: 'p', baseUrl: 'http://127.0.0.1:1', apiKeyEnv: 'MY_KEY' }],
    }),
  )
  const daemon = await start(['--log-level', 'debug'], { MY_KEY: 'sk-very-secret-value' })
  await ask(daemon.ready.url, '/knowledge-spaces?x=sk-very-secret-value')
  await daemon.end('SIGTERM')
  const log = readFileSync(layout().log, 'utf8')
  expect(log).toContain('"msg":"ready"')
  for (const secret of [token(), 'sk-very-secret-value', readFileSync(layout().signingKey, 'utf8').trim()])
    expect(log).not.toContain(secret)
})

interface Answer {
  status: number
  body: string
}

function answer(message: IncomingMessage): Promise<Answer> {
  return new Promise((resolve, reject) => {
    let body = ''
    message.setEncoding('utf8').on('data', (text) => {
      body += text
    })
    message.on('end', () => resolve({ status: message.statusCode ?? 0, body })).on('error', reject)
  })
}

function overSocket(path: string, headers: Record<string, string> = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    request({ socketPath: layout().socket, path, headers }, (message) => resolve(answer(message)))
      .on('error', reject)
      .end()
  })
}

/** fetch does not allow a test to set the Host header */
function overTcp(url: string, headers: Record<string, string>): Promise<Answer> {
  return new Promise((resolve, reject) => {
    request(`${url}/health`, { headers }, (message) => resolve(answer(message)))
      .on('error', reject)
      .end()
  })
}
