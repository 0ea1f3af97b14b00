import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Console, closeBrowser, hasBrowser, startConsole } from './browser.js'
import { getHarbourSpace } from './filled.js'

let console: Console

beforeAll(async () => {
  console = await startConsole()
  const { operator, spaceId } = await getHarbourSpace(console)
  const made = await operator('POST', `/knowledge-spaces/${spaceId}/semantic-views/communities/materialize`, {})
  expect(made.status).toBe(200)
})
afterAll(closeBrowser)

describe.runIf(hasBrowser)('the page Graph and topics', () => {
  it('draws the communities, and leads from an entity to its relations, passages and document', async () => {
    const tab = await console.openPage('graph?space=harbour')
    const { page } = tab
    await page.locator('.graph-canvas[data-laid="true"] canvas').first().waitFor({ state: 'attached' })
    await page
      .locator('.graph-main')
      .getByText(/entities and \d+ relations?/)
      .waitFor()
    await page.locator('.graph-list .graph-item').first().click()
    await page.getByRole('heading', { name: 'Best connected' }).waitFor()
    await page.getByLabel('Find an entity').fill('keller')
    await page
      .getByRole('list', { name: 'Entities found' })
      .getByRole('button', { name: /Ida Keller/ })
      .click()
    await page.getByRole('heading', { name: 'Ida Keller' }).waitFor()
    await page.getByText('within two steps').waitFor()
    await page.locator('.graph-side .graph-item', { hasText: 'Northport Harbour' }).first().click()
    await page.getByRole('heading', { name: 'Northport Harbour' }).waitFor()
    await page.locator('.graph-side .quoted-name').first().click()
    await page
      .locator('dialog[open]')
      .getByText(/Northport/)
      .first()
      .waitFor()
    expect(await page.evaluate('window.broken')).toBeUndefined()
    expect(tab.problems).toEqual([])
    expect(tab.foreignUrls).toEqual([])
    await tab.close()
  })

  it('reports that a browser has no WebGL, and lists the data of the graph', async () => {
    const tab = await console.openPage('spaces')
    const { page } = tab
    await page.addInitScript('HTMLCanvasElement.prototype.getContext = () => null')
    await page.locator('.shell').waitFor()
    await page.goto(`${console.url}/console/graph?space=harbour`)
    await page.getByText('does not support WebGL').waitFor()
    await page.locator('.graph-list .graph-item').first().waitFor()
    expect(tab.problems).toEqual([])
    await tab.close()
  })

  it('groups the documents by topics', async () => {
    const tab = await console.openPage('graph?space=harbour&tab=topics')
    const { page } = tab
    await page.getByRole('button', { name: 'Regroup the documents' }).click()
    await page.getByText(/topics? found\./).waitFor()
    await page.getByRole('region', { name: 'Documents of the topic' }).getByRole('link').first().waitFor()
    expect(await page.evaluate('window.broken')).toBeUndefined()
    expect(tab.problems).toEqual([])
    await tab.close()
  })
})
