import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createToken } from '../../src/local/keys.js'
import { until } from '../helpers/until.js'
import { type Console, closeBrowser, createFilledSpace, hasBrowser, openTab, startConsole } from './browser.js'

const EVIL_NAME = '<img src=x onerror=self.ran=1>"\'{{7*7}}.html'
const EVIL = `<h1>Badgers <script>self.ran = 1</script></h1>
<p onclick="self.ran=1">The badger sleeps by day.<img src="http://evil.example/x.png" onerror="self.ran=1"></p>
<script>self.ran = 1; alert(1)</script><svg onload="self.ran=1"></svg><iframe src="javascript:parent.ran=1"></iframe>
<a href="javascript:self.ran=1">setts</a><table><tr><td><b onmouseover="self.ran=1">sett</b></td><td>4</td></tr></table>`
const EVIL_MARKDOWN = `# Foxes <script>self.ran=1</script>

The fox hunts at dusk. <img src=x onerror="self.ran=1"> [den](javascript:self.ran=1)

\`\`\`html
<script>self.ran = 1</script>
\`\`\`
`

let console: Console
let space: string

beforeAll(async () => {
  console = await startConsole()
  space = await createFilledSpace(console, 'animals', { [EVIL_NAME]: EVIL, 'foxes.md': EVIL_MARKDOWN })
})
afterAll(closeBrowser)

describe.runIf(hasBrowser)('documents in the console', () => {
  it('A59: never run code, whatever the documents or their names contain', async () => {
    const { page, problems, foreignUrls, close } = await console.openPage('documents')
    // The code of the address is exchanged before the next page opens.
    await page.getByRole('heading', { name: 'Documents', level: 1 }).waitFor()
    const dialogs: string[] = []
    page.on('dialog', (dialog) => {
      dialogs.push(dialog.message())
      void dialog.dismiss()
    })
    // Without the quotes of the name, which an upload form changes.
    for (const name of [EVIL_NAME.slice(0, EVIL_NAME.indexOf('"')), 'foxes.md']) {
      await page.goto(`${console.url}/console/documents?space=animals`)
      await page.getByRole('list', { name: 'Documents' }).getByText(name).click()
      for (const tab of ['Text', 'Outline', 'Pictures and tables', 'Passages', 'Versions', 'Facts']) {
        await page.getByRole('tab', { name: tab }).click()
        await page.waitForLoadState('networkidle')
      }
    }
    await page.goto(`${console.url}/console/ask?space=animals`)
    await page.getByLabel('Question').fill('When does the badger sleep?')
    await page.keyboard.press('Enter')
    await page.locator('.passage').first().click()
    await page.locator('.reading mark').first().waitFor()
    expect(await page.evaluate('self.ran')).toBeUndefined()
    expect({ dialogs, problems, foreignUrls }).toEqual({ dialogs: [], problems: [], foreignUrls: [] })
    await close()
  })

  it('stay invisible to another tenant', async () => {
    const { token } = await createToken(console.dataDir, {
      tenant: 'tenant-b',
      subject: 'bob',
      scopes: ['knowledge-spaces:*'],
    })
    await createFilledSpace(console, 'plants', { 'moss.md': '# Moss\n\nMoss grows on the north side.\n' }, token)
    const { page, close } = await openTab(console.url, '/console/spaces')
    await page.getByLabel('Token').fill(token)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { name: 'plants' }).waitFor()
    expect(await page.getByText('animals').count()).toBe(0)
    const answer = await console.call('GET', `/knowledge-spaces/${space}/documents?limit=1`, {
      token: console.operator,
    })
    const document = /"id":"([^"]+)"/.exec(await answer.text())?.[1]
    await page.goto(`${console.url}/console/documents/${document}`)
    await page.getByRole('alert').waitFor()
    expect(await page.getByText('foxes.md').count()).toBe(0)
    await close()
  })

  it('appear in a list of ten thousand documents, of which the page contains only some as elements', async () => {
    const { page, close } = await console.openPage('spaces')
    await page.getByRole('heading', { name: 'Spaces', level: 1 }).waitFor()
    const DOCUMENT_COUNT = 10_000
    const idOf = (index: number) => `01a21a4a-bd64-7043-aa3b-${String(index).padStart(12, '0')}`
    await page.route('**/knowledge-spaces/*/documents?*', async (route) => {
      const cursor = new URL(route.request().url()).searchParams.get('cursor')
      const start = cursor === null ? 0 : Number(cursor.slice(-12)) + 1
      const items = Array.from({ length: 100 }, (_, index) => ({
        id: idOf(start + index),
        filename: `folder/document ${start + index}.md`,
        parserStatus: 'parsed',
        sizeBytes: 1000,
        createdAt: new Date().toISOString(),
      }))
      const hasMore = start + 100 < DOCUMENT_COUNT
      await route.fulfill({ json: { items, ...(hasMore ? { nextCursor: idOf(start + 99) } : {}) } })
    })
    await page.route('**/knowledge-spaces/*/stats*', (route) =>
      route.fulfill({ json: { storage: { documentCount: DOCUMENT_COUNT } } }),
    )
    await page.goto(`${console.url}/console/documents?space=animals`)
    await page.getByText('document 0.md').waitFor()
    const rows = page.locator('.document-rows > li')
    expect(await rows.count()).toBeLessThan(80)
    await page.getByText('10,000 documents').waitFor()
    await until(async () => {
      await page.evaluate('scrollTo(0, document.documentElement.scrollHeight)')
      return (await page.getByText('document 9999.md').count()) > 0
    }, 100_000)
    expect(await rows.count()).toBeLessThan(80)
    expect(await rows.last().getAttribute('aria-setsize')).toBe(String(DOCUMENT_COUNT))
    await close()
  })
})
