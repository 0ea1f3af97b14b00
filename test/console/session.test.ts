import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createConsoleCodes } from '../../src/daemon/console/codes.js'
import { until } from '../helpers/until.js'
import { type Console, closeBrowser, hasBrowser, openTab, readJson, startConsole } from './browser.js'

let console: Console

beforeAll(async () => {
  console = await startConsole()
})
afterAll(closeBrowser)

const post = (path: string, json: unknown, headers: Record<string, string> = {}) =>
  fetch(`${console.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(json),
  })
interface Session {
  token: string
  renewal: string
}
const createCode = async () =>
  new URLSearchParams(new URL(await console.createSignInPath(), console.url).hash.slice(1)).get('code')
const listSpaces = (token: string) => console.call('GET', '/knowledge-spaces', { token })

describe('the sign-in code of an address', () => {
  it('can be exchanged only once for a session of the operator', async () => {
    const code = await createCode()
    const first = await post('/daemon/console/sessions', { code })
    expect(first.status).toBe(201)
    const { token, renewal } = await readJson<Session>(first)
    expect((await listSpaces(token)).status).toBe(200)
    // The renewal is no access token.
    expect((await listSpaces(renewal)).status).toBe(401)
    expect((await post('/daemon/console/sessions', { code })).status).toBe(401)
  })

  it('can be created by the operator only, and an invalid code is refused', async () => {
    expect((await console.call('POST', '/daemon/console/codes')).status).toBe(403)
    expect((await fetch(`${console.url}/daemon/console/codes`, { method: 'POST' })).status).toBe(401)
    expect((await post('/daemon/console/sessions', { code: 'x'.repeat(43) })).status).toBe(401)
    expect((await post('/daemon/console/sessions', {})).status).toBe(400)
  })

  it('expires after a minute', () => {
    let now = 0
    const codes = createConsoleCodes(() => now)
    const caller = { tenant: 'local', subject: 'grace' }
    const [early, late] = [codes.create(caller), codes.create(caller)]
    now = 59_999
    expect(codes.use(early.code)).toEqual({ caller, id: early.sessionId })
    now = 60_000
    expect(codes.use(late.code)).toBeUndefined()
  })

  it('cannot be exchanged by a page of another site', async () => {
    const answer = await post(
      '/daemon/console/sessions',
      { code: await createCode() },
      { origin: 'http://evil.example' },
    )
    expect([answer.status, answer.headers.get('x-error-code')]).toEqual([403, 'host-refused'])
  })
})

describe('a console session', () => {
  it('continues with its renewal until its id is revoked', async () => {
    const { renewal } = await readJson<Session>(await post('/daemon/console/sessions', { code: await createCode() }))
    const renewed = await post('/daemon/console/sessions/renew', { renewal })
    expect(renewed.status).toBe(201)
    const next = await readJson<Session>(renewed)
    expect((await listSpaces(next.token)).status).toBe(200)
    // A token of the API is no renewal.
    expect((await post('/daemon/console/sessions/renew', { renewal: next.token })).status).toBe(401)
    const { jti } = JSON.parse(Buffer.from(next.renewal.split('.')[1] ?? '', 'base64url').toString())
    await console.call('DELETE', `/daemon/tokens/${jti}`, { token: console.operator })
    expect((await post('/daemon/console/sessions/renew', { renewal: next.renewal })).status).toBe(401)
  })
})

describe('the files of the console', () => {
  it('come with a strict content policy, are cached if their name is a hash, and nothing else is served', async () => {
    const page = await fetch(`${console.url}/console/`)
    expect(page.headers.get('content-security-policy')).toContain(
      "default-src 'none'; script-src 'self'; style-src 'self';",
    )
    expect(page.headers.get('content-security-policy')).not.toContain('unsafe')
    expect(page.headers.get('cache-control')).toBe('no-store')
    expect(page.headers.get('x-content-type-options')).toBe('nosniff')
    expect(page.headers.get('referrer-policy')).toBe('no-referrer')
    const html = await page.text()
    const script = /src="(\/console\/assets\/[^"]+\.js)"/.exec(html)?.[1] ?? ''
    const asset = await fetch(`${console.url}${script}`)
    expect(asset.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
    expect(asset.headers.get('content-type')).toBe('text/javascript; charset=utf-8')
    expect((await fetch(`${console.url}/console/assets/none.js`)).status).toBe(404)
    // A path within the page.
    expect(await (await fetch(`${console.url}/console/documents/x`)).text()).toBe(html)
    for (const path of ['..%2f..%2fpackage.json', '%2e%2e/%2e%2e/package.json', '.manifest.json', 'assets/..%2f.built'])
      expect(await (await fetch(`${console.url}/console/${path}`)).text()).not.toContain('"dependencies"')
  })

  it('have at most 150 KB compressed for the first page', async () => {
    const html = await (await fetch(`${console.url}/console/`)).text()
    const names = [...html.matchAll(/(?:src|href)="(\/console\/assets\/[^"]+)"/g)].map(([, name]) => name)
    expect(names.length).toBeGreaterThan(1)
    let bytes = 0
    for (const name of names)
      bytes += gzipSync(Buffer.from(await (await fetch(console.url + name)).arrayBuffer())).length
    expect(bytes).toBeLessThan(150 * 1024)
  })

  it('contain no path of the machine that built them', () => {
    const folder = new URL('../../dist/console/assets/', import.meta.url)
    const scripts = readdirSync(folder).filter((name) => name.endsWith('.js'))
    expect(scripts.length).toBeGreaterThan(10)
    const root = fileURLToPath(new URL('../..', import.meta.url))
    const withPath = scripts.filter((name) => readFileSync(new URL(name, folder), 'utf8').includes(root))
    expect(withPath).toEqual([])
  })
})

describe.runIf(hasBrowser)('the console session in the browser', () => {
  it('removes the code from the address, shows the page, and sends no request to other hosts', async () => {
    const { page, problems, foreignUrls, close } = await console.openPage()
    await page.getByRole('heading', { name: 'Spaces', level: 1 }).waitFor()
    expect(page.url()).toBe(`${console.url}/console/spaces`)
    expect({ problems, foreignUrls }).toEqual({ problems: [], foreignUrls: [] })
    await close()
  })

  it('explains a refused token, and with a valid token shows the page of its tenant, in this tab only', async () => {
    const { page, close } = await openTab(console.url, '/console/')
    await page.getByLabel('Token').fill('no.good.token')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('The token is invalid or has expired').waitFor()
    await page.getByLabel('Token').fill(console.operator)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { name: 'Spaces', level: 1 }).waitFor()
    const other = await page.context().newPage()
    await other.goto(`${console.url}/console/`)
    await other.getByLabel('Token').waitFor()
    await close()
  })

  it('stores neither code nor token in an address or outside the tab, nor in the tab after signing out', async () => {
    const address = await console.createSignInPath()
    const { page, close } = await openTab(console.url, '/console/icon.svg')
    const requested: string[] = []
    page.on('request', (request) => requested.push(request.url()))
    page.on('framenavigated', (frame) => requested.push(frame.url()))
    await page.goto(console.url + address)
    await page.getByRole('heading', { name: 'Spaces', level: 1 }).waitFor()
    const { token, renewal }: Session = JSON.parse(String(await page.evaluate(`sessionStorage.getItem('ks.session')`)))
    const secrets = [token, renewal, address.slice(address.indexOf('=') + 1)]
    for (const id of ['ask', 'operations', 'chat']) {
      await page.goto(`${console.url}/console/${id}`)
      await page.locator('main h1').first().waitFor()
    }
    const stored = await page.evaluate(
      'Promise.all([JSON.stringify(localStorage), document.cookie, indexedDB.databases(), caches.keys()]).then(JSON.stringify)',
    )
    // No address of the history signs in.
    for (let step = 0; step < 4; step++) await page.goBack().catch(() => undefined)
    const urls = requested.filter((url) => !url.endsWith(address))
    for (const secret of secrets) expect([...urls, page.url(), String(stored)].join(' ')).not.toContain(secret)
    expect(String(stored)).toMatch(/"",\[\],\[\]\]$/)
    await page.goto(`${console.url}/console/spaces`)
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByLabel('Token').waitFor()
    expect(await page.evaluate(`JSON.stringify(sessionStorage)`)).not.toContain(token)
    await until(async () => (await listSpaces(token)).status === 401)
    expect((await post('/daemon/console/sessions/renew', { renewal })).status).toBe(401)
    await close()
  })

  it('does not renew a token in a duplicated tab while the original tab is open, but after that tab is closed', async () => {
    const { page, close } = await console.openPage()
    await page.getByRole('heading', { name: 'Spaces', level: 1 }).waitFor()
    // Expires at once, so that every request renews the token.
    const stored: object = JSON.parse(String(await page.evaluate(`sessionStorage.getItem('ks.session')`)))
    const expired = JSON.stringify({ ...stored, expiresAt: Date.now() })
    const copy = await page.context().newPage()
    await copy.addInitScript(`sessionStorage.setItem('ks.session', ${JSON.stringify(expired)})`)
    const renewals: number[] = []
    copy.on('response', (response) => void (response.url().endsWith('/renew') && renewals.push(response.status())))
    for (let visit = 0; visit < 2; visit++) {
      await copy.goto(`${console.url}/console/spaces`)
      await copy.getByRole('heading', { name: 'Spaces', level: 1 }).waitFor()
    }
    expect(renewals).toEqual([])
    await page.close()
    await until(async () => {
      await copy.getByRole('link', { name: 'Ask' }).first().click()
      await copy.getByRole('link', { name: 'Spaces' }).first().click()
      return renewals.length > 0
    })
    expect(renewals[0]).toBe(201)
    await close()
  })

  it('explains that a sign-in address was already used', async () => {
    const address = await console.createSignInPath()
    const first = await openTab(console.url, address)
    await first.page.getByRole('heading', { name: 'Spaces', level: 1 }).waitFor()
    const second = await openTab(console.url, address)
    await second.page.getByText('this address was already used or has expired').waitFor()
    await first.close()
    await second.close()
  })
})
