import { afterAll, beforeAll, expect, test } from 'vitest'
import { createToken, type Scope } from '../../src/local/keys.js'
import { type CliHome, cliHome } from '../helpers/cli.js'

let home: CliHome
beforeAll(async () => {
  home = cliHome()
  await home.ks(['daemon', 'start'])
})
afterAll(() => home.end())

const token = async (scopes: Scope[]) => await createToken(home.dataDir, { tenant: 'local', subject: 'ada', scopes })

test('`ks auth token --revoke` with read and write scopes demands the token of the operator', async () => {
  const { jti, token: own } = await token(['knowledge-spaces:read', 'knowledge-spaces:write'])
  const refused = await home.ks(['auth', 'token', '--revoke', jti], { env: { KS_TOKEN: own } })
  expect(refused.code).toBe(4)
  expect(refused.stderr).toContain('only the operator of this daemon may do this')
  expect(refused.stderr).toContain('ks auth token --scope "knowledge-spaces:*"')
  expect(refused.stderr).not.toContain('knowledge-spaces:read')
  // The hint works.
  const made = await home.ks(['auth', 'token', '--scope', 'knowledge-spaces:*'])
  const done = await home.ks(['auth', 'token', '--revoke', jti], { env: { KS_TOKEN: made.stdout.trim() } })
  expect(done.code).toBe(0)
  expect((await home.ks(['spaces', 'list'], { env: { KS_TOKEN: own } })).stderr).toContain('bearer token')
})

test('`ks auth token --revoke` with the read scope demands the write scope', async () => {
  const { jti, token: own } = await token(['knowledge-spaces:read'])
  const refused = await home.ks(['auth', 'token', '--revoke', jti], { env: { KS_TOKEN: own } })
  expect(refused.stderr).toContain('lacks the scope knowledge-spaces:write')
  expect(refused.stderr).toContain('--scope "knowledge-spaces:read knowledge-spaces:write"')
})
