import { afterEach, describe, expect, it, vi } from 'vitest'
import { plainReply } from '../../src/daemon/answer.js'
import type { Operation } from '../../src/daemon/routing.js'

afterEach(() => vi.restoreAllMocks())

/** What is sent for a handler's answer. */
async function sent(body: unknown): Promise<string> {
  // plainReply asks for no more of an operation
  const operation = {
    status: 200,
    handler: () => body,
    bodies: new Map(),
    route: { id: 'GET /x', ok: { 200: 'json' } },
  }
  const reply = await plainReply(operation as unknown as Operation, {}, new Headers(), false)
  expect(reply.headers['content-type']).toBe('application/json')
  return Buffer.from(reply.body).toString()
}

describe('an answer', () => {
  it('is written in pieces when it is long, and is the same', async () => {
    const items = Array.from({ length: 20_000 }, (_, id) => ({ id, text: `text of item ${id}: "quoted" and é漢😀` }))
    const body = { items, text: 'x\n'.repeat(500_000), left: undefined }
    const expected = JSON.stringify(body)
    const stringify = vi.spyOn(JSON, 'stringify')
    const text = await sent(body)
    const longest = Math.max(...stringify.mock.results.map(({ value }) => String(value).length))
    stringify.mockRestore()
    expect(longest).toBeLessThan(1_000_000)
    expect(text).toBe(expected)
  })

  it('is written at once when it is short', async () => {
    expect(await sent({ items: [1, 'é', null] })).toBe('{"items":[1,"é",null]}')
  })
})
