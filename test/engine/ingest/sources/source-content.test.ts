import { describe, expect, it } from 'vitest'
import { ItemFailure, type SourceLocation } from '../../../../src/engine/ingest/sources/connectors/connector.js'
import {
  assertCredentialKeys,
  assertParameters,
  decodePath,
  getCredentialText,
  getTextParameter,
  parseHttpUrl,
  toItemFailure,
  toLocationFailure,
} from '../../../../src/engine/ingest/sources/connectors/location.js'
import {
  checkUri,
  createAuthHeaders,
  isBuiltinCrawl,
  parseContent,
  parseCrawlLimits,
} from '../../../../src/engine/ingest/sources/content.js'
import { computeNextRun, limitPlannedRun, parseSyncPolicy } from '../../../../src/engine/ingest/sources/sync-policy.js'

const invalid = expect.objectContaining({ code: 'invalid-request' })
const HOUR_MS = 3_600_000

describe('the sync policy of a source', () => {
  const read = (syncPolicy: unknown) => parseSyncPolicy({ syncPolicy })

  it.each([
    [{ everyHours: 1 }],
    [{ everyHours: 720 }],
    [{ dailyAt: ['00:00'] }],
    [{ dailyAt: ['23:59', '19:00', '09:30'], utcOffset: '+14:00' }],
    [{ dailyAt: ['12:00'], utcOffset: '-09:30' }],
    [{ dailyAt: Array.from({ length: 24 }, (_, hour) => `${String(hour).padStart(2, '0')}:00`) }],
  ])('accepts %j unchanged', (policy) => {
    expect(read(policy)).toEqual(policy)
    expect(parseSyncPolicy({})).toBeUndefined()
  })

  it.each([
    ['', null],
    ['', []],
    ['', 'daily'],
    ['', {}],
    ['', { everyHours: 1, dailyAt: ['00:00'] }],
    ['', { everyHours: 1, weekly: true }],
    ['.everyHours', { everyHours: 0 }],
    ['.everyHours', { everyHours: 721 }],
    ['.everyHours', { everyHours: 1.5 }],
    ['.everyHours', { everyHours: '1' }],
    ['.utcOffset', { everyHours: 1, utcOffset: '+01:00' }],
    ['.dailyAt', { dailyAt: [] }],
    ['.dailyAt', { dailyAt: '00:00' }],
    ['.dailyAt', { dailyAt: Array.from({ length: 25 }, () => '00:00') }],
    ['.dailyAt', { dailyAt: ['24:00'] }],
    ['.dailyAt', { dailyAt: ['12:60'] }],
    ['.dailyAt', { dailyAt: ['9:00'] }],
    ['.dailyAt', { dailyAt: [900] }],
    ['.utcOffset', { dailyAt: ['00:00'], utcOffset: '01:00' }],
    ['.utcOffset', { dailyAt: ['00:00'], utcOffset: '+14:01' }],
    ['.utcOffset', { dailyAt: ['00:00'], utcOffset: 60 }],
  ])('rejects metadata.syncPolicy%s in the policy %j, and names the key', (key, policy) => {
    expect(() => read(policy)).toThrow(
      expect.objectContaining({
        code: 'invalid-sync-policy',
        message: expect.stringContaining(`metadata.syncPolicy${key} must be`),
      }),
    )
  })

  const at = (text: string) => Date.parse(`2026-03-${text}:00Z`)

  it.each([
    [{ everyHours: 3 }, '01T10:30', '01T13:30'],
    [{ dailyAt: ['09:00', '17:45'] }, '01T08:00', '01T09:00'],
    [{ dailyAt: ['17:45', '09:00'] }, '01T09:00', '01T17:45'],
    [{ dailyAt: ['09:00', '17:45'] }, '01T17:45', '02T09:00'],
    [{ dailyAt: ['01:00'], utcOffset: '+02:30' }, '01T22:00', '01T22:30'],
    [{ dailyAt: ['01:00'], utcOffset: '+02:30' }, '01T22:30', '02T22:30'],
    [{ dailyAt: ['23:00'], utcOffset: '-05:00' }, '01T03:00', '01T04:00'],
    [{ dailyAt: ['23:00'], utcOffset: '-05:00' }, '01T04:00', '02T04:00'],
  ])('plans the next run of %j after %s at %s', (policy, after, next) => {
    expect(new Date(computeNextRun(policy, at(after)))).toEqual(new Date(at(next)))
  })

  it('replans a run only when it is further ahead than one period', () => {
    const now = at('01T10:00')
    expect(limitPlannedRun({ everyHours: 2 }, now + 2 * HOUR_MS, now)).toBe(now + 2 * HOUR_MS)
    expect(limitPlannedRun({ everyHours: 2 }, now + 3 * HOUR_MS, now)).toBe(now + 2 * HOUR_MS)
    expect(limitPlannedRun({ everyHours: 2 }, now - HOUR_MS, now)).toBe(now - HOUR_MS)
    expect(limitPlannedRun({ dailyAt: ['12:00'] }, now + 23 * HOUR_MS, now)).toBe(now + 23 * HOUR_MS)
    expect(limitPlannedRun({ dailyAt: ['12:00'] }, now + 25 * HOUR_MS, now)).toBe(at('01T12:00'))
  })
})

describe('the settings of a source', () => {
  it('keep the metadata keys of the client, without reserved keys', () => {
    const own = { note: 'x', parameters: { maxPages: 3 } }
    const ours = { tenantId: 't', syncState: {}, sync: 1, crawled: 1, imported: 1, importedFiles: 1 }
    expect(
      parseContent('web', { ...own, ...ours, credentials: { token: 'a' }, syncPolicy: { everyHours: 1 } }),
    ).toEqual({
      metadata: { ...own, syncPolicy: { everyHours: 1 } },
      credentials: { token: 'a' },
      policy: { everyHours: 1 },
    })
    expect(parseContent('upload', {})).toEqual({ metadata: {}, credentials: undefined, policy: undefined })
  })

  it('remove stored credentials when the credentials are null or empty', () => {
    expect(parseContent('web', { credentials: null }).credentials).toBeNull()
    expect(parseContent('web', { credentials: {} }).credentials).toBeNull()
    expect(() => parseContent('web', { credentials: 'secret' })).toThrow(invalid)
    expect(() => parseContent('web', { credentials: ['secret'] })).toThrow(invalid)
  })

  it('must have valid crawl limits only for the built-in crawler', () => {
    const metadata = { parameters: { maxPages: 0 } }
    expect(() => parseContent('web', metadata)).toThrow(invalid)
    expect(parseContent('connector', metadata).metadata).toEqual(metadata)
    expect(parseContent('web', { ...metadata, provider: 'other' }).metadata).toEqual({ ...metadata, provider: 'other' })
    expect(
      [{}, { pluginId: 'builtin', provider: 'web' }, { pluginId: 'mine' }, { provider: 's3' }].map(isBuiltinCrawl),
    ).toEqual([...[true, true, false, false]])
  })

  it('get default crawl limits, and reject limits that are out of bounds', () => {
    const read = (parameters: unknown) => parseCrawlLimits({ parameters })
    expect(parseCrawlLimits({})).toEqual({ maxPages: 200, maxDepth: 5, missingAfter: 1 })
    const [least, most] = [
      { maxPages: 1, maxDepth: 0, missingAfter: 0 },
      { maxPages: 5000, maxDepth: 20, missingAfter: 100 },
    ]
    expect(read(least)).toEqual(least)
    expect(read(most)).toEqual(most)
    const wrong = [{ maxPages: 0 }, { maxPages: 5001 }, { maxDepth: -1 }, { maxDepth: 21 }, { maxDepth: 1.5 }]
    for (const parameters of [...wrong, { missingAfter: 101 }, { missingAfter: -1 }, { maxPages: '5' }, [], 'all'])
      expect(() => read(parameters)).toThrow(invalid)
  })

  it('accept a token or a user name with a password for web sources', () => {
    expect(createAuthHeaders(undefined)).toEqual({})
    expect(createAuthHeaders({})).toEqual({})
    expect(createAuthHeaders({ token: 'abc' })).toEqual({ authorization: 'Bearer abc' })
    const basic = (pair: string) => ({ authorization: `Basic ${Buffer.from(pair).toString('base64')}` })
    expect(createAuthHeaders({ username: 'ada', password: 'x y' })).toEqual(basic('ada:x y'))
    expect(createAuthHeaders({ username: 'ada' })).toEqual(basic('ada:'))
    const wrong = [
      { token: 'a', username: 'b' },
      { password: 'c' },
      { token: 'a', realm: 'b' },
      { token: 'ä' },
      { token: 1 },
    ]
    for (const credentials of [...wrong, { username: 'a\nb' }, { username: 'a', password: 'ü' }])
      expect(() => createAuthHeaders(credentials)).toThrow(invalid)
  })

  it('reject an address with a secret, another protocol or a blocked host', () => {
    const check = (type: 'web' | 'connector', uri: string) => () => checkUri(type, uri, (host) => host === '8.8.8.8')
    for (const uri of ['no address', 'https://a.example/', 'http://8.8.8.8/']) expect(check('web', uri)).not.toThrow()
    for (const uri of [
      'https://ada@a.example/',
      'https://:secret@a.example/',
      'ftp://a.example/',
      'http://10.0.0.1/',
      'http://[::1]/',
    ])
      expect(check('web', uri)).toThrow(invalid)
    expect(check('connector', 'https://:secret@a.example/')).toThrow(invalid)
    for (const uri of ['s3://bucket/', 'http://10.0.0.1/']) expect(check('connector', uri)).not.toThrow()
  })
})

describe('the request settings of a connector', () => {
  const place = (parameters: Record<string, unknown>): SourceLocation => ({
    uri: 'https://a.example/',
    parameters: new Map(Object.entries(parameters)),
    credentials: undefined,
  })

  it('give an address a trailing slash and drop its fragment', () => {
    expect(parseHttpUrl('https://a.example/x#part', 'it').href).toBe('https://a.example/x/')
    expect(parseHttpUrl('http://a.example/x/', 'it').href).toBe('http://a.example/x/')
    for (const uri of ['nothing', 'ftp://a.example/', 'https://a.example/?a=1'])
      expect(() => parseHttpUrl(uri, 'it')).toThrow(invalid)
    expect(decodePath(new URL('https://a.example/%C3%A4/'))).toBe('/ä/')
    expect(() => decodePath(new URL('https://a.example/%FF/'))).toThrow(invalid)
  })

  it('check the form of a parameter, and reject unknown parameters by name', () => {
    expect(getTextParameter(place({ branch: 'main' }), 'branch', /^[a-z]+$/)).toBe('main')
    expect(getTextParameter(place({ branch: null }), 'branch', /^[a-z]+$/)).toBeUndefined()
    expect(getTextParameter(place({}), 'branch', /^[a-z]+$/)).toBeUndefined()
    expect(() => getTextParameter(place({ branch: 'MAIN' }), 'branch', /^[a-z]+$/)).toThrow(invalid)
    expect(() => getTextParameter(place({ branch: 1 }), 'branch', /1/)).toThrow(invalid)
    expect(() => assertParameters(place({ a: 1 }), ['a', 'b'], 'it')).not.toThrow()
    expect(() => assertParameters(place({ a: 1, c: 1 }), ['a', 'b'], 'it')).toThrow(/may contain a, b, received "c"/)
    expect(() => assertParameters(place({ c: 1 }), [], 'it')).toThrow(/may contain none, received "c"/)
  })

  it('accept plain ASCII secrets, and no error message repeats them', () => {
    expect(getCredentialText({ token: 'a!~' }, 'token')).toBe('a!~')
    expect(getCredentialText({}, 'token')).toBeUndefined()
    expect(getCredentialText(undefined, 'token')).toBeUndefined()
    for (const token of ['a b', 'ä', '', 1]) expect(() => getCredentialText({ token }, 'token')).toThrow(invalid)
    expect(() => getCredentialText({ token: 'my secret' }, 'token')).not.toThrow(/my secret/)
    expect(() => assertCredentialKeys(undefined, ['token'], 'it')).not.toThrow()
    expect(() => assertCredentialKeys({ token: 'a' }, ['token'], 'it')).not.toThrow()
    expect(() => assertCredentialKeys({ token: 'a', key: 'b' }, ['token'], 'it')).toThrow(invalid)
  })

  it('classify a response status as a failure of one item or of the source', () => {
    const ofItem = (status: number) => {
      const problem = toItemFailure(status)
      return problem === undefined ? 'fine' : problem instanceof ItemFailure ? `item ${problem.message}` : 'place'
    }
    const statuses = [200, 299, 206, 300, 400, 401, 403, 404, 410, 414, 422, 429, 500]
    expect(statuses.map(ofItem)).toEqual([
      ...['fine', 'fine', 'item was not received completely', 'place', 'item answered 400', 'place'],
      ...['item may not be read with these credentials', 'item does not exist', 'item does not exist'],
      ...['item answered 414', 'item answered 422', 'place', 'place'],
    ])
    const ofPlace = (status: number) => toLocationFailure(status)?.message ?? 'fine'
    expect([200, 299, 300, 401, 403, 404].map(ofPlace)).toEqual([
      ...['fine', 'fine', 'answered 300', 'the credentials are not accepted (answered 401)'],
      ...['the credentials are not accepted (answered 403)', 'answered 404'],
    ])
  })
})
