import { createServer } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createToken } from '../../src/local/keys.js'
import { listSeriousProblems, measureOverflow } from './axe.js'
import { type Console, closeBrowser, hasBrowser, openTab, readJson, restartConsole, startConsole } from './browser.js'

const HOSTILE = '<img src=x onerror="document.title=1">'
const ANSWERED = 'Who asks gets this fixed answer.'
let console: Console
let spaceId = ''
let appId = ''
let other = ''

// The setting names an application, which exists only after a start: so the daemon starts twice on one folder.
beforeAll(async () => {
  console = await startConsole({ compilation: 'inline' })
  const json = { name: HOSTILE, slug: 'shop' }
  spaceId = (await readJson<{ id: string }>(await call('POST', '/knowledge-spaces', { json }))).id
  const form = {
    file: new File(['# Hours\n\nThe shop opens at nine in the morning on weekdays [77].\n'], 'hours <b>bold</b>.md'),
  }
  await call('POST', `/knowledge-spaces/${spaceId}/documents`, { form })
  const app = { name: HOSTILE, knowledgeSpaceIds: [spaceId], suggestedQuestions: ['When does the shop open?'] }
  appId = (await readJson<{ id: string }>(await call('POST', '/chat-apps', { json: app }))).id
  other = (await readJson<{ id: string }>(await call('POST', '/chat-apps', { json: { ...app, name: 'Other' } }))).id
  const settings = { compilation: 'inline', chatPages: [appId], chatPageFrames: ['http://localhost:*'] }
  console = await restartConsole(console, settings)
})
afterAll(closeBrowser)

const call: Console['call'] = (method, path, sent = {}) =>
  console.call(method, path, { token: console.operator, ...sent })
const post = (path: string, json: unknown, headers: Record<string, string> = {}) =>
  fetch(console.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(json),
  })
interface Visit {
  token: string
  user: string
}
const visit = async (before?: string) => await readJson<Visit>(await post(`/chat/${appId}/visits`, { before }))
const chat = (token: string, method: string, path: string, json?: unknown) =>
  fetch(`${console.url}/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(json === undefined ? {} : { body: JSON.stringify(json) }),
  })

describe('a visit of a chat page', () => {
  it('starts only from the chat page itself and if the operator enables the page, and continues as the same user', async () => {
    expect((await post(`/chat/${other}/visits`, {})).status).toBe(404)
    expect((await fetch(`${console.url}/chat/${other}`)).status).toBe(404)
    expect((await post(`/chat/${appId}/visits`, {}, { origin: 'http://evil.example' })).status).toBe(403)
    const first = await visit()
    expect((await visit(first.token)).user).toBe(first.user)
    expect((await visit()).user).not.toBe(first.user)
    expect((await visit('no.such.visit')).user).not.toBe(first.user)
  })

  it('permits the chat of its application for its own user, and nothing else', async () => {
    const [one, two] = [await visit(), await visit()]
    expect((await chat(one.token, 'GET', `/conversations?user=${one.user}`)).status).toBe(200)
    const refused = [
      await chat(one.token, 'GET', `/conversations?user=${two.user}`),
      await chat(one.token, 'POST', '/chat-messages', { query: 'hello', user: two.user }),
      await chat(one.token, 'GET', '/apps/annotations'),
      await chat(one.token, 'GET', '/app/feedbacks'),
      await chat(one.token, 'POST', '/apps/annotations', { question: 'a', answer: 'b' }),
      await chat(one.token, 'POST', '/text-to-audio', { text: 'a', user: one.user }),
    ]
    expect(refused.map(({ status }) => status)).toEqual([403, 403, 403, 403, 403, 403])
    const files = [{ type: 'image', transfer_method: 'remote_url', url: 'http://127.0.0.1/' }]
    expect((await chat(one.token, 'POST', '/chat-messages', { query: 'a', user: one.user, files })).status).toBe(400)
    const long = { query: 'a'.repeat(4001), user: one.user }
    expect((await chat(one.token, 'POST', '/chat-messages', long)).status).toBe(400)
    // A visit is no gateway token, and a gateway token is no visit.
    expect((await console.call('GET', '/knowledge-spaces', { token: one.token })).status).toBe(401)
    expect((await chat(console.operator, 'GET', '/info')).status).toBe(401)
  })

  it('allows a limited number of questions a minute', async () => {
    const { token, user } = await visit()
    const statuses: number[] = []
    for (let at = 0; at < 10; at++)
      statuses.push(
        (await chat(token, 'POST', '/chat-messages', { query: 'hi', user, response_mode: 'blocking' })).status,
      )
    expect([statuses[0], statuses.at(-1)]).toEqual([200, 429])
  })

  it('started in the console needs the subject that created the application', async () => {
    const path = `/daemon/console/chats/${appId}`
    expect((await call('POST', path)).status).toBe(201)
    expect((await console.call('POST', path)).status).toBe(404)
    expect((await console.call('GET', `${path}/page`)).status).toBe(404)
    expect(await (await call('GET', `${path}/page`)).json()).toEqual({ isOn: true, frames: ['http://localhost:*'] })
    const { token } = await createToken(console.dataDir, {
      tenant: 'local',
      subject: 'eve',
      scopes: ['knowledge-spaces:*'],
    })
    expect((await console.call('POST', path, { token })).status).toBe(404)
  })
})

describe.runIf(hasBrowser)('chat in the browser', () => {
  it('lets the owner try an application, rate and find an answer, and set a fixed answer', async () => {
    const { page, problems, foreignUrls, close } = await console.openPage('chat')
    await page.getByRole('link', { name: HOSTILE }).click()
    await page.getByRole('button', { name: 'When does the shop open?' }).click()
    await page.getByText('nine in the morning').first().waitFor()
    await page.locator('.answer', { hasText: '[77]' }).waitFor()
    expect(await page.locator('.answer .cite').allTextContents()).not.toContain('77')
    await page.getByText(/\d passages?/).click()
    await page.getByRole('link', { name: 'hours <b>bold</b>.md' }).first().waitFor()
    await page.getByRole('button', { name: 'Good answer' }).click()
    await page.locator('[aria-pressed="true"]').waitFor()
    await page.getByLabel('Remark').fill(`Says the hour ${HOSTILE}`)
    expect(await listSeriousProblems(page)).toEqual([])
    await page.getByRole('button', { name: 'Send', exact: true }).first().click()
    await page.getByLabel('Remark').waitFor({ state: 'detached' })
    await page.getByRole('tab', { name: 'Conversations' }).click()
    await page.getByRole('button', { name: /shop/ }).first().click()
    await page.getByRole('dialog').getByText('nine in the morning').first().waitFor()
    await page.getByRole('dialog').getByText('good answer').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('tab', { name: 'Feedback' }).click()
    await page.getByText(`Says the hour ${HOSTILE}`).waitFor()
    await page.getByRole('tab', { name: 'Annotations' }).click()
    await page.getByLabel('Question').fill('Who are you?')
    await page.getByLabel('Answer').fill(ANSWERED)
    await page.getByRole('button', { name: 'Add' }).click()
    await page.getByText('1 annotation').waitFor()
    await page.getByRole('button', { name: 'Switch on' }).click()
    await page.getByRole('button', { name: 'Switch off' }).waitFor()
    await page.getByRole('tab', { name: 'Try it' }).click()
    await page.getByLabel('Message').fill('Who are you?')
    await page.keyboard.press('Enter')
    await page.getByText(ANSWERED).waitFor()
    await page.getByText('annotation', { exact: true }).waitFor()
    await page.getByRole('tab', { name: 'Keys and page' }).click()
    await page.locator('pre', { hasText: `<iframe src="${console.url}/chat/${appId}"` }).waitFor()
    await page.getByRole('button', { name: 'Copy the snippet' }).waitFor()
    expect(await page.title()).not.toBe('1')
    expect({ problems, foreignUrls }).toEqual({ problems: [], foreignUrls: [] })
    await close()
  })

  it('lets the owner create and delete an application with prices and a key that is shown once, at 360 px', async () => {
    const { page, problems, close } = await console.openPage('chat', { width: 360, height: 740 })
    await page.getByRole('button', { name: 'New application' }).click()
    await page.getByLabel('Name').fill('Guide')
    await page.getByLabel(HOSTILE).check()
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByRole('heading', { name: 'Guide', level: 1 }).waitFor()
    await page.getByRole('tab', { name: 'Settings and prices' }).click()
    await page.getByLabel('Own prices instead').check()
    await page.getByLabel('Price of an answer unit').fill('0.25')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('The application was changed').waitFor()
    expect([await listSeriousProblems(page), await measureOverflow(page)]).toEqual([[], 0])
    await page.getByRole('tab', { name: 'Keys and page' }).click()
    await page.getByText('It is off.').waitFor()
    await page.getByRole('button', { name: 'New key' }).click()
    const key = (await page.getByLabel('The key', { exact: true }).textContent()) ?? ''
    expect((await chat(key, 'GET', '/info')).status).toBe(200)
    expect([await listSeriousProblems(page), await measureOverflow(page)]).toEqual([[], 0])
    await page.getByRole('button', { name: 'I have it' }).click()
    expect(await page.content()).not.toContain(key)
    await page.getByRole('button', { name: /Revoke the key/ }).click()
    await page.getByText('revoked').waitFor()
    expect((await chat(key, 'GET', '/info')).status).toBe(401)
    await page.getByRole('button', { name: 'Delete' }).first().click()
    // Delays the list after the deletion, so that only the cache of the tab can show it.
    let release = () => {}
    const isReleased = new Promise<void>((resolve) => {
      release = resolve
    })
    await page.route('**/chat-apps', async (route) => {
      await isReleased
      await route.continue()
    })
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('heading', { name: 'Chat', level: 1 }).waitFor()
    expect(await page.getByRole('link', { name: 'Guide' }).count()).toBe(0)
    release()
    await page.getByRole('link', { name: 'Other' }).waitFor()
    expect(await page.getByRole('link', { name: 'Guide' }).count()).toBe(0)
    expect(problems).toEqual([])
    await close()
  })

  it('lets a visitor chat and return to the conversation, without a key in the page', async () => {
    const { page, problems, foreignUrls, close } = await openTab(console.url, `/chat/${appId}`, {
      width: 360,
      height: 740,
    })
    await page.getByRole('heading', { name: HOSTILE }).waitFor()
    await page.getByRole('button', { name: 'When does the shop open?' }).click()
    await page.getByText('nine in the morning').first().waitFor()
    await page.getByRole('button', { name: 'Helpful', exact: true }).click()
    await page.locator('[aria-pressed="true"]').waitFor()
    expect([await listSeriousProblems(page), await measureOverflow(page)]).toEqual([[], 0])
    await page.reload()
    await page.getByText('nine in the morning').first().waitFor()
    await page.locator('[aria-pressed="true"]').waitFor()
    expect(await page.content()).not.toMatch(/app-[\w-]{20}/)
    expect(await page.title()).toBe(HOSTILE)
    expect({ problems, foreignUrls }).toEqual({ problems: [], foreignUrls: [] })
    await close()
  })

  it('shows a visitor a code block with empty lines as one block', async () => {
    const { key } = await readJson<{ key: string }>(await call('POST', `/chat-apps/${appId}/keys`))
    const answer = 'Write this:\n\n```js\n\nconst open = 9\n\n\nconst close = 17\n```\n\nThat is all.'
    await chat(key, 'POST', '/apps/annotations', { question: 'How is it written?', answer })
    await chat(key, 'POST', '/apps/annotation-reply/enable', { score_threshold: 0.9 })
    const { page, problems, close } = await openTab(console.url, `/chat/${appId}`)
    await page.getByLabel('Message').fill('How is it written?')
    await page.keyboard.press('Enter')
    await page.getByText('That is all.').waitFor()
    expect(await page.locator('.answer pre').allTextContents()).toEqual(['\nconst open = 9\n\n\nconst close = 17'])
    expect(problems).toEqual([])
    await close()
  })

  it('appears in a frame of a configured site only', async () => {
    const html = `<iframe src="${console.url}/chat/${appId}" width="400" height="500"></iframe>`
    const server = createServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/html' }).end(html)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const bound = server.address()
    const port = typeof bound === 'object' && bound !== null ? bound.port : 0
    const { page, problems, close } = await openTab(`http://localhost:${port}`, '/')
    await page.frameLocator('iframe').getByRole('button', { name: 'When does the shop open?' }).click()
    await page.frameLocator('iframe').getByText('nine in the morning').first().waitFor()
    await page.goto(`http://127.0.0.1:${port}/`)
    await expect.poll(() => problems.join()).toContain('frame-ancestors')
    expect(await page.frameLocator('iframe').getByRole('heading', { name: HOSTILE }).count()).toBe(0)
    await close()
    server.close()
  })
})
