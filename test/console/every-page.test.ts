import axe from 'axe-core'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Console, endBrowser, filledSpace, hasBrowser, openTab, pageIds, startConsole } from './browser.js'

let console: Console

beforeAll(async () => {
  console = await startConsole()
  await filledSpace(console, 'field-notes', {
    'notes/herons.md':
      '# Herons\n\nThe grey heron nests in March on the island of Ufenau.\n\n| bird | nests |\n|---|---|\n| heron | 12 |\n',
    'notes/a-page.html': '<h1>Storks</h1><p>The white stork comes back in February.</p>',
    'a-very-long-name-that-does-not-fit-into-any-line-of-a-narrow-window-because-nobody-thought-of-those.txt': 'Ducks.',
  })
})
afterAll(endBrowser)

/** What the rules find that keeps somebody from using the page. */
async function barriers(page: Page): Promise<string[]> {
  await page.evaluate(axe.source)
  const found: unknown = await page.evaluate(
    `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations.filter(({ impact }) => impact === 'serious' || impact === 'critical').map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join(' | ')))`,
  )
  return Array.isArray(found) ? found.map(String) : ['axe gave no list']
}

const overflow = 'document.documentElement.scrollWidth - innerWidth'

describe.runIf(hasBrowser)('every page', () => {
  it.each(pageIds())(
    '%s can be used by everybody, in both themes, narrow and wide, and complains of nothing',
    async (id) => {
      const { page, problems, strangers, close } = await openTab(console.url, await console.signedIn(id))
      await page.locator('.shell').waitFor()
      for (const theme of ['light', 'dark'])
        for (const width of [360, 900, 1440]) {
          await page.setViewportSize({ width, height: 800 })
          await page.evaluate(`localStorage.setItem('ks.theme', '${theme}')`)
          await page.reload()
          await page.locator('main h1, main .empty').first().waitFor()
          await page.waitForLoadState('networkidle')
          expect(await page.evaluate(overflow), `${id} at ${width} pixels`).toBeLessThanOrEqual(0)
          if (width !== 900) expect(await barriers(page), `${id}, ${theme}, ${width}`).toEqual([])
        }
      expect({ problems, strangers }).toEqual({ problems: [], strangers: [] })
      await close()
    },
  )

  it('is reached by the keyboard: the palette, and a letter after g', async () => {
    const { page, close } = await openTab(console.url, await console.signedIn())
    await page.getByRole('heading', { name: 'Spaces', level: 1 }).waitFor()
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox').fill('doc')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Documents', level: 1 }).waitFor()
    await page.keyboard.press('g')
    await page.keyboard.press('s')
    await page.getByRole('heading', { name: 'Spaces', level: 1 }).waitFor()
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox').waitFor()
    expect(await barriers(page)).toEqual([])
    await close()
  })
})
