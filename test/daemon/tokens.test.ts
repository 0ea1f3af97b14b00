import { createHmac, createPublicKey, generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { SignJWT } from 'jose'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { removeFolder } from '../../bench/lib/removed-folder.js'
import { createTokenVerifier, type TokenVerifier } from '../../src/daemon/auth/tokens.js'
import { prepareDataDir } from '../../src/local/data-dir.js'
import { createToken, loadSigningKey, type Scope } from '../../src/local/keys.js'
import { forgedToken, signedToken } from '../helpers/tokens.js'

let dataDir = ''
let local: TokenVerifier
const revoked = new Set<string>()
const now = () => Math.floor(Date.now() / 1000)

beforeAll(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'ks-tokens-'))
  prepareDataDir(dataDir, { allowNetworkDisk: true })
  local = createTokenVerifier({ localKey: loadSigningKey(dataDir), isRevoked: (jti) => revoked.has(jti) })
})
afterAll(() => removeFolder(dataDir))

const accept = (token: string, verifier = local) => verifier.authenticate(`Bearer ${token}`)
const REFUSAL = 'a valid bearer token is required in the Authorization header'
const refuse = (token: string, verifier = local) =>
  expect(accept(token, verifier), token.slice(0, 200)).rejects.toMatchObject({ code: 'unauthenticated' })

/** Key ids that a naive key lookup would use as a file, row or address. */
const KIDS: unknown[] = [
  '../../dev/null',
  '/dev/null',
  '',
  "x' UNION SELECT 'AA' --",
  'one\u0000two',
  'http://127.0.0.1/keys',
  '__proto__',
  ['a'],
  { toString: 'a' },
  7,
  null,
]

describe('a token of the data directory', () => {
  test('identifies its tenant and subject, and grants its scopes', async () => {
    const session = await accept(await signedToken(dataDir, { scope: 'knowledge-spaces:read knowledge-spaces:write' }))
    expect(session.caller).toEqual({ tenant: 'tenant-a', subject: 'ada' })
    expect([...session.scopes]).toEqual(['knowledge-spaces:read', 'knowledge-spaces:write'])
    expect(session.operator).toBe(false)
  })

  test('gets operator rights if it belongs to the local tenant with every scope', async () => {
    expect((await accept(await signedToken(dataDir, { tenant: 'local' }))).operator).toBe(true)
    expect(
      (await accept(await signedToken(dataDir, { tenant: 'local', scope: 'knowledge-spaces:read' }))).operator,
    ).toBe(false)
  })

  test('A05: allows one minute of leeway before iat and nbf, and none after exp', async () => {
    await accept(await signedToken(dataDir, { nbf: now() + 50 }))
    await accept(await signedToken(dataDir, { iat: now() + 50 }))
    await accept(await signedToken(dataDir, { exp: now() + 30 }))
    await refuse(await signedToken(dataDir, { exp: now() }))
  })

  test.each<[string, Record<string, unknown>]>([
    ['that has expired', { exp: now() - 1 }],
    ['that becomes valid later', { nbf: now() + 70 }],
    ['that was issued in the future', { iat: 32_503_680_000 }],
    ['without exp', { exp: undefined }],
    ['whose exp is a text', { exp: String(now() + 600) }],
    ['whose exp is a fraction', { exp: now() + 600.5 }],
    ['whose exp is negative', { exp: -1 }],
    ['whose exp is 1e300', { exp: 1e300 }],
    ['of another issuer', { iss: 'someone' }],
    ['for another audience', { aud: 'chat' }],
    ['without a subject', { sub: undefined }],
    ['without jti', { jti: undefined }],
    ['without a tenant', { tenant: undefined }],
    ['with an empty tenant', { tenant: '' }],
    ['with a tenant that is a list', { tenant: ['tenant-a'] }],
    ['with a control character in the tenant', { tenant: 'a\u0000b' }],
  ])('%s is refused', async (_what, claims) => {
    await refuse(await signedToken(dataDir, claims))
  })

  test.each<[string, Record<string, unknown>, string]>([
    ['that has expired', { exp: now() - 1 }, ': the token has expired'],
    ['that becomes valid later', { nbf: now() + 70 }, ': the token is not valid yet'],
    ['of another issuer', { iss: 'someone' }, ': the token is of another issuer'],
    ['for another audience', { aud: 'chat' }, ': the token is for another audience'],
    // The reason mentions no expected value.
    ['without a tenant', { tenant: undefined }, ''],
    ['without exp', { exp: undefined }, ''],
  ])('%s is refused with the reason, and without its claims', async (_what, claims, why) => {
    await expect(accept(await signedToken(dataDir, claims))).rejects.toMatchObject({ message: `${REFUSAL}${why}` })
  })

  test('with an unknown key is refused with only this as the reason, whatever its claims', async () => {
    const unknown = `${REFUSAL}: the token is signed with a key that this service does not know`
    for (const claims of [{}, { exp: now() - 900 }, { aud: 'chat' }, { iss: 'someone' }, { tenant: undefined }]) {
      const [header, payload] = (await signedToken(dataDir, claims)).split('.')
      const foreign = `${header}.${payload}.${Buffer.alloc(32).toString('base64url')}`
      await expect(accept(foreign)).rejects.toMatchObject({ message: unknown })
    }
    for (const token of ['', 'a.b.c', forgedToken({ alg: 'none' }, { exp: now() - 900 }, 'AAAA')])
      await expect(accept(token)).rejects.toMatchObject({ message: REFUSAL })
  })

  test.each<[string, Record<string, unknown>]>([
    ...KIDS.map((kid): [string, Record<string, unknown>] => [`kid ${JSON.stringify(kid)}`, { kid }]),
    ['jku', { jku: 'http://127.0.0.1/keys' }],
    ['jwk', { jwk: { kty: 'oct', k: 'AA' } }],
  ])('A04: with the header field %s is refused', async (_what, header) => {
    await refuse(await signedToken(dataDir, {}, header))
  })

  test('A06: gets no rights from a scope that only resembles a known scope', async () => {
    const claims = [
      'knowledge-spaces:*x',
      'xknowledge-spaces:*',
      'KNOWLEDGE-SPACES:*',
      'knowledge-spaces:＊',
      'knowledge-spaces:*,x',
      'knowledge-spaces',
      '*',
      '',
      'knowledge-spaces:read\u00a0x',
      'knowledge-ѕpaces:read',
      ['knowledge-spaces:read knowledge-spaces:write'],
      { 0: 'knowledge-spaces:*' },
      7,
      null,
      true,
    ]
    for (const scope of claims) expect((await accept(await signedToken(dataDir, { scope }))).scopes.size).toBe(0)
  })
})

describe('A02: an unsigned token', () => {
  const claims = () => ({
    iss: 'knowledge-spaces',
    aud: 'knowledge-spaces',
    sub: 'ada',
    tenant: 'tenant-a',
    scope: 'knowledge-spaces:*',
    exp: now() + 600,
    jti: 'x',
  })

  test.each(['none', 'None', 'nOnE', '', undefined, 'HS256', 'HS384', 'RS256', ['HS256']])(
    'with alg %j is refused',
    async (alg) => {
      await refuse(forgedToken({ alg, typ: 'JWT' }, claims()))
      await refuse(forgedToken({ alg, typ: 'JWT' }, claims(), 'AAAA'))
    },
  )

  test('with the signature of another token is refused', async () => {
    const signature = (await signedToken(dataDir)).split('.')[2]
    await refuse(forgedToken({ alg: 'HS256' }, { ...claims(), tenant: 'tenant-b' }, signature))
  })

  test('A13: in any altered form is refused', async () => {
    const good = await signedToken(dataDir)
    const [header = '', payload = '', signature = ''] = good.split('.')
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
    // The last character of 32 bytes in base64url has two bits that decoders ignore.
    const last = alphabet.indexOf(signature.at(-1) ?? '')
    const bent = [1, 2, 3].map((bit) => `${header}.${payload}.${signature.slice(0, -1)}${alphabet[last ^ bit]}`)
    for (const token of [
      ...bent,
      `${good}=`,
      `${good}.`,
      `.${good}`,
      ` ${good}`,
      `${good} `,
      good.replace('.', '..'),
      `${good}.x`,
      `${good}A`,
      `${header}.${payload}`,
      `${header}.${payload}.`,
      good.replace('.', ' .'),
      `${header}\n.${payload}.${signature}`,
    ])
      await refuse(token)
  })
})

describe('the Authorization header', () => {
  test('must consist of "Bearer", a space and one token', async () => {
    const token = await signedToken(dataDir)
    await local.authenticate(`bearer ${token}`)
    for (const header of [
      null,
      '',
      'Bearer',
      'Bearer ',
      token,
      `Basic ${token}`,
      `Bearer  ${token}`,
      `Bearer ${token}, Bearer ${token}`,
    ])
      await expect(local.authenticate(header)).rejects.toMatchObject({ code: 'unauthenticated' })
  })

  test('gets 401 before any computation if it is excessively long', async () => {
    const decoded = vi.spyOn(Buffer, 'from')
    for (const size of [8_192, 15_000, 1_000_000]) await refuse('a.b.c'.padEnd(size, 'c'))
    expect(decoded).not.toHaveBeenCalled()
    await refuse('a.b.c')
    expect(decoded).toHaveBeenCalled()
    decoded.mockRestore()
  })
})

describe('the revocation of a token', () => {
  test('takes effect at once, even if the token is in the cache of verified tokens', async () => {
    const { token, jti } = await createToken(dataDir, { tenant: 't', subject: 's', scopes: [] as Scope[] })
    await accept(token)
    revoked.add(jti)
    await refuse(token)
    revoked.delete(jti)
    await accept(token)
  })
})

describe('tokens of an identity provider', () => {
  const pair = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const publicPem = pair.publicKey.export({ type: 'spki', format: 'pem' }).toString()
  let outside: TokenVerifier

  beforeAll(() => {
    const publicKeyFile = join(dataDir, 'provider.pem')
    writeFileSync(publicKeyFile, publicPem)
    outside = createTokenVerifier({
      external: { publicKeyFile, issuer: 'https://id.example', audience: 'ks', tenantClaim: 'org', scopeClaim: 'scp' },
      isRevoked: () => false,
    })
  })

  const claims = () => ({
    iss: 'https://id.example',
    aud: 'ks',
    sub: 'eve',
    org: 'acme',
    scp: ['knowledge-spaces:read'],
    exp: now() + 600,
  })

  test('must be signed with its key, and follow its claim names', async () => {
    const token = await new SignJWT(claims()).setProtectedHeader({ alg: 'RS256', kid: 'any' }).sign(pair.privateKey)
    const session = await accept(token, outside)
    expect(session).toMatchObject({ caller: { tenant: 'acme', subject: 'eve' }, operator: false })
    expect([...session.scopes]).toEqual(['knowledge-spaces:read'])
  })

  test('A03: cannot be signed with the public key as a shared secret', async () => {
    const parts = [{ alg: 'HS256', typ: 'JWT' }, claims()].map((part) =>
      Buffer.from(JSON.stringify(part)).toString('base64url'),
    )
    for (const secret of [
      publicPem,
      publicPem.trim(),
      createPublicKey(publicPem).export({ type: 'spki', format: 'der' }),
    ]) {
      const signature = createHmac('sha256', secret).update(parts.join('.')).digest('base64url')
      await refuse(`${parts.join('.')}.${signature}`, outside)
    }
  })

  test('A04: must match the configured keys, whatever key their header names', async () => {
    const key = createPublicKey(publicPem).export({ format: 'jwk' })
    const server = createServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ keys: [{ ...key, kid: 'one', alg: 'RS256', use: 'sig' }] }))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const address = server.address()
    const jwksUrl = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/keys`
    const outsideKeys = { issuer: 'https://id.example', audience: 'ks', tenantClaim: 'org', scopeClaim: 'scp' }
    const byUrl = createTokenVerifier({ external: { ...outsideKeys, jwksUrl }, isRevoked: () => false })
    // The attacker's key is where a `kid` could lead: in a file, and as the empty secret.
    const planted = generateKeyPairSync('rsa', { modulusLength: 2048 })
    const file = join(dataDir, 'planted.pem')
    writeFileSync(file, planted.publicKey.export({ type: 'spki', format: 'pem' }))
    const sign = (header: Record<string, unknown>) =>
      new SignJWT(claims()).setProtectedHeader({ alg: 'RS256', ...header }).sign(planted.privateKey)
    try {
      await accept(
        await new SignJWT(claims()).setProtectedHeader({ alg: 'RS256', kid: 'one' }).sign(pair.privateKey),
        byUrl,
      )
      const jwk = planted.publicKey.export({ format: 'jwk' })
      const headers = [...KIDS, file, `../${basename(dataDir)}/planted.pem`, 'one', 'a'.repeat(64 * 1024)].map(
        (kid) => ({ kid }),
      )
      for (const header of [...headers, { jwk }, { jku: jwksUrl, kid: 'one' }, { x5u: `file://${file}` }])
        for (const verifier of [outside, byUrl]) await refuse(await sign(header), verifier)
      const empty = [{ alg: 'HS256', kid: '../../dev/null' }, claims()].map((part) =>
        Buffer.from(JSON.stringify(part)).toString('base64url'),
      )
      const signature = createHmac('sha256', '').update(empty.join('.')).digest('base64url')
      for (const verifier of [outside, byUrl, local]) await refuse(`${empty.join('.')}.${signature}`, verifier)
    } finally {
      server.close()
    }
  })

  test('never count as local tokens, and local tokens never count as tokens of the provider', async () => {
    await refuse(await signedToken(dataDir), outside)
    await refuse(await new SignJWT(claims()).setProtectedHeader({ alg: 'RS256' }).sign(pair.privateKey), local)
  })

  test('get refused if signed with an algorithm outside the list', async () => {
    await refuse(await new SignJWT(claims()).setProtectedHeader({ alg: 'PS256' }).sign(pair.privateKey), outside)
  })
})
