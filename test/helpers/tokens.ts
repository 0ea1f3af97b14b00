import { readFileSync } from 'node:fs'
import { SignJWT } from 'jose'
import { createToken, type Scope } from '../../src/local/keys.js'
import { resolveDataLayout } from '../../src/local/layout.js'

/** Tokens of one data directory for the callers of a test. */
export interface TestTokens {
  ada: string
  /** another subject of Ada's tenant */
  carol: string
  /** another tenant */
  bob: string
  readOnly: string
  writeOnly: string
  noScope: string
  /** local tenant with every scope: has operator rights */
  operator: string
}

export async function createTestTokens(dataDir: string): Promise<TestTokens> {
  const create = async (tenant: string, subject: string, scopes: Scope[]) =>
    (await createToken(dataDir, { tenant, subject, scopes })).token
  return {
    ada: await create('tenant-a', 'ada', ['knowledge-spaces:*']),
    carol: await create('tenant-a', 'carol', ['knowledge-spaces:*']),
    bob: await create('tenant-b', 'bob', ['knowledge-spaces:*']),
    readOnly: await create('tenant-a', 'ada', ['knowledge-spaces:read']),
    writeOnly: await create('tenant-a', 'ada', ['knowledge-spaces:write']),
    noScope: await create('tenant-a', 'ada', []),
    operator: await create('local', 'operator', ['knowledge-spaces:*']),
  }
}

/** A token signed by the data directory's key, with these claims and header fields; `undefined` omits one. */
export async function signedToken(
  dataDir: string,
  claims: Record<string, unknown> = {},
  header: Record<string, unknown> = {},
): Promise<string> {
  const key = Buffer.from(readFileSync(resolveDataLayout(dataDir).signingKey, 'utf8').trim(), 'base64url')
  const now = Math.floor(Date.now() / 1000)
  const all = {
    iss: 'knowledge-spaces',
    aud: 'knowledge-spaces',
    sub: 'ada',
    tenant: 'tenant-a',
    jti: 'test',
    scope: 'knowledge-spaces:*',
    iat: now,
    exp: now + 600,
    ...claims,
  }
  const payload = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined))
  return await new SignJWT(payload).setProtectedHeader({ alg: 'HS256', ...header }).sign(key)
}

/** A token assembled by hand: no library would sign these. */
export function forgedToken(header: unknown, claims: unknown, signature = ''): string {
  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
  return `${encode(header)}.${encode(claims)}.${signature}`
}
