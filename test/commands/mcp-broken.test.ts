import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type CliHome, cliHome, isAlive, KS } from '../helpers/cli.js'
import { type FakeOpenAi, startFakeOpenAi } from '../helpers/fake-openai.js'
import { callForText } from '../helpers/mcp.js'
import { until } from '../helpers/until.js'

let home: CliHome
let fake: FakeOpenAi
let client: Client

beforeEach(async () => {
  fake = await startFakeOpenAi({})
  home = cliHome()
  home.env.KS_DAEMON_PROVIDERS = JSON.stringify([
    { pluginId: 'openai-compatible', provider: 'local', baseUrl: fake.url, timeoutMs: 60_000 },
  ])
  home.env.KS_DAEMON_DEFAULT_GENERATOR = 'openai-compatible/local/writer'
  home.file('docs/guide.md', '# Guide\n\nIn August, Ida Keller is on call at extension 4711.\n')
  const { code, stderr } = await home.ks(['ingest', 'docs', '--wait'])
  expect([code, stderr]).toEqual([0, stderr])
  const transport = new StdioClientTransport({ command: process.execPath, args: [KS, 'mcp'], env: home.env })
  client = new Client({ name: 'test', version: '1' })
  await client.connect(transport)
})
afterEach(async () => {
  await client.close()
  await home.end()
  await fake.close()
})

test('ks mcp reports a kill of the daemon during an answer, and continues its session with subscriptions', async () => {
  const uri = 'ks://docs/sources/uploads/docs/guide.md'
  const changed: string[] = []
  client.setNotificationHandler('notifications/resources/updated', ({ params }) => void changed.push(params.uri))
  await client.subscribeResource({ uri })
  fake.always({ kind: 'stall-after', deltas: 3 })
  const asked = callForText(client, 'ask', { question: 'Who is on call in August?' })
  await until(() => fake.requests.some(({ body }) => body.stream === true))
  const pid: number = JSON.parse(readFileSync(join(home.dataDir, 'daemon.json'), 'utf8')).pid
  process.kill(pid, 'SIGKILL')
  await until(() => !isAlive(pid))
  expect(await asked).toMatch(/^(?:unreachable|answer-failed): .*\nNext: /)
  fake.always()
  expect(await callForText(client, 'search', { query: 'who is on call' })).toContain('Ida Keller')
  home.file('docs/guide.md', '# Guide\n\nIn August, Emil Brandt is on call.\n')
  expect((await home.ks(['ingest', 'docs', '--wait'])).code).toBe(0)
  await until(() => changed.includes(uri))
  expect(await callForText(client, 'ask', { question: 'Who is on call in August?' })).toContain('Emil Brandt')
})
