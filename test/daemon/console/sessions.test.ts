import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { parseTokenClaims } from '../../../src/cli/token-claims.js'
import { openEngine } from '../../../src/engine/index.js'
import { bodyOf, startEdge, type TestEdge } from '../../helpers/daemon.js'
import { engineOptions } from '../../helpers/engine.js'

interface Tab {
  id: string
  token: string
  renewal: string
}

let edge: TestEdge
/** a second gateway on the same database */
let other: TestEdge

beforeEach(async () => {
  edge = await startEdge()
  other = await startEdge({ engine: edge.engine, dataDir: edge.dataDir })
})
afterEach(() => edge.end())

const codeOf = async () =>
  await bodyOf<{ code: string; sessionId: string }>(
    await edge.send('POST', '/daemon/console/codes', { token: edge.tokens.operator }),
  )
const exchange = (code: string) => edge.send('POST', '/daemon/console/sessions', { json: { code } })
const openTab = async () => await bodyOf<Tab>(await exchange((await codeOf()).code))
const renew = (renewal: string, at = edge) => at.send('POST', '/daemon/console/sessions/renew', { json: { renewal } })
const revoke = (id: string, token = edge.tokens.operator) => edge.send('DELETE', `/daemon/tokens/${id}`, { token })
const statusOf = async (token: string, at = edge) => (await at.send('GET', '/knowledge-spaces', { token })).status
const programToken = (token: string, days = 90) =>
  edge.send('POST', '/daemon/console/tokens', { token, json: { subject: 'ci', write: true, days } })

describe('the token of a console tab', () => {
  it('gets no code for another tab: 403', async () => {
    const { token } = await openTab()
    const answer = await edge.send('POST', '/daemon/console/codes', { token })
    expect([answer.status, answer.headers.get('x-error-code')]).toEqual([403, 'scope-missing'])
  })

  it('signs only tokens that end with its session and are revoked with it', async () => {
    const tab = await openTab()
    const { token, expiresAt } = await bodyOf<{ token: string; expiresAt: string }>(await programToken(tab.token))
    expect(Date.parse(expiresAt)).toBeLessThanOrEqual(Date.now() + 12 * 60 * 60 * 1000)
    expect(await statusOf(token)).toBe(200)
    expect((await programToken(token)).status).toBe(403)
    await revoke(tab.id)
    expect(await statusOf(token)).toBe(401)
  })

  it('contains the id of its session, before and after a renewal', async () => {
    const { code, sessionId } = await codeOf()
    const tab = await bodyOf<Tab>(await exchange(code))
    const next = await bodyOf<Tab>(await renew(tab.renewal))
    expect([tab.id, parseTokenClaims(tab.token).id, parseTokenClaims(next.token).id]).toEqual(Array(3).fill(sessionId))
  })

  it('can end its own session', async () => {
    const tab = await openTab()
    expect((await revoke(tab.id, tab.token)).status).toBe(204)
    expect([await statusOf(tab.token), (await renew(tab.renewal)).status]).toEqual([401, 401])
  })
})

describe('revoking the id of a session', () => {
  it('refuses its token and its renewal at every gateway', async () => {
    const tab = await openTab()
    await revoke(tab.id)
    for (const at of [edge, other])
      expect([await statusOf(tab.token, at), (await renew(tab.renewal, at)).status]).toEqual([401, 401])
  })

  it('refuses a code that was not used yet', async () => {
    const { code, sessionId } = await codeOf()
    await revoke(sessionId)
    expect((await exchange(code)).status).toBe(401)
  })

  it('survives a restart, as the use of a renewal does, while sessions that were not revoked continue', async () => {
    const [revoked, used, live] = [await openTab(), await openTab(), await openTab()]
    await revoke(revoked.id)
    await renew(used.renewal)
    await edge.engine.close()
    const engine = await openEngine(engineOptions(edge.dataDir))
    edge = await startEdge({ engine, dataDir: edge.dataDir })
    try {
      expect((await renew(revoked.renewal)).status).toBe(401)
      expect((await renew(used.renewal)).status).toBe(401)
      expect(await statusOf(used.token)).toBe(401)
      expect((await renew(live.renewal)).status).toBe(201)
    } finally {
      await engine.close()
    }
  })
})

describe('a renewal', () => {
  it('gets the next token and the next renewal, several times in a row', async () => {
    let tab = await openTab()
    for (let turn = 0; turn < 3; turn++) {
      const answer = await renew(tab.renewal)
      expect(answer.status).toBe(201)
      tab = await bodyOf<Tab>(answer)
      expect(await statusOf(tab.token)).toBe(200)
    }
  })

  it('that is used twice ends the session at every gateway, with the token and renewal of its first use', async () => {
    const tab = await openTab()
    const next = await bodyOf<Tab>(await renew(tab.renewal))
    expect((await renew(tab.renewal, other)).status).toBe(401)
    expect([await statusOf(tab.token), await statusOf(next.token)]).toEqual([401, 401])
    expect((await renew(next.renewal)).status).toBe(401)
  })

  it('that two clients use at once works for one at most, and ends the session', async () => {
    const { renewal, token } = await openTab()
    const answers = await Promise.all([renew(renewal), renew(renewal, other)])
    expect(answers.filter(({ status }) => status === 201).length).toBeLessThanOrEqual(1)
    expect(await statusOf(token)).toBe(401)
  })

  it('that is used twice does not affect other sessions', async () => {
    const [one, two] = [await openTab(), await openTab()]
    await renew(one.renewal)
    await renew(one.renewal)
    expect(await statusOf(two.token)).toBe(200)
    expect((await renew(two.renewal)).status).toBe(201)
  })
})
