import { createPublicKey, generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SignJWT } from 'jose'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { removeFolder } from '../../../bench/lib/removed-folder.js'
import { assertRight } from '../../../src/daemon/auth/scopes.js'
import { createTokenVerifier, type ExternalTokenOptions, type TokenVerifier } from '../../../src/daemon/auth/tokens.js'
import { prepareDataDir } from '../../../src/local/data-dir.js'
import { loadSigningKey } from '../../../src/local/keys.js'
import { forgedToken, signedToken } from '../../helpers/tokens.js'

const REFUSED = { code: 'unauthenticated' }
const TRUSTED_MS = 30_000

let dataDir = ''
let asked: string[] = []
let local: TokenVerifier
const seconds = () => Math.floor(Date.now() / 1000)
const accept = (token: string, verifier = local) => verifier.authenticate(`Bearer ${token}`)

beforeAll(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'ks-auth-'))
  prepareDataDir(dataDir, { allowNetworkDisk: true })
  // The first call creates it.
  loadSigningKey(dataDir)
})
afterAll(() => removeFolder(dataDir))
afterEach(() => vi.useRealTimers())

/** A verifier with an empty cache. */
function fresh(): TokenVerifier {
  asked = []
  local = createTokenVerifier({
    localKey: loadSigningKey(dataDir),
    isRevoked: (jti) => {
      asked.push(jti)
      return jti === 'revoked'
    },
  })
  return local
}

describe('the rights of a token', () => {
  it.each([
    ['knowledge-spaces:read', ['read']],
    ['knowledge-spaces:write', ['write']],
    ['knowledge-spaces:*', ['read', 'write']],
    ['knowledge-spaces:read knowledge-spaces:write', ['read', 'write']],
    ['', []],
  ])('with scope %j are exactly %j', async (scope, allowed) => {
    const session = await accept(await signedToken(dataDir, { scope }), fresh())
    for (const wanted of ['read', 'write'] as const) {
      const require = () => assertRight({ scope: wanted }, session)
      if (allowed.includes(wanted)) expect(require).not.toThrow()
      else expect(require).toThrow(`the token lacks the scope knowledge-spaces:${wanted}`)
    }
  })

  it('a request without the required scope is refused with code scope-missing', async () => {
    const session = await accept(await signedToken(dataDir, { scope: '' }), fresh())
    try {
      assertRight({ scope: 'read' }, session)
      expect.unreachable()
    } catch (error) {
      expect(error).toMatchObject({ code: 'scope-missing' })
    }
  })
})

describe('a signed token', () => {
  it('stays in the cache of verified tokens for 30 seconds, but its revocation is checked at every request', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const token = await signedToken(dataDir, { jti: 'mine' })
    const first = await accept(token, fresh())
    vi.advanceTimersByTime(TRUSTED_MS - 1)
    expect(await accept(token)).toBe(first)
    vi.advanceTimersByTime(1)
    const again = await accept(token)
    expect(again).not.toBe(first)
    expect(again).toEqual(first)
    expect(asked).toEqual(['mine', 'mine', 'mine'])
  })

  it('expires exactly at exp, without leeway, even in the cache of verified tokens', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const end = seconds() + 5
    const token = await signedToken(dataDir, { exp: end })
    await accept(token, fresh())
    vi.setSystemTime(end * 1000 - 1)
    await accept(token)
    vi.setSystemTime(end * 1000)
    await expect(accept(token)).rejects.toMatchObject(REFUSED)
    await expect(accept(token, fresh())).rejects.toMatchObject(REFUSED)
  })

  it('gets a distinct hash as the key of its rate limit, which does not contain the token', async () => {
    const [one, other] = [await signedToken(dataDir), await signedToken(dataDir, { sub: 'bob' })]
    const first = await accept(one, fresh())
    expect((await accept(other)).tokenHash).not.toBe(first.tokenHash)
    expect((await accept(one)).tokenHash).toBe(first.tokenHash)
    expect(first.tokenHash).not.toContain(one)
    expect(first.tokenHash.length).toBeGreaterThan(20)
  })

  it('gets refused at its first use if it was revoked before', async () => {
    await expect(accept(await signedToken(dataDir, { jti: 'revoked' }), fresh())).rejects.toMatchObject(REFUSED)
  })
})

describe('a token with particular claims', () => {
  it.each<[string, Record<string, unknown>, boolean]>([
    ['issued 50 seconds in the future is accepted', { iat: seconds() + 50 }, true],
    ['issued 5 minutes in the future is refused', { iat: seconds() + 300 }, false],
    ['without the time of issue is accepted', { iat: undefined }, true],
    ['with tenant and subject of 200 characters is accepted', { tenant: 't'.repeat(200), sub: 's'.repeat(200) }, true],
    ['with a tenant of 201 characters is refused', { tenant: 't'.repeat(201) }, false],
    ['with a subject of 201 characters is refused', { sub: 's'.repeat(201) }, false],
    ['with an empty subject is refused', { sub: '' }, false],
    ['with a line break in the subject is refused', { sub: 'a\nb' }, false],
  ])('%s', async (_, claims, isGood) => {
    const answer = accept(await signedToken(dataDir, claims), fresh())
    if (isGood) expect((await answer).caller.tenant).toBeTruthy()
    else await expect(answer).rejects.toMatchObject(REFUSED)
  })

  it('can fill an Authorization header of 8,192 characters; a longer header is refused', async () => {
    const of = async (chars: number) => `Bearer ${await signedToken(dataDir, { note: 'n'.repeat(chars) })}`
    const short = await of(0)
    const most = Math.floor(((8192 - short.length) * 3) / 4)
    let [fits, tooLong] = ['', '']
    for (let chars = most - 20; tooLong === ''; chars++) {
      const header = await of(chars)
      if (header.length <= 8192) fits = header
      else tooLong = header
    }
    expect((await fresh().authenticate(fits)).caller.subject).toBe('ada')
    await expect(fresh().authenticate(tooLong)).rejects.toMatchObject(REFUSED)
  })

  it('can have the token header typ, but is refused with kid', async () => {
    expect((await accept(await signedToken(dataDir, {}, { typ: 'JWT' }), fresh())).caller.subject).toBe('ada')
    await expect(accept(await signedToken(dataDir, {}, { kid: 'x' }), fresh())).rejects.toMatchObject(REFUSED)
    await expect(accept(forgedToken('no object', {}, 'AAAA'), fresh())).rejects.toMatchObject(REFUSED)
  })
})

describe('tokens of an identity provider', () => {
  const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const rules = { issuer: 'https://id.example', audience: 'ks', tenantClaim: 'tenant', scopeClaim: 'scope' }
  const verifier = (changes: Partial<ExternalTokenOptions> = {}) => {
    const publicKeyFile = join(dataDir, 'outside.pem')
    writeFileSync(publicKeyFile, createPublicKey(pair.privateKey).export({ type: 'spki', format: 'pem' }))
    return createTokenVerifier({
      external: { publicKeyFile, ...rules, ...changes },
      isRevoked: (jti) => jti === 'gone',
    })
  }
  const token = (changes: Record<string, unknown> = {}) => {
    const claims = { iss: rules.issuer, aud: rules.audience, sub: 'eve', tenant: 'local', exp: seconds() + 600 }
    return new SignJWT({ ...claims, scope: 'knowledge-spaces:*', ...changes })
      .setProtectedHeader({ alg: 'ES256' })
      .sign(pair.privateKey)
  }

  it('never get operator rights, whatever tenant they name', async () => {
    const session = await accept(await token(), verifier())
    expect(session).toMatchObject({ caller: { tenant: 'local', subject: 'eve' }, operator: false })
    expect([...session.scopes]).toEqual(['knowledge-spaces:*'])
  })

  it.each<[string, Record<string, unknown>, boolean]>([
    ['are accepted 50 seconds after exp', { exp: seconds() - 50 }, true],
    ['are refused 70 seconds after exp', { exp: seconds() - 70 }, false],
    ['are refused from another issuer than the configured one', { iss: 'https://other.example' }, false],
    ['are refused for another audience than the configured one', { aud: 'chat' }, false],
    ['are refused without a subject', { sub: undefined }, false],
    ['are refused without exp', { exp: undefined }, false],
    ['are accepted without jti', { jti: undefined }, true],
    ['are refused if their jti is revoked', { jti: 'gone' }, false],
  ])('%s', async (_, claims, isGood) => {
    const answer = accept(await token(claims), verifier())
    if (isGood) expect((await answer).caller.subject).toBe('eve')
    else await expect(answer).rejects.toMatchObject(REFUSED)
  })

  it('get refused if no provider is configured; a provider without keys is a configuration error', async () => {
    await expect(accept(await token(), fresh())).rejects.toMatchObject(REFUSED)
    const { publicKeyFile: _, ...none } = { publicKeyFile: '', ...rules }
    expect(() => createTokenVerifier({ external: none, isRevoked: () => false })).toThrow(
      /jwtJwksUrl or jwtPublicKeyFile/,
    )
  })

  it.each(['RS256', 'ES256', 'EdDSA'])('can be signed with %s', async (alg) => {
    const { publicKey, privateKey } =
      alg === 'RS256'
        ? generateKeyPairSync('rsa', { modulusLength: 2048 })
        : alg === 'ES256'
          ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
          : generateKeyPairSync('ed25519')
    const publicKeyFile = join(dataDir, `${alg}.pem`)
    writeFileSync(publicKeyFile, publicKey.export({ type: 'spki', format: 'pem' }))
    const claims = { iss: rules.issuer, aud: rules.audience, sub: 'eve', tenant: 'acme', exp: seconds() + 600 }
    const signed = await new SignJWT(claims).setProtectedHeader({ alg }).sign(privateKey)
    const byFile = createTokenVerifier({ external: { publicKeyFile, ...rules }, isRevoked: () => false })
    expect((await accept(signed, byFile)).caller).toEqual({ tenant: 'acme', subject: 'eve' })
  })

  it('get the reason "unknown key" if the provider has no key of their id', async () => {
    const jwk = { ...createPublicKey(pair.privateKey).export({ format: 'jwk' }), kid: 'one', alg: 'ES256', use: 'sig' }
    const server = createServer((_, response) => response.end(JSON.stringify({ keys: [jwk] })))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const byUrl = createTokenVerifier({
      external: { jwksUrl: `http://127.0.0.1:${port}/keys`, ...rules },
      isRevoked: () => false,
    })
    const signed = (kid: string) =>
      new SignJWT({ iss: rules.issuer, aud: rules.audience, sub: 'eve', tenant: 'acme', exp: seconds() + 600 })
        .setProtectedHeader({ alg: 'ES256', kid })
        .sign(pair.privateKey)
    try {
      expect((await accept(await signed('one'), byUrl)).caller.subject).toBe('eve')
      await expect(accept(await signed('two'), byUrl)).rejects.toMatchObject({
        message: expect.stringContaining('signed with a key that this service does not know'),
      })
    } finally {
      server.close()
    }
  })

  it('work next to local tokens, and the claims of each kind are read by the names of that kind', async () => {
    const publicKeyFile = join(dataDir, 'outside.pem')
    writeFileSync(publicKeyFile, createPublicKey(pair.privateKey).export({ type: 'spki', format: 'pem' }))
    const both = createTokenVerifier({
      localKey: loadSigningKey(dataDir),
      external: { publicKeyFile, ...rules, tenantClaim: 'org', scopeClaim: 'scp' },
      isRevoked: () => false,
    })
    const foreign = await accept(await token({ org: 'acme', scp: ['knowledge-spaces:read'] }), both)
    expect([foreign.caller.tenant, ...foreign.scopes]).toEqual(['acme', 'knowledge-spaces:read'])
    const own = await accept(await signedToken(dataDir, { org: 'acme', scp: ['knowledge-spaces:read'] }), both)
    expect([own.caller.tenant, ...own.scopes]).toEqual(['tenant-a', 'knowledge-spaces:*'])
  })
})
