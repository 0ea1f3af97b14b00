import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  computeNextRun,
  DAY_MS,
  limitPlannedRun,
  parseSyncPolicy,
} from '../../../../src/engine/ingest/sources/sync-policy.js'
import { parseRobots, ROBOTS_BYTES } from '../../../../src/engine/ingest/sources/web/robots.js'
import { createScope, toFilename } from '../../../../src/engine/ingest/sources/web/scope.js'
import { createSite } from '../../../../src/engine/ingest/sources/web/site.js'
import { ADA, BOB, startEngine, type TestEngine } from '../../../helpers/engine.js'
import { startSite } from '../../../helpers/site.js'

let home: TestEngine
let spaceId = ''
beforeAll(async () => {
  home = await startEngine({ sources: { egressAllow: ['127.0.0.2'] } })
  spaceId = (await home.engine.spaces.create(ADA, { name: 'Web', slug: 'web' })).id
})
afterAll(() => home.end())

const create = (changes: Record<string, unknown> = {}) =>
  home.engine.sources.create(ADA, spaceId, {
    name: 'Site',
    type: 'web' as const,
    uri: 'https://example.com/',
    permissionScope: [],
    metadata: {},
    ...changes,
  })

test('an invalid sync policy is reported before an unknown space or source', async () => {
  const metadata = { syncPolicy: { mode: 'sometimes' } }
  const absent = '0192f1c0-0000-7000-8000-000000000000'
  const source = { name: 'Site', type: 'web' as const, uri: 'https://example.com/', permissionScope: [] }
  const { sources } = home.engine
  const outcome = async (call: () => Promise<unknown>) =>
    await (async () => call())().then(
      () => 'done',
      (error: { code?: string }) => error.code,
    )
  expect(await outcome(() => sources.create(ADA, absent, { ...source, metadata }))).toBe('invalid-sync-policy')
  expect(await outcome(() => sources.create(ADA, absent, { ...source, metadata: {} }))).toBe('not-found')
  expect(await outcome(() => sources.update(ADA, absent, absent, { metadata }))).toBe('invalid-sync-policy')
  expect(await outcome(() => sources.update(ADA, spaceId, absent, { metadata }))).toBe('invalid-sync-policy')
  expect(await outcome(() => sources.update(ADA, spaceId, absent, { metadata: {} }))).toBe('not-found')
})

describe('credentials of a source', () => {
  test('get sent to the site, stay encrypted, and appear in no response and no file', async () => {
    const secret = 'canary-4f1c9b7e'
    const seen: (string | undefined)[] = []
    const site = await startSite({
      '/': (request, response) => {
        seen.push(request.headers.authorization)
        response.end('ok')
      },
    })
    const made = await create({ uri: `${site.url}/`, metadata: { credentials: { token: secret }, note: 'mine' } })
    const { sources } = home.engine
    expect(made.metadata).toEqual({ note: 'mine', tenantId: 'tenant-a' })
    expect(await sources.test(ADA, spaceId, made.id)).toEqual({ valid: true })
    await sources.update(ADA, spaceId, made.id, { metadata: { ...made.metadata, tenantId: 'tenant-b', crawled: {} } })
    await home.reopen()
    expect(await home.engine.sources.test(ADA, spaceId, made.id)).toEqual({ valid: true })
    const later = await home.engine.sources.get(ADA, spaceId, made.id)
    expect(later.metadata).toEqual({ note: 'mine', tenantId: 'tenant-a' })
    await home.engine.sources.update(ADA, spaceId, made.id, { metadata: { credentials: null } })
    await home.engine.sources.test(ADA, spaceId, made.id)
    expect(seen).toEqual([`Bearer ${secret}`, `Bearer ${secret}`, undefined])
    await site.end()
    expect(statSync(join(home.dataDir, 'data.key')).mode & 0o777).toBe(0o600)
    for (const entry of readdirSync(home.dataDir, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue
      expect(readFileSync(join(entry.parentPath, entry.name)).includes(secret), entry.name).toBe(false)
    }
  })

  test('get rejected in a uri, with an error that does not repeat them', async () => {
    const failure = await create({ uri: 'https://ada:hunter22@example.com/' }).catch((error: Error) => error.message)
    expect(failure).toBe('uri must contain no credentials: they belong in metadata.credentials')
  })

  test('with unknown keys are stored, and the test of the source reports them', async () => {
    const made = await create({ metadata: { credentials: { key: 'hunter22' } } })
    const { valid, error } = await home.engine.sources.test(ADA, spaceId, made.id)
    expect(valid).toBe(false)
    expect(error).toContain('must be {token} or {username, password}')
    const failure = home.engine.sources.crawl(ADA, spaceId, made.id)
    await expect(failure).rejects.toMatchObject({ code: 'crawl-failed' })
    expect(JSON.stringify([made, error, await home.engine.sources.get(ADA, spaceId, made.id)])).not.toContain(
      'hunter22',
    )
  })
})

describe('a source', () => {
  test.each(['file:///etc/passwd', 'ftp://x/', 'gopher://x/', 'data:,x', 'javascript:1', 'ws://x/'])(
    'A53: cannot have the web address %s',
    async (uri) => await expect(create({ uri })).rejects.toMatchObject({ code: 'invalid-request' }),
  )
  test.each(['http://127.0.0.1/', 'http://2130706433/', 'http://[::1]/', 'http://169.254.169.254/latest/'])(
    'cannot have the internal address %s',
    async (uri) => await expect(create({ uri })).rejects.toMatchObject({ code: 'invalid-request' }),
  )
  test('can be created with a uri that is no URL, but neither crawled nor tested', async () => {
    const { id, uri, status } = await create({ uri: 'x' })
    expect([uri, status]).toEqual(['x', 'active'])
    await expect(home.engine.sources.crawl(ADA, spaceId, id)).rejects.toMatchObject({
      code: 'crawl-failed',
      message: `source ${id} could not be crawled: its uri is not an http or https URL`,
    })
    expect((await home.engine.sources.get(ADA, spaceId, id)).status).toBe('error')
    expect(await home.engine.sources.test(ADA, spaceId, id)).toEqual({
      valid: false,
      error: 'an address that is not a URL',
    })
  })
  test.each([
    { pluginId: 'example', provider: 'web' },
    { provider: 'headless' },
    { pluginId: 'example', parameters: { maxPages: 'all' }, syncPolicy: { everyHours: 1 } },
  ])('can be neither crawled nor tested if its metadata names another crawler: %j', async (metadata) => {
    const { id } = await create({ metadata })
    await expect(home.engine.sources.crawl(ADA, spaceId, id)).rejects.toMatchObject({ code: 'not-configured' })
    await expect(home.engine.sources.test(ADA, spaceId, id)).rejects.toMatchObject({ code: 'not-configured' })
    await home.engine.sources.delete(ADA, spaceId, id, { documents: 'cascade' })
  })
  test('can be neither crawled nor tested if its type is upload', async () => {
    const { id } = await create({ type: 'upload', uri: 'hand' })
    await expect(home.engine.sources.crawl(ADA, spaceId, id)).rejects.toMatchObject({ code: 'not-a-web-source' })
    await expect(home.engine.sources.test(ADA, spaceId, id)).rejects.toMatchObject({ code: 'not-configured' })
    await expect(home.engine.sources.crawl(BOB, spaceId, id)).rejects.toMatchObject({ code: 'not-found' })
  })
  test('counts against the limit of 1,000 sources a space; a list returns all sources in pages', async () => {
    const other = (await home.engine.spaces.create(ADA, { name: 'Many', slug: 'many' })).id
    const body = { name: 'x', type: 'upload' as const, uri: 'x', permissionScope: [], metadata: {} }
    await Promise.all(Array.from({ length: 1000 }, () => home.engine.sources.create(ADA, other, body)))
    await expect(home.engine.sources.create(ADA, other, body)).rejects.toMatchObject({ code: 'capacity-exceeded' })
    const seen = new Set<string>()
    let cursor: string | undefined
    do {
      const page = await home.engine.sources.list(ADA, other, { limit: 200, cursor })
      for (const { id } of page.items) seen.add(id)
      cursor = page.nextCursor
    } while (cursor !== undefined)
    expect(seen.size).toBe(1000)
  })
})

describe('a sync policy', () => {
  test.each([
    [{ everyHours: 0 }],
    [{ everyHours: 721 }],
    [{ everyHours: 1.5 }],
    [{ everyHours: '6' }],
    [{ dailyAt: [] }],
    [{ dailyAt: ['24:00'] }],
    [{ dailyAt: ['2:00'] }],
    [{ dailyAt: '02:00' }],
    [{ dailyAt: ['02:00'], utcOffset: '02:00' }],
    [{ dailyAt: ['02:00'], utcOffset: '+14:30' }],
    [{ everyHours: 1, dailyAt: ['02:00'] }],
    [{ everyHours: 1, extra: 1 }],
    [{}],
    [null],
  ])('with the value %j is rejected', (syncPolicy) =>
    expect(() => parseSyncPolicy({ syncPolicy })).toThrow(/^metadata\.syncPolicy.* must be .*, received /),
  )

  test('F36: plans one run at each of its times of day, every day, at every UTC offset', () => {
    for (const utcOffset of ['-12:00', '-03:30', '+00:00', '+05:45', '+14:00']) {
      const policy = { dailyAt: ['00:00', '23:59'], utcOffset }
      let at = Date.UTC(2026, 0, 1, 12)
      const times: number[] = []
      for (let run = 0; run < 800; run++) {
        at = computeNextRun(policy, at)
        times.push(at)
      }
      expect(new Set(times.map((time, n) => time - (times[n - 2] ?? time - DAY_MS)))).toEqual(new Set([DAY_MS]))
    }
  })

  test('never plans a run in the past or more than a period ahead, whatever the clock does', () => {
    const policies = fc.oneof(
      fc.integer({ min: 1, max: 720 }).map((everyHours) => ({ everyHours })),
      fc.constantFrom('00:00', '12:30', '23:59').map((time) => ({ dailyAt: [time], utcOffset: '-11:00' })),
    )
    const clock = fc.integer({ min: 0, max: 4e12 })
    fc.assert(
      fc.property(policies, clock, clock, (policy, now, then) => {
        const period = 'everyHours' in policy ? policy.everyHours * 3_600_000 : DAY_MS
        const next = computeNextRun(policy, now)
        expect(next > now && next <= now + period).toBe(true)
        expect(limitPlannedRun(policy, computeNextRun(policy, then), now) <= now + period).toBe(true)
      }),
    )
  })
})

describe('the scope of a site', () => {
  test.each([
    ['https://h/docs/', 'https://h/docs/a', true],
    ['https://h/docs', 'https://h/docs', true],
    ['https://h/docs', 'https://h/docs-old/a', false],
    ['https://h/docs/start.html', 'https://h/docs/a', true],
    ['https://h/v1.2', 'https://h/other', false],
    ['https://h/', 'http://h/a', true],
    ['https://h/', 'https://h:8443/a', false],
    ['https://h/', 'https://www.h/a', false],
  ])('%s contains %s: %s', (uri, url, held) => expect(createScope(uri).contains(new URL(url))).toBe(held))

  test('gives two addresses different document names', () => {
    const urls = [
      '',
      'index',
      'index.html',
      'a/',
      'a',
      'a/index.html',
      'a?x=1',
      'a?x=2',
      '%2e%2e',
      'a%2Fb.html',
      'a/b.html',
      'A',
    ]
    const names = urls.map((path) => toFilename(`https://h/${path}`, 'text/html'))
    expect(new Set(names).size).toBe(urls.length)
  })

  test('follows robots.txt by the group of our crawler, its longest rule, * and $', () => {
    const robots = parseRobots(
      'User-agent: *\nDisallow: /\n\nUser-agent: other\nUser-agent: Knowledge-Spaces # us\nDisallow: /a\nAllow: /a/b\nDisallow: /*.pdf$\nDisallow:\nSitemap: https://h/m.xml',
      'knowledge-spaces',
    )
    const allowed = (path: string) => robots.allows(new URL(`https://h${path}`))
    expect(['/', '/a/b/c', '/x.pdf?y', '/b'].map(allowed)).toEqual([true, true, true, true])
    expect(['/a', '/a/c', '/x.pdf', '/q/x.pdf'].map(allowed)).toEqual([false, false, false, false])
    expect(robots.sitemaps).toEqual(['https://h/m.xml'])
  })

  test.each([
    // Percent encoding: RFC 9309, 2.2.2.
    ['/%7Euser', '/~user', false],
    ['/~user', '/%7euser', false],
    ['/grün', '/gr%C3%BCn', false],
    ['/gr%c3%bcn', '/grün', false],
    ['/a%2fb', '/a%2Fb', false],
    ['/a%2fb', '/a/b', true],
    ['/a b', '/a%20b', false],
    ['/100%', '/100%', false],
    ['/%E0%A4%A/%7Eb', '/%E0%A4%A/~b', false],
    // Special characters: 2.2.3.
    ['/a%2Ab', '/a*b', false],
    ['/a%2Ab', '/axb', true],
    ['/a%24', '/a$', false],
    ['/a%24', '/a$b', false],
    ['/a$', '/a$', true],
    ['/a$b', '/a$b', false],
    ['/*.php$', '/a.php?b', true],
    ['/*?*c=', '/a?b=1&c=2', false],
    ['*', '/a', false],
  ])('decides by robots.txt whether "Disallow: %s" allows the path %s: %s', (rule, path, isAllowed) => {
    expect(parseRobots(`User-agent: *\nDisallow: ${rule}`, 'us').allows(new URL(`https://h${path}`))).toBe(isAllowed)
  })

  test('follows the rule of robots.txt with more octets, in any encoding', () => {
    const allows = (text: string, path: string) => parseRobots(text, 'us').allows(new URL(`https://h${path}`))
    expect(allows('User-agent: *\nDisallow: /%7E%7E%7E\nAllow: /~~~/a', '/~~~/a')).toBe(true)
    expect(allows('User-agent: *\nDisallow: /grün/\nAllow: /gr%C3%BC', '/grün/a')).toBe(false)
    expect(allows('User-agent: *\nDisallow: /a\nAllow: /%61', '/a')).toBe(true)
    expect(allows('User-agent: *\nDisallow: /', '/robots.txt')).toBe(true)
  })

  test('finds the group of robots.txt by product token, and meaningless lines do not split groups', () => {
    const allows = (text: string) => parseRobots(text, 'knowledge-spaces').allows(new URL('https://h/a'))
    expect(allows('User-agent: knowledge-spaces bot 2.0\nDisallow: /')).toBe(false)
    expect(allows('User-agent: knowledge-spacesuit\nDisallow: /')).toBe(true)
    expect(allows('User-agent: knowledge-spaces\nDisallow:\n\nUser-agent: *\nDisallow: /')).toBe(true)
    expect(allows('User-agent: knowledge-spaces\nCrawl-delay: 1\nSitemap: x\nUser-agent: b\nDisallow: /')).toBe(false)
    expect(allows('\ufeffUser-Agent : KNOWLEDGE-SPACES\rDISALLOW:/\r')).toBe(false)
    expect(allows('Disallow: /\nUser-agent: *\nAllow: /')).toBe(true)
  })

  test('drops a rule of robots.txt that the size limit truncates', () => {
    const site = createSite({ uri: 'https://h/', maxDepth: 1 })
    const lines = 'User-agent: *\nDisallow: /private\n'
    const filled = `${lines}#${'x'.repeat(ROBOTS_BYTES - lines.length - '#\nDisallow: /'.length)}\nDisallow: /`
    expect(filled).toHaveLength(ROBOTS_BYTES)
    expect(site.robots(Buffer.from(filled)).startAllowed).toBe(true)
    expect(site.allowed(['https://h/private', 'https://h/public'])).toEqual(['https://h/public'])
  })
})
