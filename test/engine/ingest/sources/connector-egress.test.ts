import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { ADA, startEngine, type TestEngine } from '../../../helpers/engine.js'
import { type PageHandler, type Site, startSite } from '../../../helpers/site.js'

/** No connector reaches internal addresses, whatever its address and the responses. */

const KEYS = { accessKeyId: 'AKIA', secretAccessKey: 'secret' }
const PROVIDERS = [
  { provider: 's3', type: 'object-storage' as const, path: '/bucket/', credentials: KEYS },
  { provider: 'webdav', type: 'object-storage' as const, path: '/dav/', credentials: { username: 'u', password: 'p' } },
  { provider: 'notion', type: 'connector' as const, path: '/', credentials: { token: 'secret' } },
  { provider: 'git', type: 'connector' as const, path: '/notes.git', credentials: { token: 'secret' } },
]
type Provider = (typeof PROVIDERS)[number]

const REFUSED = 'its address is neither public nor listed in egressAllow'

let home: TestEngine
let spaceId = ''
let canary: Site
let six: Site
const names = new Map<string, string[][]>()
beforeAll(async () => {
  canary = await startSite({}, '127.0.0.1')
  six = await startSite({}, '::1')
  home = await startEngine({
    sources: {
      egressAllow: ['127.0.0.2'],
      // Each name resolves to its lists in turn; the last one is repeated.
      resolve: (name, done) => {
        const lists = names.get(name) ?? []
        const list = (lists.length > 1 ? lists.shift() : lists[0]) ?? []
        done(
          null,
          list.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
        )
      },
    },
  })
  spaceId = (await home.engine.spaces.create(ADA, { name: 'Inside', slug: 'inside' })).id
})
afterAll(async () => {
  await home.end()
  await Promise.all([canary.end(), six.end()])
})
afterEach(() => {
  expect([...canary.hits, ...six.hits]).toEqual([])
})

const sources = () => home.engine.sources
const create = ({ provider, type, credentials }: Provider, uri: string, more: Record<string, unknown> = {}) =>
  sources().create(ADA, spaceId, {
    name: provider,
    type,
    uri,
    permissionScope: [],
    metadata: { provider, credentials, ...more },
  })
const message = (error: Error) => error.message

/** Every operation that sends a request; the reasons of the failures. */
async function askAll({ type }: Provider, id: string): Promise<string[]> {
  const { error } = await sources().test(ADA, spaceId, id)
  if (type === 'connector') {
    const pages = [{ pageId: 'a'.repeat(32), workspaceId: 'w', type: 'page' }]
    const list = await sources()
      .pages(ADA, spaceId, id)
      .then(() => 'listed', message)
    const take = await sources()
      .importPages(ADA, spaceId, id, { pages })
      .then((done) => done.failed[0]?.error, message)
    return [error ?? 'valid', list, take ?? 'taken']
  }
  const files = [{ id: 'a.md', name: 'a.md' }]
  const list = await sources()
    .files(ADA, spaceId, id, { maxKeys: 10 })
    .then(() => 'listed', message)
  const take = await sources()
    .importFiles(ADA, spaceId, id, { files })
    .then((done) => done.failed[0]?.error, message)
  return [error ?? 'valid', list, take ?? 'taken']
}

const portOf = (url: string) => new URL(url).port

describe.each(PROVIDERS)('a source of $provider', (provider) => {
  const literal = [
    '127.0.0.1',
    '127.1',
    '0x7f.1',
    '2130706433',
    '0177.0.0.1',
    '１２７.0.0.1',
    '127。0。0。1',
    '127.0.0.1.',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[64:ff9b::7f00:1]',
    '[2002:7f00:1::]',
    '[::127.0.0.1]',
    '0.0.0.0',
    '10.0.0.1',
    '172.16.0.1',
    '192.168.1.1',
    '100.64.0.1',
    '192.0.0.1',
    '198.18.0.1',
    '224.0.0.1',
    '169.254.169.254',
    '100.100.100.200',
    '[fd00:ec2::254]',
    '[fc00::1]',
    '[fe80::1]',
    '[fe80::1%25lo]',
    '[ff02::1]',
  ]
  test('A46: cannot be created with any spelling of an internal address', async () => {
    for (const host of literal)
      for (const port of [portOf(canary.url), portOf(six.url)])
        await expect(create(provider, `http://${host}:${port}${provider.path}`), host).rejects.toMatchObject({
          code: 'invalid-request',
        })
  })

  test('cannot be created with a scheme other than HTTP or with credentials in its address', async () => {
    const odd = [
      'file:///etc/passwd',
      'ftp://x/',
      'gopher://127.0.0.1/',
      'data:,x',
      'javascript:1',
      'unix:/x',
      'blob:x',
    ]
    const git = ['ext::sh -c id', 'ssh://-oProxyCommand=id/x', 'git@example.com:x.git', '--upload-pack=id', 'git://x/']
    for (const uri of [...odd, ...git, 'ws://x/', 'jar:x', '/etc/passwd', 'http://user:pass@127.0.0.2/x'])
      await expect(create(provider, uri), uri).rejects.toMatchObject({ code: 'invalid-request' })
  })

  test('cannot allow addresses by its metadata that the operator did not allow', async () => {
    const uri = `http://localhost:${portOf(canary.url)}${provider.path}`
    names.set('localhost', [['127.0.0.1', '::1']])
    const { id } = await create(provider, uri, { egressAllow: ['0.0.0.0/0'], egress: { allow: ['127.0.0.1'] } })
    for (const reason of await askAll(provider, id)) expect(reason).toContain(REFUSED)
    await expect(
      create(provider, uri, { parameters: { egressAllow: ['127.0.0.1'], endpoint: canary.url } }),
    ).rejects.toMatchObject({ code: 'invalid-request' })
  })

  test('A50: dials the checked address, and rejects a name with any internal address', async () => {
    names.set('mixed.test', [['93.184.216.34', '127.0.0.1']])
    names.set('six.test', [['127.0.0.2', '::1']])
    names.set('mapped.test', [['::ffff:127.0.0.1']])
    names.set('meta.test', [['169.254.169.254']])
    for (const name of ['mixed.test', 'six.test', 'mapped.test', 'meta.test']) {
      const { id } = await create(provider, `http://${name}:${portOf(canary.url)}${provider.path}`)
      for (const reason of await askAll(provider, id)) expect(reason, name).toContain(REFUSED)
    }
    // Nothing listens at the first address; every later one is internal.
    names.set('rebind.test', [['127.0.0.2'], ['127.0.0.1']])
    const { id } = await create(provider, `http://rebind.test:${portOf(canary.url)}${provider.path}`)
    const [first, ...later] = await askAll(provider, id)
    expect(first).toMatch(/connection refused|neither public nor listed/)
    for (const reason of later) expect(reason).toContain(REFUSED)
  })

  test('A49: follows no redirect to internal addresses, other schemes or in circles, and leaks no credentials', async () => {
    const seen: (string | undefined)[] = []
    const other = await startHost((request, response) => {
      seen.push(request.headers.authorization)
      response.writeHead(404).end()
    })
    let target = ''
    let status = 302
    const host = await startHost((_request, response) => response.writeHead(status, { location: target }).end())
    const { id } = await create(provider, `${host.url}${provider.path}`)
    for (const to of [
      canary.url,
      'file:///etc/passwd',
      'gopher://127.0.0.1/',
      `http://u:p@127.0.0.2/`,
      `${other.url}/x`,
      '',
    ]) {
      for (status of [301, 302, 303, 307, 308]) {
        target = to === '' ? `${host.url}${provider.path}` : to
        for (const reason of await askAll(provider, id)) expect(reason).not.toMatch(/^(valid|listed|taken)$/)
      }
    }
    expect(seen.filter((one) => one !== undefined)).toEqual([])
    await Promise.all([host.end(), other.end()])
  })
})

test('A30: responses of a drive lead to no other host or parent folder, and a bucket is no address', async () => {
  const [s3, webdav] = PROVIDERS
  const keys = [
    '../../etc/passwd',
    `${canary.url}/x`,
    '//127.0.0.1/x',
    'a\nb',
    'x'.repeat(3000),
    './y',
    'bucket/../../z',
  ]
  const host = await startHost((request, response) => {
    const href = (path: string) => `<D:response><D:href>${path}</D:href></D:response>`
    const contents = keys.map((key) => `<Contents><Key>${key}</Key><Size>1</Size></Contents>`).join('')
    const isDav = request.method === 'PROPFIND'
    response.writeHead(isDav ? 207 : 200, { 'content-type': 'application/xml' })
    response.end(
      isDav
        ? `<D:multistatus xmlns:D="DAV:">${[...keys, '/dav/../secret', '/dav/%2e%2e/x', '/dav/a%2fb', '/dav/ok.md', `${canary.url}/dav/in.md`].map(href).join('')}</D:multistatus>`
        : request.url?.includes('list-type')
          ? `<ListBucketResult><IsTruncated>false</IsTruncated>${contents}</ListBucketResult>`
          : 'bytes of a file',
    )
  })
  const asked: string[] = []
  host.server.on('request', (request) => asked.push(request.url ?? ''))
  const drive = await create(s3!, `${host.url}/bucket/`)
  const files = keys.filter((key) => key !== '').map((id) => ({ id, name: 'x.md' }))
  const done = await sources().importFiles(ADA, spaceId, drive.id, { files })
  // A valid key is an opaque name in the bucket; others are rejected.
  expect(done.failed.map(({ error }) => error)).toContain('a key that no URL can contain')
  expect(asked.every((path) => path.startsWith('/bucket/'))).toBe(true)
  for (const bucket of ['127.0.0.1:1/x', 'arn:aws:s3:::x', '../x', 'a--x-s3', 'http://x'])
    await expect(sources().files(ADA, spaceId, drive.id, { bucket, maxKeys: 1 })).rejects.toMatchObject({
      code: 'invalid-request',
    })
  asked.length = 0
  const folder = await create(webdav!, `${host.url}/dav/`)
  const { buckets } = await sources().files(ADA, spaceId, folder.id, { maxKeys: 100 })
  expect(buckets[0]?.files.map(({ id }) => id)).toEqual(['ab', 'ok.md', 'x'.repeat(3000), 'y'])
  const taken = await sources().importFiles(ADA, spaceId, folder.id, { files: [...files, { id: '/etc/x', name: 'x' }] })
  expect(taken.failed.map(({ error }) => error)).toContain('is outside the location of the source')
  expect(asked.every((path) => path.startsWith('/dav/'))).toBe(true)
  await expect(sources().files(ADA, spaceId, folder.id, { prefix: '../x/', maxKeys: 1 })).rejects.toMatchObject({
    code: 'invalid-request',
  })
  await host.end()
})

async function startHost(answer: PageHandler): Promise<{ url: string; server: Server; end(): Promise<void> }> {
  const server = createServer((request, response) => {
    request.resume()
    answer(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.2', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.2:${port}`,
    server,
    end: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}
