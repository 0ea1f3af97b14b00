import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { listSeriousProblems, measureOverflow } from './axe.js'
import {
  type Console,
  closeBrowser,
  createFilledSpace,
  hasBrowser,
  listPageIds,
  startConsole,
  waitForPage,
} from './browser.js'

let console: Console

beforeAll(async () => {
  console = await startConsole()
  await createFilledSpace(console, 'field-notes', {
    'notes/herons.md':
      '# Herons\n\nThe grey heron nests in March on the island of Ufenau.\n\n| bird | nests |\n|---|---|\n| heron | 12 |\n',
    'notes/a-page.html': '<h1>Storks</h1><p>The white stork comes back in February.</p>',
    'a-very-long-name-that-does-not-fit-into-any-line-of-a-narrow-window-because-nobody-thought-of-those.txt': 'Ducks.',
  })
})
afterAll(closeBrowser)

describe.runIf(hasBrowser)('each page of the console', () => {
  it.each(listPageIds())(
    '%s: passes the accessibility check in both themes and all widths, without errors',
    async (id) => {
      const { page, problems, foreignUrls, close } = await console.openPage(id)
      await page.locator('.shell').waitFor()
      for (const theme of ['light', 'dark']) {
        await page.setViewportSize({ width: 360, height: 800 })
        await page.evaluate(`localStorage.setItem('ks.theme', '${theme}')`)
        await page.reload()
        await page.locator('main h1, main .empty').first().waitFor()
        for (const width of [360, 900, 1440]) {
          await page.setViewportSize({ width, height: 800 })
          await waitForPage(page)
          expect(await measureOverflow(page), `${id} at ${width} pixels`).toBeLessThanOrEqual(0)
          if (width !== 900) expect(await listSeriousProblems(page), `${id}, ${theme}, ${width}`).toEqual([])
        }
      }
      expect({ problems, foreignUrls }).toEqual({ problems: [], foreignUrls: [] })
      await close()
    },
  )

  it.each(listPageIds())(
    '%s: passes the accessibility check on each of its tabs, which the arrow keys switch',
    async (id) => {
      const { page, problems, close } = await console.openPage(id)
      await page.locator('main h1, main .empty').first().waitFor()
      await waitForPage(page)
      const tabs = page.getByRole('tab')
      const names = await tabs.allTextContents()
      for (const [at, name] of names.entries()) {
        if (at === 0) await tabs.first().focus()
        else await page.keyboard.press('ArrowRight')
        // The selected tab has the focus, and its panel is visible.
        await page.locator('[role=tab][aria-selected=true]:focus', { hasText: name.replace(/\d+$/, '') }).waitFor()
        await waitForPage(page)
        for (const [theme, width] of [
          ['light', 360],
          ['dark', 1280],
        ] as const) {
          await page.setViewportSize({ width, height: 800 })
          await page.evaluate(`document.documentElement.dataset.theme = '${theme}'`)
          await waitForPage(page)
          expect([name, theme, await listSeriousProblems(page), await measureOverflow(page)]).toEqual([
            name,
            theme,
            [],
            0,
          ])
        }
      }
      expect(problems).toEqual([])
      await close()
    },
  )

  it('opens by keyboard: with the palette, and with a letter after g', async () => {
    const { page, close } = await console.openPage()
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
    expect(await listSeriousProblems(page)).toEqual([])
    await close()
  })
})
