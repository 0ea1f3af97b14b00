import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { DaemonStatus } from '../../src/contract/gateway/system.js'
import { createToken, loadSigningKey, readCliToken } from '../../src/local/keys.js'
import { type DaemonProcess, startKsd, temporaryDir } from '../helpers/daemon.js'
import { until } from '../helpers/until.js'

const PROVIDER_KEY = 'sk-canary-of-the-provider-7f3a'
const home = temporaryDir()
let daemon: DaemonProcess
let token = ''

beforeAll(async () => {
  const provider = {
    pluginId: 'openai-compatible',
    provider: 'p',
    baseUrl: 'http://127.0.0.1:1/v1',
    apiKeyEnv: 'CANARY',
  }
  daemon = await startKsd(home.path, [], { CANARY: PROVIDER_KEY, KS_DAEMON_PROVIDERS: JSON.stringify([provider]) })
  token = readCliToken(home.path) ?? ''
})
afterAll(async () => {
  await daemon.end('SIGKILL')
  home.remove()
})

const ask = (path: string, init: RequestInit = {}, as = token) =>
  fetch(daemon.ready.url + path, { ...init, headers: { authorization: `Bearer ${as}`, ...init.headers } })
const status = async (as = token) => (await (await ask('/daemon/status', {}, as)).json()) as DaemonStatus

/** Uploads a document, so that the daemon starts its child processes. */
async function withChildren(): Promise<number[]> {
  const json = { 'content-type': 'application/json' }
  const body = JSON.stringify({ name: 'Surface', slug: `surface-${Date.now()}` })
  const space = (await (await ask('/knowledge-spaces', { method: 'POST', headers: json, body })).json()) as {
    id: string
  }
  const form = new FormData()
  form.set('file', new Blob(['# Tides\n\nThe tide table of the harbour.\n']), 'tides.md')
  await ask(`/knowledge-spaces/${space.id}/documents`, { method: 'POST', body: form })
  await until(async () => {
    const roles = (await status()).processes?.map(({ role }) => role) ?? []
    return roles.includes('index') && roles.includes('parser')
  })
  return (await status()).processes?.map(({ pid }) => pid) ?? []
}

/** TCP ports on which a process listens. */
function listensOn(pid: number): number[] {
  const sockets = new Set(
    readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
      try {
        return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1] ?? []
      } catch {
        return []
      }
    }),
  )
  const lines = ['tcp', 'tcp6'].flatMap((name) => readFileSync(`/proc/${pid}/net/${name}`, 'utf8').split('\n').slice(1))
  return lines.flatMap((line) => {
    const [, local = '', , state, , , , , , inode = ''] = line.trim().split(/\s+/)
    return state === '0A' && sockets.has(inode) ? [Number.parseInt(local.split(':')[1] ?? '', 16)] : []
  })
}

test.runIf(process.platform === 'linux')(
  'SIGUSR1 opens no debugger in the daemon or its children',
  { timeout: 60_000 },
  async () => {
    const pids = await withChildren()
    expect(pids.length).toBeGreaterThan(2)
    for (const pid of pids) process.kill(pid, 'SIGUSR1')
    // A debugger would open within this time.
    await sleep(1000)
    const own = Number(new URL(daemon.ready.url).port)
    for (const pid of pids) expect(listensOn(pid).filter((port) => port !== own)).toEqual([])
    expect(daemon.stderr()).not.toContain('Debugger')
    expect((await ask('/health')).status).toBe(200)
  },
)

test.runIf(process.platform === 'linux')(
  'A77: no secret appears in process arguments or in the environment of a child',
  { timeout: 60_000 },
  async () => {
    const pids = await withChildren()
    const secrets = [PROVIDER_KEY, token, Buffer.from(loadSigningKey(home.path)).toString('base64url')]
    for (const pid of pids) {
      const files = pid === daemon.ready.pid ? ['cmdline'] : ['cmdline', 'environ']
      for (const file of files) {
        const text = readFileSync(`/proc/${pid}/${file}`, 'utf8')
        for (const secret of secrets) expect(text.includes(secret), `${file} of ${pid}`).toBe(false)
      }
    }
  },
)

test('/daemon/status shows all fields to the operator, and nothing about further tenants to a tenant', async () => {
  await withChildren()
  const { token: guest } = await createToken(home.path, {
    tenant: 'guests',
    subject: 'gil',
    scopes: ['knowledge-spaces:*'],
  })
  const told = await status(guest)
  expect(Object.keys(told).sort()).toEqual(
    ['activity', 'instance', 'limits', 'mode', 'startedAt', 'uptimeMs', 'version'].sort(),
  )
  expect(told.activity).toEqual({ activeJobs: 0, waitingJobs: 0 })
  expect(told.limits.uploadBytes).toBe(512 * 1024 * 1024)
  expect(Object.keys(await status())).toEqual(expect.arrayContaining(['memory', 'eventLoop', 'processes', 'pid']))
})
