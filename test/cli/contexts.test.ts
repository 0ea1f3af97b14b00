import { chmodSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { removeFolder } from '../../bench/lib/removed-folder.js'
import { type ContextFlags, resolveSettings } from '../../src/cli/contexts.js'
import { findCredential, readCredentials, removeCredential, saveCredential } from '../../src/cli/credentials.js'
import { normalizeServiceUrl, writeUserConfig } from '../../src/cli/user-config.js'

const base = mkdtempSync(join(tmpdir(), 'ks-ctx-'))
let home = ''
let number = 0

beforeEach(() => {
  home = join(base, String(number++))
  mkdirSync(join(home, 'project', 'deep'), { recursive: true })
})
afterAll(() => removeFolder(base))

function settings(flags: ContextFlags = {}, env: Record<string, string> = {}) {
  const dirs = {
    data: join(home, 'data'),
    config: join(home, 'config'),
    cache: join(home, 'c'),
    state: join(home, 's'),
  }
  return resolveSettings({ flags, env, cwd: join(home, 'project', 'deep'), dirs })
}

function project(content: unknown): void {
  writeFileSync(join(home, 'project', '.ks.json'), JSON.stringify(content))
}

function user(currentContext?: string): void {
  writeUserConfig(join(home, 'config'), {
    contexts: { work: { url: 'https://kb.example.com', space: 'team' }, evil: { url: 'https://evil.example' } },
    defaults: { space: 'mine' },
    ...(currentContext === undefined ? {} : { currentContext }),
  })
}

describe('the target of a command', () => {
  it('defaults to the local daemon', () => {
    expect(settings().service).toEqual({
      origin: 'default',
      value: { kind: 'local', dataDir: join(home, 'data'), token: undefined },
    })
  })

  it("comes from the flag, else the environment, else the project file, else the user's configuration", () => {
    user('work')
    expect(settings().service).toMatchObject({ origin: 'user', value: { url: 'https://kb.example.com' } })
    project({ context: 'evil' })
    expect(settings().service).toMatchObject({ origin: 'project', value: { context: 'evil' } })
    expect(settings({}, { KS_CONTEXT: 'local' }).service).toMatchObject({
      origin: 'environment',
      value: { kind: 'local' },
    })
    expect(settings({ url: 'http://127.0.0.1:1/' }, { KS_CONTEXT: 'work' }).service).toMatchObject({
      origin: 'flag',
      value: { url: 'http://127.0.0.1:1' },
    })
  })

  it('can be given as a context or an address; both together are refused', () => {
    user()
    expect(() => settings({ url: 'http://x', context: 'work' })).toThrow('--context and --url')
    expect(() => settings({}, { KS_URL: 'http://x', KS_CONTEXT: 'work' })).toThrow('KS_CONTEXT and KS_URL')
  })

  it('leads to exit 5 and the nearest name if the context is unknown', () => {
    user()
    expect(() => settings({ context: 'wrok' })).toThrow(
      expect.objectContaining({ message: 'unknown context "wrok"', exit: 5, hint: expect.stringContaining('`work`') }),
    )
  })

  it('must be an http address without a password', () => {
    expect(normalizeServiceUrl('https://kb.example.com/base/')).toBe('https://kb.example.com/base')
    for (const bad of ['kb.example.com', 'ftp://x', 'https://user:pw@x'])
      expect(() => normalizeServiceUrl(bad)).toThrow()
  })
})

describe('a project file', () => {
  it('can set space, context, mode and ignore rules, and nothing else', () => {
    project({ space: 'docs', mode: 'deep', ignore: ['*.log', '!secret'], url: 'https://evil.example', token: 'x' })
    const found = settings()
    expect(found.space).toEqual({ value: 'docs', origin: 'project' })
    expect(found.mode).toEqual({ value: 'deep', origin: 'project' })
    expect(found.ignore).toEqual(['*.log'])
    expect(found.service.value.kind).toBe('local')
    expect(found.project?.unknown).toEqual(['url', 'token'])
  })

  it('cannot select the service that gets the token of KS_TOKEN; the flag --context can', () => {
    user()
    project({ context: 'evil' })
    expect(settings({}, { KS_TOKEN: 'secret' }).service.value.token).toBeUndefined()
    project({})
    expect(settings({ context: 'work' }, { KS_TOKEN: 'secret' }).service.value.token).toBe('secret')
  })

  it('causes an error with its name if it is not valid JSON', () => {
    writeFileSync(join(home, 'project', '.ks.json'), '{')
    expect(() => settings()).toThrow('.ks.json is not valid JSON')
  })
})

describe('the space of a command', () => {
  it("comes from the flag, else the environment, the project file, the context, the user's configuration", () => {
    user('work')
    expect(settings().space).toEqual({ value: 'team', origin: 'user' })
    expect(settings({ context: 'evil' }).space?.value).toBe('mine')
    project({ space: 'p' })
    expect(settings().space?.value).toBe('p')
    expect(settings({}, { KS_SPACE: 'e' }).space?.value).toBe('e')
    expect(settings({ space: 'f' }, { KS_SPACE: 'e' }).space).toEqual({ value: 'f', origin: 'flag' })
  })
})

describe('a stored token', () => {
  it('authenticates only at the origin that it was stored for', () => {
    const config = join(home, 'config')
    saveCredential(config, { origin: 'https://kb.example.com', token: 'a' })
    saveCredential(config, { origin: 'https://kb.example.com', context: 'work', token: 'b' })
    const all = readCredentials(config)
    expect(findCredential(all, 'https://kb.example.com', 'work')?.token).toBe('b')
    expect(findCredential(all, 'https://kb.example.com', undefined)?.token).toBe('a')
    expect(findCredential(all, 'https://kb.example.com:8443', 'work')).toBeUndefined()
    user()
    expect(settings({ url: 'https://kb.example.com/x' }).service.value.token).toBe('a')
    expect(settings({ url: 'https://other.example' }).service.value.token).toBeUndefined()
  })

  it('replaces an earlier token of its origin, and can be removed', () => {
    const config = join(home, 'config')
    saveCredential(config, { origin: 'https://x', token: 'a' })
    saveCredential(config, { origin: 'https://x', token: 'b' })
    expect(readCredentials(config)).toEqual([{ origin: 'https://x', token: 'b' }])
    expect(removeCredential(config, { origin: 'https://x' })).toBe(true)
    expect(removeCredential(config, { origin: 'https://x' })).toBe(false)
  })

  it('causes exit 4 if other users may read its file', () => {
    const config = join(home, 'config')
    saveCredential(config, { origin: 'https://x', token: 'a' })
    chmodSync(join(config, 'credentials.json'), 0o644)
    expect(() => readCredentials(config)).toThrow(expect.objectContaining({ exit: 4 }))
  })

  it('can be read from a file that KS_TOKEN_FILE or a flag names', () => {
    const file = join(home, 'token')
    writeFileSync(file, ' abc\n')
    expect(settings({ url: 'http://x', tokenFile: file }).service.value.token).toBe('abc')
    expect(settings({}, { KS_URL: 'http://x', KS_TOKEN_FILE: file }).service.value.token).toBe('abc')
    writeFileSync(file, '')
    expect(() => settings({ tokenFile: file })).toThrow('is empty')
  })
})
