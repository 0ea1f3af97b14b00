import { createServer, get } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createClientAddress } from '../../../src/daemon/http/client-address.js'

/** Replies with the client address of a request; the header `trusted` replaces the setting. */
const server = createServer((incoming, response) => {
  const trusted = String(incoming.headers.trusted ?? '').split(' ')
  response.end(createClientAddress(trusted.filter((entry) => entry !== ''))(incoming))
})
beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)))
afterAll(() => new Promise((resolve) => server.close(resolve)))

function seen(trusted: string, forwarded: string | string[]): Promise<string> {
  const { port } = server.address() as AddressInfo
  return new Promise((resolve, reject) => {
    const headers = { trusted, 'x-forwarded-for': forwarded }
    const request = get({ port, host: '127.0.0.1', headers, agent: false }, (response) => {
      let text = ''
      response.on('data', (chunk) => {
        text += chunk
      })
      response.on('end', () => resolve(text))
    })
    request.on('error', reject)
  })
}

test('X-Forwarded-For counts only if a trusted proxy sent it', async () => {
  expect(await seen('', '203.0.113.9')).toBe('127.0.0.1')
  expect(await seen('10.0.0.0/8', '203.0.113.9')).toBe('127.0.0.1')
  expect(await seen('127.0.0.1', '203.0.113.9')).toBe('203.0.113.9')
})

test('the client address is the last address of X-Forwarded-For that is no trusted proxy', async () => {
  expect(await seen('127.0.0.1', '198.51.100.7, 203.0.113.9')).toBe('203.0.113.9')
  expect(await seen('127.0.0.1 10.0.0.0/8', '198.51.100.7, 203.0.113.9, 10.1.2.3')).toBe('203.0.113.9')
  expect(await seen('127.0.0.1', ['198.51.100.7', '203.0.113.9'])).toBe('203.0.113.9')
  expect(await seen('127.0.0.1', '203.0.113.9, not an address')).toBe('127.0.0.1')
})

test('an IPv6 client counts by its /64 network, and addresses may contain a port', async () => {
  expect(await seen('127.0.0.1', '[2001:db8:1:2:3:4:5:6]:4711')).toBe('2001:db8:1:2')
  expect(await seen('127.0.0.1', '2001:db8:1:2:ffff::1')).toBe('2001:db8:1:2')
  expect(await seen('127.0.0.1', '203.0.113.9:4711')).toBe('203.0.113.9')
  expect(await seen('127.0.0.1', '::ffff:203.0.113.9')).toBe('203.0.113.9')
})
