import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createAddressRule } from '../../../src/engine/models/egress/addresses.js'
import { bodyOf, startEdge, type TestEdge } from '../../helpers/daemon.js'
import { page, type Site, startSite } from '../../helpers/site.js'

const OPEN = ['127.0.0.0/8', '::1', '0.0.0.0/0']
/** The egress setting, in every spelling that an attacker might try. */
const SWITCHES = {
  egressAllow: OPEN,
  egress: { allow: OPEN },
  'egress.allow': OPEN,
  allowPrivateNetworks: true,
  internal: true,
  allow_internal: true,
  KS_DAEMON_EGRESS_ALLOW: '127.0.0.0/8',
}

let edge: TestEdge
let canary: Site
let space = ''
let byName = ''
beforeAll(async () => {
  canary = await startSite({ '/': page('Inside', 'What stands inside.') }, '127.0.0.1')
  byName = canary.url.replace('127.0.0.1', 'localhost')
  edge = await startEdge()
  const json = { name: 'Notes', slug: 'notes' }
  space = (await bodyOf<{ id: string }>(await edge.send('POST', '/knowledge-spaces', { token: edge.tokens.ada, json })))
    .id
})
afterAll(async () => {
  await edge.end()
  await canary.end()
})

const at = () => `/knowledge-spaces/${space}/sources`
const send = (method: string, path: string, json?: unknown, headers: Record<string, string> = {}) =>
  edge.send(method, path, { token: edge.tokens.ada, headers, ...(json === undefined ? {} : { json }) })

async function made(metadata: Record<string, unknown>, query = '', headers: Record<string, string> = {}) {
  const source = { name: 'Inside', type: 'web', uri: `${byName}/`, permissionScope: [], metadata }
  return await send('POST', `${at()}${query}`, source, headers)
}

describe('A54: the setting that opens private networks', () => {
  test('cannot be set by a key of a request body', async () => {
    const about = { name: 'x', type: 'web', uri: `${byName}/`, permissionScope: [], metadata: {} }
    for (const [name, value] of Object.entries(SWITCHES)) {
      expect((await send('POST', at(), { ...about, [name]: value })).status, name).toBe(400)
      expect((await send('POST', '/knowledge-spaces', { name: 'y', slug: 'y', [name]: value })).status, name).toBe(400)
    }
    expect(canary.hits).toEqual([])
  })

  test('cannot be set by source metadata, by a header, or by the environment after the start', async () => {
    const headers = { 'x-egress-allow': '127.0.0.0/8', 'x-forwarded-for': '127.0.0.1', 'x-internal': 'true' }
    const answers = [
      await made(SWITCHES),
      await made({ parameters: SWITCHES }),
      await made({ credentials: { token: 'x' }, syncPolicy: { everyHours: 1 }, ...SWITCHES }),
      await made({}, '?egressAllow=127.0.0.0%2F8', headers),
    ]
    const ids: string[] = []
    for (const answer of answers) {
      expect([201, 400]).toContain(answer.status)
      if (answer.status === 201) ids.push((await bodyOf<{ id: string }>(answer)).id)
    }
    expect(ids.length).toBeGreaterThan(0)
    process.env.KS_DAEMON_EGRESS_ALLOW = '127.0.0.0/8'
    try {
      for (const id of ids) {
        await send('PATCH', `${at()}/${id}`, { metadata: { ...SWITCHES, parameters: { maxPages: 1 } } })
        const crawled = await send('POST', `${at()}/${id}/crawl`, undefined, headers)
        expect(crawled.status).toBe(502)
        expect(await crawled.text()).not.toMatch(/127\.0\.0\.1|What stands inside/)
        expect(await bodyOf(await send('POST', `${at()}/${id}/test`))).toMatchObject({ valid: false })
      }
    } finally {
      delete process.env.KS_DAEMON_EGRESS_ALLOW
    }
    for (const provider of ['s3', 'webdav', 'git', 'notion']) {
      const type = provider === 's3' || provider === 'webdav' ? 'object-storage' : 'connector'
      const source = { name: provider, type, uri: `${byName}/x/`, permissionScope: [] }
      const metadata = { provider, ...SWITCHES, ...(provider === 'notion' ? { credentials: { token: 'x' } } : {}) }
      const answer = await send('POST', at(), { ...source, metadata })
      if (answer.status !== 201) continue
      const { id } = await bodyOf<{ id: string }>(answer)
      expect(await bodyOf(await send('POST', `${at()}/${id}/test`)), provider).toMatchObject({ valid: false })
    }
    expect(canary.hits).toEqual([])
  })

  test('never opens cloud metadata addresses, whatever the operator lists', () => {
    const rule = createAddressRule([
      '0.0.0.0/0',
      '::/0',
      '169.254.0.0/16',
      '169.254.169.254',
      'fd00::/8',
      '100.64.0.0/10',
    ])
    expect(rule('10.0.0.1')).toBe(true)
    for (const address of ['169.254.169.254', '::ffff:169.254.169.254', 'fe80::1', '100.100.100.200', 'fd00:ec2::254'])
      expect(rule(address), address).toBe(false)
  })
})
