import { afterEach, describe, expect, it, vi } from 'vitest'
import { createPlainReply } from '../../src/daemon/handler-replies.js'
import { fingerprintRequest, runIdempotent } from '../../src/daemon/http/idempotency.js'
import { createJsonBytesReply, createJsonReply } from '../../src/daemon/http/reply.js'
import type { RoutedOperation } from '../../src/daemon/routing.js'
import { ADA, startEngine } from '../helpers/engine.js'

afterEach(() => vi.restoreAllMocks())

/** The body that is sent for a handler's reply. */
async function sent(body: unknown): Promise<string> {
  // createPlainReply uses no more of an operation.
  const operation = {
    status: 200,
    handler: () => body,
    bodies: new Map(),
    route: { id: 'GET /x', ok: { 200: 'json' } },
  }
  const reply = await createPlainReply(
    operation as unknown as RoutedOperation,
    {},
    { requestHeaders: new Headers(), checkResponses: false },
  )
  expect(reply.headers['content-type']).toBe('application/json')
  return Buffer.from(reply.body).toString()
}

describe('a JSON response', () => {
  it('with 20,000 entries is encoded in parts below 1 MB that together equal the text of JSON.stringify', async () => {
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

  it('with three entries equals the text of JSON.stringify', async () => {
    expect(await sent({ items: [1, 'é', null] })).toBe('{"items":[1,"é",null]}')
  })

  it('that was encoded in parts can be stored under an Idempotency-Key', async () => {
    const { engine, end } = await startEngine()
    try {
      const body = { items: Array.from({ length: 1_000 }, (_, id) => ({ id, text: 'é漢😀' })) }
      const claim = {
        caller: ADA,
        key: 'long',
        fingerprint: fingerprintRequest({ method: 'POST', target: '/x', body: '{}' }),
      }
      const runs: string[] = []
      const request = (name: string) =>
        runIdempotent(
          engine,
          claim,
          (result) => createJsonReply(200, result),
          async () => {
            runs.push(name)
            return createJsonBytesReply(200, Buffer.from(JSON.stringify(body)))
          },
        )
      await request('first')
      const repeated = await request('again')
      expect(runs).toEqual(['first'])
      expect(repeated.headers['idempotency-replayed']).toBe('true')
      expect(JSON.parse(String(repeated.body))).toEqual(body)
    } finally {
      await end()
    }
  })
})
