import { afterAll, expect, it } from 'vitest'
import { cliHome, startTestServer } from '../helpers/cli.js'

const EVENTS = 130
const ID = '0192f0c1-2b6c-7e1a-9d7e-1c0a5f6b7d8e'
const home = cliHome()
/**
 * A service with a running task with this number of events, which closes each stream after its limit or the last event.
 */
const server = await startTestServer((request, response) => {
  const { searchParams } = new URL(request.url ?? '', 'http://localhost')
  const from = Number(searchParams.get('cursor') ?? 0)
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (let at = from + 1; at <= Math.min(EVENTS, from + Number(searchParams.get('limit'))); at++)
    response.write(`id: ${at}\nevent: research.stage\ndata: {"stage":"look ${at}"}\n\n`)
  response.end()
})
afterAll(async () => {
  await server.end()
  await home.end()
})

const events = (...flags: string[]) =>
  home.ks(['research', 'show', '--events', ID, '--url', server.url, ...flags], { env: { KS_TOKEN: 'a.b.c' } })
const lines = (text: string) => text.split('\n').filter(Boolean)

it('ks research show prints --events all events of a task into a pipe, even if they take several list pages', async () => {
  const { code, stdout, stderr } = await events()
  expect([code, stderr, lines(stdout).length]).toEqual([0, '', EVENTS])
  expect(new Set(lines(stdout)).size).toBe(EVENTS)
})

it('ks research show with --events a limit reports on stderr where the events continue', async () => {
  const { stdout, stderr } = await events('--limit', '7')
  expect(lines(stdout)).toEqual(Array.from({ length: 7 }, (_, at) => `look ${at + 1}`))
  expect(stderr).toContain('`--cursor 7`')
  expect(lines((await events('--cursor', '7')).stdout)[0]).toBe('look 8')
})
