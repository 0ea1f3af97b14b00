import { createServer as createTcp } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { HostResolver } from '../../../../src/engine/base/resolve.js'
import { createAddressRule } from '../../../../src/engine/models/egress/addresses.js'
import { createSafeFetch, type SafeFetch } from '../../../../src/engine/models/egress/safe-fetch.js'
import { type PageHandler, redirect, type Site, startSite } from '../../../helpers/site.js'

let canary: Site
let site: Site
let fetch: SafeFetch
const answers = new Map<string, string[][]>()
/** Each name resolves to its lists in turn; the last one is repeated. */
const resolve: HostResolver = (name, done) => {
  const lists = answers.get(name) ?? []
  const list = (lists.length > 1 ? lists.shift() : lists[0]) ?? []
  done(
    null,
    list.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
  )
}
const reason = (url: string, options = {}) =>
  fetch.get(url, options).then(
    () => 'fetched',
    (error: Error) => error.message,
  )
const REFUSED = 'its address is neither public nor listed in egressAllow'

beforeAll(async () => {
  canary = await startSite({}, '127.0.0.1')
  site = await startSite()
  fetch = createSafeFetch(createAddressRule(['127.0.0.2']), resolve)
})
afterAll(async () => {
  await fetch.close()
  await Promise.all([site.end(), canary.end()])
  expect(canary.hits).toEqual([])
})

describe('A46, A48: addresses of outgoing connections', () => {
  const mayDial = createAddressRule([])
  const inside = [
    '127.0.0.1',
    '::1',
    '0.0.0.0',
    '10.1.2.3',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '169.254.169.254',
    '100.64.0.1',
    '192.0.0.1',
    '198.18.0.1',
    '224.0.0.1',
    '255.255.255.255',
    'fc00::1',
    'fd00:ec2::254',
    'fe80::1',
    '::ffff:127.0.0.1',
    '::ffff:a9fe:a9fe',
    '64:ff9b::7f00:1',
    '2002:7f00:1::',
    '::127.0.0.1',
    'fe80::1%lo',
    'ff02::1',
    '100.100.100.200',
    '168.63.129.16',
    '2001:0:7f00:1::',
    'fec0::1',
    '::',
    'nonsense',
  ]
  test.each(inside)('%s is blocked', (address) => expect(mayDial(address)).toBe(false))
  test.each(['8.8.8.8', '2606:4700::1111', '::ffff:8.8.8.8'])('%s is allowed', (address) =>
    expect(mayDial(address)).toBe(true),
  )
  test('no setting allows link-local addresses, metadata services, multicast or 0.0.0.0', () => {
    const all = createAddressRule(['0.0.0.0/0', '::/0', '169.254.169.254'])
    expect(['127.0.0.1', '10.0.0.1', 'fc00::1', '::ffff:10.0.0.1'].every(all)).toBe(true)
    const never = ['169.254.169.254', 'fe80::1', 'fd00:ec2::254', '100.100.100.200', '224.0.0.1', '0.0.0.0']
    expect([...never, '::ffff:a9fe:a9fe', '255.255.255.255', '::'].some(all)).toBe(false)
  })
  test.each(['localhost', '10.0.0.0/33', '10.0.0.0/x', ''])('%j is rejected as an address range', (entry) =>
    expect(() => createAddressRule([entry])).toThrow('such as 10.0.0.0/8'),
  )
})

describe('internal hosts stay unreachable', () => {
  test('A47: through any spelling of an address', async () => {
    const { port } = new URL(canary.url)
    const hosts = [
      '127.0.0.1',
      '127.1',
      '0x7f.1',
      '2130706433',
      '0177.0.0.1',
      '１２７.0.0.1',
      '127。0。0。1',
      '127.0.0.1.',
    ]
    const six = [
      '[::1]',
      '[::ffff:127.0.0.1]',
      '[::ffff:7f00:1]',
      '[64:ff9b::7f00:1]',
      '[2002:7f00:1::]',
      '[::127.0.0.1]',
      '0.0.0.0',
    ]
    for (const host of [...hosts, ...six]) expect(await reason(`http://${host}:${port}/`), host).toBe(REFUSED)
  })

  test('A49: through redirects, chains of them, and other protocols', async () => {
    site.pages.set('/in', redirect(`${canary.url}/secret`, 307))
    site.pages.set('/file', redirect('file:///etc/passwd'))
    site.pages.set('/gopher', redirect('gopher://127.0.0.1/'))
    site.pages.set('/data', redirect('data:text/plain,x'))
    site.pages.set('/user', redirect(`http://u:p@127.0.0.2:${new URL(site.url).port}/`))
    for (let n = 0; n < 20; n++) site.pages.set(`/hop${n}`, redirect(`/hop${n + 1}`))
    expect(await reason(`${site.url}/in`)).toBe(REFUSED)
    for (const path of ['file', 'gopher', 'data'])
      expect(await reason(`${site.url}/${path}`)).toBe('an address that is not http or https')
    expect(await reason(`${site.url}/user`)).toBe('an address with credentials in it')
    site.hits.length = 0
    expect(await reason(`${site.url}/hop0`)).toBe('more than 5 redirects')
    expect(site.hits).toHaveLength(6)
  })

  test('A50: through a name with an internal address among others, or at the second lookup', async () => {
    const { port } = new URL(canary.url)
    answers.set('mixed.test', [['93.184.216.34', '127.0.0.1']])
    answers.set('six.test', [['127.0.0.2', '::1']])
    answers.set('rebind.test', [['127.0.0.2'], ['127.0.0.1']])
    expect(await reason(`http://mixed.test:${port}/`)).toBe(REFUSED)
    expect(await reason(`http://six.test:${port}/`)).toBe(REFUSED)
    // The first address is dialled (nothing listens on this port), the second one is blocked.
    expect(await reason(`http://rebind.test:${port}/`)).toBe('connection refused')
    expect(await reason(`http://rebind.test:${port}/`)).toBe(REFUSED)
  })

  test.each([
    'file:///etc/passwd',
    'ftp://x/',
    'gopher://x/',
    'data:,x',
    'javascript:1',
    'ws://x/',
    'blob:x',
    'unix:/x',
  ])('through the scheme of %s', async (url) => expect(await reason(url)).toBe('an address that is not http or https'))
})

describe('a fetched response', () => {
  test('arrives over redirects that send credentials to the first origin only', async () => {
    const seen: (string | undefined)[] = []
    const other = await startSite({}, '127.0.0.2')
    const noting =
      (answer: PageHandler): PageHandler =>
      (request, response) => {
        seen.push(request.headers.authorization)
        answer(request, response)
      }
    site.pages.set('/a', noting(redirect('/b')))
    site.pages.set('/b', noting(redirect(`${other.url}/c`)))
    other.pages.set(
      '/c',
      noting((_request, response) => response.end('ok')),
    )
    await fetch.get(`${site.url}/a`, { credentials: { authorization: 'Bearer x' } })
    expect(seen).toEqual(['Bearer x', 'Bearer x', undefined])
    await other.end()
  })

  test('gets decoded once and is limited by its decoded size', async () => {
    const packed = (path: string, body: Buffer, encoding: string) =>
      site.pages.set(path, (_request, response) => response.writeHead(200, { 'content-encoding': encoding }).end(body))
    packed('/gz', gzipSync('tides'), 'gzip')
    packed('/bomb', gzipSync(Buffer.alloc(64 * 1024 * 1024)), 'gzip')
    packed('/chain', gzipSync(gzipSync('x')), 'gzip, gzip')
    packed('/broken', Buffer.from('no gzip at all'), 'gzip')
    expect((await fetch.get(`${site.url}/gz`)).body.toString()).toBe('tides')
    expect(await reason(`${site.url}/bomb`)).toBe('more than 20971520 bytes')
    expect(await reason(`${site.url}/chain`)).toBe('unsupported content encoding')
    expect(await reason(`${site.url}/broken`)).toBe('a body that cannot be decoded')
  })

  test('A52: fails when it is endless, too slow, shorter than declared, or has too many headers', async () => {
    site.pages.set('/endless', (_request, response) => {
      const more = () => {
        while (!response.destroyed && response.write(Buffer.alloc(65536)));
        if (!response.destroyed) response.once('drain', more)
      }
      more()
    })
    site.pages.set('/slow', (_request, response) => {
      const timer = setInterval(() => response.write('x'), 50)
      response.on('close', () => clearInterval(timer))
    })
    site.pages.set('/headers', (_request, response) => response.writeHead(200, { 'x-long': 'x'.repeat(100_000) }).end())
    expect(await reason(`${site.url}/endless`)).toBe('more than 20971520 bytes')
    expect(await reason(`${site.url}/slow`, { timeoutMs: 400 })).toBe('no answer within 400 ms')
    expect(await reason(`${site.url}/headers`)).toBe('too many header fields')
    const liar = createTcp((socket) =>
      socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nshort')),
    )
    await new Promise<void>((done) => liar.listen(0, '127.0.0.2', done))
    const { port } = liar.address() as { port: number }
    expect(await reason(`http://127.0.0.2:${port}/`)).toBe('the connection was interrupted')
    liar.close()
  })
})
