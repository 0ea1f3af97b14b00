import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { listSeriousProblems, measureOverflow } from './axe.js'
import { type Console, closeBrowser, hasBrowser, openTab, readJson, startConsole } from './browser.js'

const HOSTILE = '<img src=x onerror="document.title=1">'
const SECRET = 'hunter2-of-the-site'
let console: Console
let site: Server
let address = ''
let isDown = false
const notes = mkdtempSync(join(tmpdir(), 'ks-watched-'))
let id = ''

beforeAll(async () => {
  site = createServer((request, response) => {
    if (isDown) return response.writeHead(503).end()
    if (request.url === '/robots.txt') return response.writeHead(404).end()
    if (request.headers.authorization !== `Bearer ${SECRET}`) return response.writeHead(401).end()
    response.writeHead(200, { 'content-type': 'text/html' })
    response.end(
      `<title>${request.url}</title><main><h1>Hours</h1><p>The shop opens at nine in the morning.</p></main>`,
    )
  })
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve))
  const bound = site.address()
  address = `http://127.0.0.1:${typeof bound === 'object' ? bound?.port : ''}/hours/`
  writeFileSync(join(notes, 'ferry.md'), '# Ferry\n\nThe ferry leaves at nine.\n')
  console = await startConsole({ egressAllow: ['127.0.0.1'] })
  const body = { name: HOSTILE, slug: 'shop' }
  const made = await console.call('POST', '/knowledge-spaces', { token: console.operator, json: body })
  id = (await readJson<{ id: string }>(made)).id
})
afterAll(async () => {
  await closeBrowser()
  site.close()
  rmSync(notes, { recursive: true })
})

const read = async (path: string) => await (await console.call('GET', path, { token: console.operator })).text()

describe.runIf(hasBrowser)('sources in the browser', () => {
  it('include a site that can be added with a hidden secret, read, paused, and removed with its documents', async () => {
    const { page, problems, foreignUrls, close } = await console.openPage('sources')
    await page.getByRole('button', { name: 'Add a source' }).click()
    await page.getByRole('button', { name: 'Web site' }).click()
    const form = page.getByRole('dialog')
    await form.getByLabel('Name').fill(HOSTILE)
    await form.getByLabel('Address').fill(address)
    await form.getByLabel('Signs in with').selectOption({ label: 'A token' })
    expect(await form.getByLabel('Token').getAttribute('type')).toBe('password')
    await form.getByLabel('Token').fill(SECRET)
    await form.getByLabel('Schedule').selectOption('every')
    await form.getByLabel('Hours').fill('6')
    expect(await listSeriousProblems(page)).toEqual([])
    await form.getByRole('button', { name: 'Add', exact: true }).click()
    const card = page.getByRole('listitem').filter({ has: page.getByRole('heading', { name: HOSTILE }) })
    await card.getByText('not read yet').waitFor()
    await card.getByText('every 6 hours').waitFor()

    await card.getByRole('button', { name: 'Sync now' }).click()
    await card.getByText('1 new').waitFor()
    expect(await read(`/knowledge-spaces/${id}/documents`)).toContain('hours')

    await card.getByRole('button', { name: 'Edit' }).click()
    expect(await page.content()).not.toContain(SECRET)
    await page.getByRole('dialog').getByLabel('Hours').fill('12')
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
    await card.getByText('every 12 hours').waitFor()
    // A change without the secret keeps it.
    await card.getByRole('button', { name: 'Sync now' }).click()
    await card.getByText('1 unchanged').waitFor()

    await card.getByRole('button', { name: 'Pause' }).click()
    await card.getByText('paused').waitFor()
    await card.getByRole('button', { name: 'Resume' }).click()
    await card.getByText('active').waitFor()

    await card.getByRole('button', { name: 'Remove' }).click()
    await page.getByText('Remove its 1 document too').waitFor()
    expect(await listSeriousProblems(page)).toEqual([])
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
    await page.getByRole('heading', { name: 'No source yet' }).waitFor()
    expect(JSON.parse(await read(`/knowledge-spaces/${id}/sources`)).items).toEqual([])
    expect(await page.title()).not.toBe('1')
    expect({ problems, foreignUrls }).toEqual({ problems: [], foreignUrls: [] })
    await close()
  })

  it('explain why a source cannot be read and what to do, and can keep its documents', async () => {
    const json = { name: 'Site', type: 'web', uri: address, metadata: {} }
    await console.call('POST', `/knowledge-spaces/${id}/sources`, { token: console.operator, json })
    const { page, close } = await console.openPage('sources?space=shop')
    const card = page.getByRole('listitem').filter({ hasText: address })
    await card.getByRole('button', { name: 'Sync now' }).click()
    await card.getByText('Edit the source and enter credentials that the server accepts.').first().waitFor()
    isDown = true
    await card.getByRole('button', { name: 'Sync now' }).click()
    await card.getByText('robots.txt answered 503').first().waitFor()
    isDown = false
    await card.getByRole('button', { name: 'Remove' }).click()
    await page.getByLabel('Keep the documents').check()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
    await page.getByRole('heading', { name: 'No source yet' }).waitFor()
    await close()
  })

  it('include a watched folder with its progress, which can be removed while its documents remain', async () => {
    const { page, problems, close } = await console.openPage('sources?space=shop', { width: 360, height: 740 })
    await page.getByRole('button', { name: 'Watch a folder' }).click()
    await page.getByLabel('Folder', { exact: true }).fill(notes)
    await page.getByRole('button', { name: 'Watch', exact: true }).click()
    const card = page.getByRole('listitem').filter({ hasText: notes })
    await card.getByText('up to date').waitFor()
    await card.getByText('1 file').waitFor()
    expect([await listSeriousProblems(page), await measureOverflow(page)]).toEqual([[], 0])
    await card.getByRole('button', { name: 'Stop watching' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Stop watching' }).click()
    await page.getByRole('heading', { name: 'No folder is watched' }).waitFor()
    expect(await read(`/knowledge-spaces/${id}/documents`)).toContain('ferry.md')
    expect(problems).toEqual([])
    await close()
  })

  it('explain to a user who is not the operator that only the operator can watch folders', async () => {
    await console.call('POST', '/knowledge-spaces', { json: { name: 'Other', slug: 'other' } })
    const { page, close } = await openTab(console.url, '/console/sources')
    const { createToken } = await import('../../src/local/keys.js')
    const { token } = await createToken(console.dataDir, {
      tenant: 'tenant-a',
      subject: 'ada',
      scopes: ['knowledge-spaces:*'],
    })
    await page.getByLabel('Token').fill(token)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText(/operator/).waitFor()
    expect(await page.content()).not.toContain(notes)
    await close()
  })
})
