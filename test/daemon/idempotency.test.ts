import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { bodyOf, startEdge, type TestEdge } from '../helpers/daemon.js'

let edge: TestEdge
beforeAll(async () => {
  edge = await startEdge()
})
afterAll(() => edge.end())

const create = (key: string, json: unknown, token = edge.tokens.ada) =>
  edge.send('POST', '/knowledge-spaces', { token, json, headers: { 'idempotency-key': key } })

test('a request repeated with the same Idempotency-Key gets the stored response, byte for byte', async () => {
  const first = await create('k1', { name: 'A', slug: 'a' })
  const again = await create('k1', { name: 'A', slug: 'a' })
  expect(first.status).toBe(201)
  expect(again.status).toBe(201)
  expect(again.headers.get('idempotency-replayed')).toBe('true')
  expect(again.headers.get('content-type')).toBe('application/json')
  expect(await again.text()).toBe(await first.text())
})

test('a different request with an Idempotency-Key that was used gets 409 idempotency-conflict', async () => {
  await create('k2', { name: 'B', slug: 'b' })
  const other = await create('k2', { name: 'B2', slug: 'b2' })
  expect({ status: other.status, code: other.headers.get('x-error-code') }).toEqual({
    status: 409,
    code: 'idempotency-conflict',
  })
})

test('F55: only one of several concurrent requests with one Idempotency-Key takes effect', async () => {
  const answers = await Promise.all(Array.from({ length: 8 }, () => create('k3', { name: 'C', slug: 'c' })))
  const bodies = await Promise.all(answers.map((answer) => answer.text()))
  const made = answers.flatMap((answer, index) => (answer.status === 201 ? [bodies[index]] : []))
  expect(new Set(made).size).toBe(1)
  expect(answers.every(({ status }) => status === 201 || status === 409)).toBe(true)
})

test('a failed request releases its Idempotency-Key', async () => {
  expect((await create('k4', { name: 'D', slug: 'a' })).status).toBe(409)
  expect((await create('k4', { name: 'D', slug: 'd' })).status).toBe(201)
})

test('A17: an Idempotency-Key of one tenant does not return its response to another tenant', async () => {
  await create('k5', { name: 'E', slug: 'e' })
  const bobs = await create('k5', { name: 'E', slug: 'e' }, edge.tokens.bob)
  expect(bobs.headers.get('idempotency-replayed')).toBeNull()
  expect(bobs.status).toBe(201)
})

test('a DELETE repeated with the same Idempotency-Key gets the stored empty 204', async () => {
  const { id } = await bodyOf<{ id: string }>(await create('k6', { name: 'F', slug: 'f' }))
  const remove = () =>
    edge.send('DELETE', `/knowledge-spaces/${id}`, { token: edge.tokens.ada, headers: { 'idempotency-key': 'k7' } })
  expect([(await remove()).status, (await remove()).status]).toEqual([204, 204])
})

test('an Idempotency-Key may contain 1 to 512 characters', async () => {
  expect((await create('k'.repeat(512), { name: 'G', slug: 'g' })).status).toBe(201)
  const long = await create('k'.repeat(513), { name: 'H', slug: 'h' })
  expect(long.status).toBe(400)
  expect((await bodyOf<{ error: string }>(long)).error).toBe(
    'Idempotency-Key must be 1 to 512 characters long, received 513 characters',
  )
  expect((await create('', { name: 'H', slug: 'h' })).status).toBe(400)
})

test('two uploads with one Idempotency-Key and equal length differ by file name and content, not by boundary', async () => {
  const made = await create('k9', { name: 'U', slug: 'uploads' })
  const { id } = await bodyOf<{ id: string }>(made)
  const upload = (filename: string, text: string, boundary: string, to = '', name = 'file') =>
    edge.send('POST', `/knowledge-spaces/${id}/documents${to}`, {
      token: edge.tokens.ada,
      headers: { 'idempotency-key': `k10${to}`, 'content-type': `multipart/form-data; boundary=${boundary}` },
      body: `--${boundary}\r\nContent-Disposition: form-data; name="${name}"; filename="${filename}"\r\n\r\n${text}\r\n--${boundary}--\r\n`,
    })
  for (const [to, name] of [
    ['', 'file'],
    ['/bulk', 'files'],
  ] as const) {
    const first = await upload('a.md', 'hello', 'one', to, name)
    const again = await upload('a.md', 'hello', 'another', to, name)
    expect([first.status, again.status]).toEqual([202, 202])
    expect(await again.text()).toBe(await first.text())
    for (const other of [
      await upload('a.md', 'jello', 'one', to, name),
      await upload('b.md', 'hello', 'one', to, name),
    ])
      expect({ status: other.status, code: other.headers.get('x-error-code') }).toEqual({
        status: 409,
        code: 'idempotency-conflict',
      })
  }
  const listed = await edge.send('GET', `/knowledge-spaces/${id}/documents`, { token: edge.tokens.ada })
  expect((await bodyOf<{ items: unknown[] }>(listed)).items).toHaveLength(1)
})

test('the secret of an application key is not stored: a repeated request gets null instead', async () => {
  const token = edge.tokens.ada
  const app = await bodyOf<{ id: string }>(await edge.send('POST', '/chat-apps', { token, json: { name: 'Once' } }))
  const make = () => edge.send('POST', `/chat-apps/${app.id}/keys`, { token, headers: { 'idempotency-key': 'once' } })
  const first = await bodyOf<{ id: string; key: string }>(await make())
  expect(first.key).toMatch(/^app-/)
  const again = await make()
  expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([201, 'true'])
  expect(await again.json()).toEqual({ ...first, key: null })
  const { items } = await bodyOf<{ items: unknown[] }>(await edge.send('GET', `/chat-apps/${app.id}/keys`, { token }))
  expect(items).toHaveLength(1)
  for (const file of readdirSync(edge.dataDir, { recursive: true, encoding: 'utf8' })) {
    const path = join(edge.dataDir, file)
    if (statSync(path).isFile()) expect(readFileSync(path).includes(first.key), file).toBe(false)
  }
})
