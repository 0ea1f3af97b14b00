import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { removeFolder } from '../../../../bench/lib/removed-folder.js'
import {
  checkConnector,
  findConnector,
  isSyncable,
  noConnectorError,
  parseParameters,
} from '../../../../src/engine/ingest/sources/connectors/registry.js'
import { createCredentialBox } from '../../../../src/engine/ingest/sources/credentials.js'
import { hashReadSettings, parseStoredValidators } from '../../../../src/engine/ingest/sources/stored-validators.js'
import { toSyncSummary } from '../../../../src/engine/ingest/sources/sync-summary.js'

const invalid = expect.objectContaining({ code: 'invalid-request' })
const DAY_MS = 24 * 60 * 60 * 1000

describe('the connector of a source', () => {
  it('depends on the provider and the type of the source', () => {
    const kinds = (type: 'connector' | 'object-storage' | 'web' | 'upload') =>
      ['notion', 'git', 's3', 'webdav', 'other', undefined].map((provider) => findConnector(type, { provider })?.kind)
    expect(kinds('connector')).toEqual(['pages', 'pages', undefined, undefined, undefined, undefined])
    expect(kinds('object-storage')).toEqual([undefined, undefined, 'files', 'files', undefined, undefined])
    expect([...kinds('web'), ...kinds('upload')].filter(Boolean)).toEqual([])
    expect(findConnector('connector', { provider: 'git', pluginId: 'builtin' })?.kind).toBe('pages')
    expect(findConnector('connector', { provider: 'git', pluginId: 'mine' })).toBeUndefined()
  })

  it('exists for sources of the built-in crawler and for sources with a known provider', () => {
    expect(isSyncable('web', {})).toBe(true)
    expect(isSyncable('web', { provider: 'other' })).toBe(false)
    expect(isSyncable('connector', { provider: 'git' })).toBe(true)
    expect(isSyncable('connector', {})).toBe(false)
    expect(isSyncable('upload', {})).toBe(false)
  })

  it('causes an error that lists the available connectors if none fits the source', () => {
    const said = (type: 'web' | 'connector' | 'object-storage') => noConnectorError(type, 'x')
    expect(said('web')).toMatchObject({ code: 'not-configured', message: expect.stringContaining('crawler') })
    expect(said('connector')).toMatchObject({ code: 'not-configured', message: expect.stringContaining('notion, git') })
    expect(said('object-storage')).toMatchObject({
      code: 'not-configured',
      message: expect.stringContaining('s3, webdav'),
    })
  })

  it('receives its parameters as an object', () => {
    expect(parseParameters({})).toEqual(new Map())
    expect(parseParameters({ parameters: { a: 1 } })).toEqual(new Map([['a', 1]]))
    for (const parameters of [[], 'a', 1]) expect(() => parseParameters({ parameters })).toThrow(invalid)
  })
})

describe('the address of a source', () => {
  const check =
    (
      type: 'connector' | 'object-storage',
      provider: string,
      uri: string,
      rest: { parameters?: unknown; credentials?: Record<string, unknown> } = {},
    ) =>
    () =>
      checkConnector(
        type,
        { provider, parameters: rest.parameters },
        { uri, credentials: rest.credentials },
        (host) => host === '8.8.8.8',
      )

  it.each([
    ['https://s3.example/bucket/prefix'],
    ['http://8.8.8.8/bucket'],
    ['s3://bucket/docs/'],
    ['s3://bucket'],
    ['https://s3.example/'],
  ])('may be %s for s3', (uri) => {
    expect(check('object-storage', 's3', uri)).not.toThrow()
    expect(check('object-storage', 's3', uri, { parameters: { region: 'eu-west-1' } })).not.toThrow()
  })

  it.each<[string, { parameters?: unknown; credentials?: Record<string, unknown> }]>([
    ['https://s3.example/a--b', {}],
    ['https://s3.example/-bucket', {}],
    ['https://s3.example/b', {}],
    ['s3://arn:aws:s3/x', {}],
    ['http://10.0.0.1/bucket', {}],
    ['http://[::1]/bucket', {}],
    ['https://s3.example/bucket?x=1', {}],
    ['https://s3.example/%FF', {}],
    ['https://s3.example/bucket', { parameters: { region: 'EU WEST' } }],
    ['https://s3.example/bucket', { parameters: { regions: 'eu' } }],
    ['https://s3.example/bucket', { credentials: { accessKeyId: 'a' } }],
    ['https://s3.example/bucket', { credentials: { secretAccessKey: 'a' } }],
    ['https://s3.example/bucket', { credentials: { accessKeyId: 'a', secretAccessKey: 'b c' } }],
    ['https://s3.example/bucket', { credentials: { accessKeyId: 'a', secretAccessKey: 'b', other: 'c' } }],
  ])('may not be %s with %j for s3', (uri, rest) => {
    expect(check('object-storage', 's3', uri, rest)).toThrow(invalid)
  })

  it('may have a key pair for s3, with or without a session token', () => {
    const keys = { accessKeyId: 'a', secretAccessKey: 'b' }
    for (const credentials of [keys, { ...keys, sessionToken: 'c' }, {}])
      expect(check('object-storage', 's3', 'https://s3.example/bucket', { credentials })).not.toThrow()
  })

  it('may have a token for notion, but no other credential and no parameter', () => {
    expect(
      check('connector', 'notion', 'https://www.notion.so/team', { credentials: { token: 'secret' } }),
    ).not.toThrow()
    expect(check('connector', 'notion', 'https://www.notion.so/team')).not.toThrow()
    expect(check('connector', 'notion', 'https://www.notion.so/', { credentials: { key: 'secret' } })).toThrow(invalid)
    expect(check('connector', 'notion', 'https://www.notion.so/', { parameters: { branch: 'x' } })).toThrow(invalid)
    expect(check('connector', 'notion', 'ftp://www.notion.so/')).toThrow(invalid)
  })

  it('stays unchecked if its provider has no connector', () => {
    expect(check('connector', 'other', 'no uri at all', { parameters: { a: 1 } })).not.toThrow()
  })
})

describe('sealed credentials of a source', () => {
  const folder = mkdtempSync(join(tmpdir(), 'ks-box-'))
  const other = mkdtempSync(join(tmpdir(), 'ks-box-'))
  afterAll(() => {
    for (const one of [folder, other]) removeFolder(one)
  })

  it('open unchanged, only for their source and with the key of their data directory', () => {
    const box = createCredentialBox(folder)
    const sealed = box.seal('source-1', { token: 'hush' })
    expect(box.open('source-1', sealed)).toEqual({ token: 'hush' })
    expect(createCredentialBox(folder).open('source-1', sealed)).toEqual({ token: 'hush' })
    expect(Buffer.from(sealed).includes('hush')).toBe(false)
    expect(box.seal('source-1', { token: 'hush' })).not.toEqual(sealed)
    const changed = Buffer.from(sealed)
    changed[changed.length - 1] = (changed.at(-1) ?? 0) ^ 1
    const unreadable = expect.objectContaining({ code: 'unavailable', message: expect.not.stringContaining('hush') })
    expect(() => box.open('source-1', changed)).toThrow(unreadable)
    expect(() => box.open('source-2', sealed)).toThrow(unreadable)
    expect(() => createCredentialBox(other).open('source-1', sealed)).toThrow(unreadable)
    expect(() => box.open('source-1', sealed.subarray(0, 10))).toThrow(unreadable)
  })
})

describe('the stored cache validators of a page', () => {
  const source = (uri: string, metadata: object, credentials: Uint8Array | null = null) => ({
    ...{ uri, metadata: JSON.stringify(metadata), credentials },
  })
  const reading = hashReadSettings(source('https://a.example/', { provider: 'web' }))

  it('apply only while address, settings and credentials of the source are unchanged', () => {
    expect(hashReadSettings(source('https://a.example/', { provider: 'web', note: 'x' }))).toBe(reading)
    const others = [
      source('https://b.example/', { provider: 'web' }),
      source('https://a.example/', { provider: 'other' }),
      source('https://a.example/', { provider: 'web', pluginId: 'mine' }),
      source('https://a.example/', { provider: 'web', parameters: { maxDepth: 1 } }),
      source('https://a.example/', { provider: 'web' }, new Uint8Array([1])),
    ]
    expect(new Set([reading, ...others.map(hashReadSettings)]).size).toBe(6)
  })

  it('expire after a week, and do not apply with a time in the future', () => {
    const kept = { mediaType: 'text/html', at: 10 * DAY_MS, reading }
    const read = (now: number, by = reading) => parseStoredValidators(JSON.stringify(kept), by, now)
    expect(read(kept.at)).toEqual(kept)
    expect(read(kept.at + 6 * DAY_MS)).toEqual(kept)
    expect(read(kept.at + 8 * DAY_MS)).toBeUndefined()
    expect(read(kept.at - DAY_MS)).toBeUndefined()
    expect(read(kept.at, 'other')).toBeUndefined()
    expect(parseStoredValidators(null, reading, kept.at)).toBeUndefined()
  })
})

it('the summary of a sync counts successes and failures, and keeps the first failures', () => {
  const failures = Array.from({ length: 25 }, (_, n) => ({ url: `u${n}`, error: 'e' }))
  expect(toSyncSummary({ imported: 3, replaced: 2, skipped: 4, failures }, 'schedule', 0)).toEqual({
    ...{ at: '1970-01-01T00:00:00.000Z', trigger: 'schedule', total: 34, completed: 9, failed: 25 },
    ...{ imported: 3, replaced: 2, skipped: 4, failures: failures.slice(0, 20) },
  })
})
