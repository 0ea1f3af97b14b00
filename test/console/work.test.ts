import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startDaemon } from '../../src/daemon/run.js'
import { openEngine } from '../../src/engine/index.js'
import { databaseEnv } from '../helpers/databases.js'
import { forgetDaemon } from '../helpers/whole-daemon.js'
import { type Console, closeBrowser, createFilledSpace, hasBrowser, readJson, startConsole } from './browser.js'

let console: Console

beforeAll(async () => {
  console = await startConsole()
})
afterAll(closeBrowser)

describe.runIf(hasBrowser)('a user of the console', () => {
  it('creates a space, uploads files, sees why a file failed, asks, opens a passage, and gives feedback', async () => {
    const { page, problems, close } = await console.openPage()
    await page.getByRole('button', { name: 'New space' }).click()
    await page.getByLabel('Name', { exact: true }).fill('River notes')
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByLabel('Files').setInputFiles([
      {
        name: 'otter.md',
        mimeType: 'text/markdown',
        buffer: Buffer.from('# Otters\n\nThe otter hunts trout at night [8, 34], alone [77].\n'),
      },
      { name: 'nothing.txt', mimeType: 'text/plain', buffer: Buffer.alloc(0) },
      { name: 'broken.pdf', mimeType: 'application/pdf', buffer: Buffer.from('%PDF-1.7 not really') },
    ])
    await page.getByText('the file is empty').waitFor()
    await page.locator('.upload', { hasText: 'otter.md' }).getByText('done').waitFor()
    const broken = page.locator('.upload', { hasText: 'broken.pdf' })
    await broken.getByText('failed').waitFor()
    expect(await broken.locator('.upload-reason').textContent()).toContain('broken.pdf')
    // Files that the space has are not sent again; the same name with other content is.
    const sent: string[] = []
    page.on('request', (request) => {
      if (request.method() === 'POST' && request.url().endsWith('/documents')) sent.push(request.url())
    })
    await page.getByRole('button', { name: 'Clear' }).click()
    await page.getByLabel('Files').setInputFiles([
      {
        name: 'otter.md',
        mimeType: 'text/markdown',
        buffer: Buffer.from('# Otters\n\nThe otter hunts trout at night [8, 34], alone [77].\n'),
      },
    ])
    await page.locator('.upload', { hasText: 'otter.md' }).getByText('already there').waitFor()
    expect(sent).toEqual([])
    await page.getByRole('button', { name: 'Clear' }).click()
    await page
      .getByLabel('Files')
      .setInputFiles([{ name: 'newt.md', mimeType: 'text/markdown', buffer: Buffer.from('# Newts\n\nNewts swim.\n') }])
    await page.locator('.upload', { hasText: 'newt.md' }).getByText('done').waitFor()
    expect(sent).toHaveLength(1)
    await page.getByRole('button', { name: 'Close' }).click()

    await page.getByRole('link', { name: 'Ask', exact: true }).last().click()
    await page.getByLabel('Question').fill('What does the otter hunt?')
    await page.keyboard.press('Enter')
    await page.getByText('The documents answer this.').waitFor()
    // Reference marks of the document do not belong to the answer.
    expect(await page.locator('.answer .cite').allTextContents()).toEqual(['1'])
    await page.getByRole('button', { name: 'Passage 1' }).first().click()
    const mark = page.locator('.reading mark', { hasText: 'The otter hunts trout at night [8, 34]' })
    await mark.waitFor()
    await page.keyboard.press('Escape')
    await mark.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'How it was found' }).click()
    await page.getByText('By words').waitFor()
    await page.getByText('Search and rank').waitFor()
    await page.getByLabel('File', { exact: true }).fill('otter.md')
    await page.getByRole('button', { name: 'Explain' }).click()
    await page.locator('.stages-item').first().waitFor()
    await page.getByRole('button', { name: 'This is wrong' }).click()
    await page.getByLabel('What is wrong with the answer?').fill('It also hunts eels.')
    await page.getByLabel('Answer contains').fill('trout\neels')
    await page.getByLabel('Answer does not contain').fill('newts')
    await page.getByRole('button', { name: 'Create golden question' }).click()
    await page.getByText('A golden question was created').waitFor()
    expect(problems).toEqual([])
    await close()

    const token = console.operator
    const { items } = await readJson<{ items: { id: string; slug: string }[] }>(
      await console.call('GET', '/knowledge-spaces', { token }),
    )
    const id = items.find(({ slug }) => slug === 'river-notes')?.id
    const golden = await console.call('GET', `/knowledge-spaces/${id}/golden-questions`, { token })
    expect(await readJson<object>(golden)).toMatchObject({
      items: [{ question: 'What does the otter hunt?', expect: { answer: ['trout', 'eels'], not: ['newts'] } }],
    })
  })

  it('sees that an upload fails whose job was deleted, and the page requests the deleted job only once', async () => {
    await createFilledSpace(console, 'deleted', {})
    const { page, close } = await console.openPage('spaces')
    let reads = 0
    await page.route('**/jobs?*', (route) => route.fulfill({ json: { items: [] } }))
    await page.route('**/jobs/*', (route) => {
      reads += 1
      return route.fulfill({ status: 404, json: { error: { code: 'not-found', message: 'no such job' } } })
    })
    await page.locator('.space-card', { hasText: 'deleted' }).getByRole('button', { name: 'Add' }).click()
    await page
      .getByLabel('Files')
      .setInputFiles([{ name: 'newt.md', mimeType: 'text/markdown', buffer: Buffer.from('# Newts\n\nNewts swim.\n') }])
    await page.locator('.upload', { hasText: 'newt.md' }).getByText('it was deleted').waitFor()
    await page.getByRole('button', { name: 'Retry failed' }).click()
    await page.locator('.upload', { hasText: 'newt.md' }).getByText('already there').waitFor()
    expect(reads).toBe(1)
    await close()
  })

  it('compiles a document again, and sees the differences between the versions', async () => {
    await createFilledSpace(console, 'versions', { 'plan.md': '# Plan\n\nWe meet on Monday.\n\nBring tea.\n' })
    const { page, close } = await console.openPage('documents?space=versions')
    await page.getByText('plan.md').click()
    await page.getByText('version 1').waitFor()
    await page.getByRole('button', { name: 'Read again' }).click()
    await page.getByText('The document is read again.').waitFor()
    await page.getByText('version 2').waitFor()
    await page.getByRole('tab', { name: 'Versions' }).click()
    await page.getByText('The text is the same in both.').waitFor()
    await close()
  })

  it('sees that the daemon is unavailable, and continues when the daemon is back', async () => {
    const { page, close } = await console.openPage('documents')
    await page.getByRole('heading', { name: 'Documents', level: 1 }).waitFor()
    console.daemon.stop('test')
    await console.daemon.stopped
    forgetDaemon(console.daemon)
    await page.getByRole('tab', { name: 'Failed' }).click()
    await page.getByText('The daemon does not answer.').waitFor()
    const { dataDir, url } = console
    const again = await startDaemon({
      dataDir,
      mode: 'manual',
      env: databaseEnv(dataDir),
      flags: { listen: new URL(url).host },
      openEngine,
      echoLog: false,
    })
    try {
      await page.getByText('The daemon does not answer.').waitFor({ state: 'detached' })
      // The session of the tab is still valid, and the results of requests during the outage appear.
      await page.locator('.job, .empty').first().waitFor()
      await close()
    } finally {
      again.stop('test')
      await again.stopped
    }
  })
})
