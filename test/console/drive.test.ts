import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { listSeriousProblems, measureOverflow } from './axe.js'
import { type Console, closeBrowser, hasBrowser, readJson, startConsole } from './browser.js'
import { type Drive, startDrive } from './drive.js'

const HOSTILE = '<img src=x onerror="document.title=1">.md'
let console: Console
let drive: Drive
let id = ''

beforeAll(async () => {
  drive = await startDrive({
    'top.md': '# Top\n\nThe bell rings at noon.\n',
    'trips/alps.md': '# Alps\n\nThe hut opens in June.\n',
    'trips/sea.md': '# Sea\n\nThe ferry leaves at nine.\n',
    [HOSTILE]: '# Nothing\n\nNothing runs.\n',
  })
  console = await startConsole({ egressAllow: ['127.0.0.1'] })
  const token = console.operator
  const made = await console.call('POST', '/knowledge-spaces', { token, json: { name: 'Drive', slug: 'drive' } })
  id = (await readJson<{ id: string }>(made)).id
})
afterAll(async () => {
  await closeBrowser()
  drive.server.close()
})

const names = async () => {
  const answer = await console.call('GET', `/knowledge-spaces/${id}/documents`, { token: console.operator })
  return (await readJson<{ items: { filename: string }[] }>(answer)).items.map(({ filename }) => filename).sort()
}

describe.runIf(hasBrowser)('files of a drive in the console', () => {
  it('can be selected across folders, imported exactly as selected, and appear as imported', async () => {
    const { page, problems, close } = await console.openPage('sources?space=drive', { width: 360, height: 740 })
    await page.getByRole('button', { name: 'Add a source' }).click()
    await page.getByRole('button', { name: 'WebDAV drive' }).click()
    const form = page.getByRole('dialog')
    await form.getByLabel('Name').fill('Cloud')
    await form.getByLabel('Folder').fill(drive.uri)
    await form.getByRole('button', { name: 'Add', exact: true }).click()

    await page.getByRole('button', { name: 'Choose files' }).click()
    const sheet = page.getByRole('dialog')
    await sheet.getByText(HOSTILE).waitFor()
    expect(await sheet.getByRole('button', { name: 'Import' }).isDisabled()).toBe(true)
    await sheet.getByLabel(/top\.md/).check()
    await sheet.getByRole('button', { name: 'trips' }).click()
    await sheet.getByLabel(/sea\.md/).check()
    await sheet.getByLabel(/alps\.md/).check()
    await sheet.getByLabel(/alps\.md/).uncheck()
    await sheet.getByText('2 items selected').waitFor()
    expect([await listSeriousProblems(page), await measureOverflow(page)]).toEqual([[], 0])
    // The selection of another folder remains.
    await sheet.getByRole('button', { name: 'Back' }).click()
    expect(await sheet.getByLabel(/top\.md/).isChecked()).toBe(true)
    await sheet.getByRole('button', { name: 'Import' }).click()
    await sheet.waitFor({ state: 'detached' })

    await expect.poll(names).toEqual(['top.md', 'trips/sea.md'])
    expect(drive.fetched.sort()).toEqual(['top.md', 'trips/sea.md'])
    await page.getByRole('button', { name: 'Choose files' }).click()
    await page.locator('.browse-item', { hasText: 'top.md' }).getByText('imported').waitFor()
    expect(await page.locator('.browse-item', { hasText: HOSTILE }).getByText('imported').count()).toBe(0)
    expect(await page.title()).not.toBe('1')
    expect(problems).toEqual([])
    await close()
  })

  it('cause a message when the drive cannot be listed any more, and imported files remain', async () => {
    const { page, close } = await console.openPage('sources?space=drive')
    await page.getByRole('button', { name: 'Choose files' }).waitFor()
    drive.server.close()
    drive.server.closeAllConnections()
    await page.getByRole('button', { name: 'Choose files' }).click()
    await page.getByRole('dialog').getByRole('alert').waitFor()
    expect((await names()).length).toBe(2)
    await close()
  })
})
