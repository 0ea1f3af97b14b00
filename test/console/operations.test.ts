import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { listSeriousProblems, measureOverflow } from './axe.js'
import { type Console, closeBrowser, hasBrowser, readJson, startConsole } from './browser.js'

const HOSTILE = '<img src=x onerror=document.title=1>.txt'
let console: Console
let id = ''

beforeAll(async () => {
  console = await startConsole({ compilation: 'inline' })
  const json = { name: 'Notes', slug: 'notes' }
  id = (await readJson<{ id: string }>(await call('POST', '/knowledge-spaces', { json }))).id
  for (const [name, text] of [
    ['ferry.md', '# Ferry\n\nThe ferry leaves at nine.\n'],
    [HOSTILE, 'The shop opens at ten.\n'],
  ] as const) {
    const form = { file: new File([text], name) }
    expect((await call('POST', `/knowledge-spaces/${id}/documents`, { form })).status).toBe(201)
  }
})
afterAll(closeBrowser)

const call: Console['call'] = (method, path, sent = {}) =>
  console.call(method, path, { token: console.operator, ...sent })

describe('tokens of the console', () => {
  it('can be created by the operator only, never with all scopes, and for at most 90 days', async () => {
    const json = { subject: 'ci', write: false, days: 1 }
    expect((await console.call('POST', '/daemon/console/tokens', { json })).status).toBe(403)
    expect((await call('POST', '/daemon/console/tokens', { json: { ...json, days: 91 } })).status).toBe(400)
    const { token } = await readJson<{ token: string }>(await call('POST', '/daemon/console/tokens', { json }))
    const { scope, tenant } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
    expect({ scope, tenant }).toEqual({ scope: 'knowledge-spaces:read', tenant: 'local' })
    expect((await console.call('GET', '/knowledge-spaces', { token })).status).toBe(200)
    // It signs no others.
    expect((await console.call('POST', '/daemon/console/tokens', { token, json })).status).toBe(403)
  })
})

describe.runIf(hasBrowser)('the operations pages in the browser', () => {
  it('show the state of the daemon without serious accessibility problems at 360 px', async () => {
    const { page, problems, close } = await console.openPage('operations', { width: 360, height: 740 })
    for (const [tab, text] of [
      ['Activity', 'Running jobs'],
      ['Jobs', HOSTILE],
      ['Index', 'No active leases.'],
      ['Check and clean', 'A check changes nothing.'],
      ['Retention and quotas', 'Embedding tokens per day'],
      ['Tokens', 'Revoke a token'],
    ] as const) {
      await page.getByRole('tab', { name: tab }).click()
      await page.getByText(text).first().waitFor()
      expect([tab, await listSeriousProblems(page), await measureOverflow(page)]).toEqual([tab, [], 0])
    }
    expect(await page.title()).not.toBe('1')
    expect(problems).toEqual([])
    await close()
  })

  it('find a lost file, preview a repair before it runs, and preview a clean-up', async () => {
    const objects = readdirSync(console.dataDir, { recursive: true, withFileTypes: true }).filter(
      (entry) => entry.isFile() && /objects/.test(entry.parentPath),
    )
    for (const entry of objects) rmSync(join(entry.parentPath, entry.name))
    expect(objects.length).toBeGreaterThan(0)
    const { page, close } = await console.openPage('operations?tab=upkeep&space=notes')
    await page.getByRole('button', { name: 'Check', exact: true }).click()
    await page.getByText(/[1-9]\d* issues? found/).waitFor()
    await page.getByRole('button', { name: 'Preview the repair' }).click()
    await page.getByText('Nothing was changed yet.').waitFor()
    await page.getByRole('button', { name: 'Dry run' }).click()
    await page.getByText(/There is nothing to remove|Each is checked again/).waitFor()
    await close()
  })

  it('save a changed retention policy', async () => {
    const { page, close } = await console.openPage('operations?tab=keeping&space=notes')
    await page.getByLabel('Traces of answers (days)').first().fill('31')
    await page.getByRole('button', { name: 'Save' }).first().click()
    await page.getByText('The policy was changed').waitFor()
    const policy = await readJson<{ answerTraceRetentionDays: number }>(
      await call('GET', `/knowledge-spaces/${id}/retention-policy`),
    )
    expect(policy.answerTraceRetentionDays).toBe(31)
    await close()
  })

  it('show a new token once; the token is accepted until its id is revoked', async () => {
    const { page, problems, close } = await console.openPage('operations?tab=tokens')
    await page.getByLabel('For', { exact: true }).fill('ci')
    await page.getByRole('button', { name: 'Create token' }).click()
    const token = (await page.getByLabel('The token').textContent()) ?? ''
    const jti = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()).jti
    expect((await console.call('GET', '/knowledge-spaces', { token })).status).toBe(200)
    expect(await listSeriousProblems(page)).toEqual([])
    await page.getByRole('button', { name: 'I have it' }).click()
    expect(await page.content()).not.toContain(token)
    await page.getByLabel('Token id').fill(jti)
    await page.getByRole('button', { name: 'Revoke' }).click()
    await page.getByText('The token was revoked').waitFor()
    expect((await console.call('GET', '/knowledge-spaces', { token })).status).toBe(401)
    expect(problems).toEqual([])
    await close()
  })
})
