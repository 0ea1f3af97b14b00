import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { hostname, networkInterfaces, tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { removeFolder } from '../../bench/lib/removed-folder.js'
import { findDaemon } from '../../src/client/local-daemon.js'
import { pointsToThisMachine } from '../../src/client/this-machine.js'
import { startTestServer } from '../helpers/cli.js'

it.each([
  'http://127.0.0.1:7733',
  'https://127.1.2.3',
  'http://[::1]:7733',
  'http://localhost:1',
  `http://${hostname()}:1`,
])('%s is an address of this machine', (url) => expect(pointsToThisMachine(url)).toBe(true))

it('the address of a network interface is an address of this machine', () => {
  for (const { address, family } of Object.values(networkInterfaces()).flatMap((found) => found ?? [])) {
    expect(pointsToThisMachine(`http://${family === 'IPv6' ? `[${address}]` : address}:7733`)).toBe(true)
  }
})

it.each([
  'http://192.0.2.1',
  'http://127.0.0.1.example.com',
  'http://localhost.example.com',
  'http://[2001:db8::1]',
  'x',
  '',
])('%s is no address of this machine', (url) => expect(pointsToThisMachine(url)).toBe(false))

it('A57: a daemon.json with a remote address is ignored, even if its socket answers', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'ks-far-'))
  mkdirSync(join(dir, 'run'))
  const socket = join(dir, 'run/sock')
  const server = await startTestServer((_, response) => response.setHeader('x-ks-instance', 'i').end('{}'), socket)
  const write = (url: string) => {
    const file = { instance: 'i', pid: 1, url, socket, version: '1', startedAt: '', mode: 'manual', dataDir: dir }
    writeFileSync(join(dir, 'daemon.json'), JSON.stringify(file))
  }
  try {
    write('http://127.0.0.1:9')
    expect(await findDaemon(dir)).toBeDefined()
    write('http://192.0.2.1:9')
    expect(await findDaemon(dir)).toBeUndefined()
  } finally {
    await server.end()
    removeFolder(dir)
  }
})
