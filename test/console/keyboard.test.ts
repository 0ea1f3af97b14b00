import type { Page } from 'playwright-core'
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

const QUESTIONS = ['Where do herons nest?', 'Where do storks nest?', 'Where do ducks nest?']
let console: Console

beforeAll(async () => {
  console = await startConsole()
  const space = await createFilledSpace(console, 'birds', {
    'herons.md': '# Herons\n\nThe grey heron nests on Ufenau.\n',
  })
  for (const question of QUESTIONS)
    await console.call('POST', `/knowledge-spaces/${space}/golden-questions`, {
      token: console.operator,
      json: { question },
    })
})
afterAll(closeBrowser)

interface Focus {
  /** the focused element; empty if none */
  name: string
  /** whether the focus is visible */
  isSeen: boolean
}

const readFocus = (page: Page): Promise<Focus> =>
  // Styles of the focus apply a moment later.
  page.evaluate(`new Promise(requestAnimationFrame).then(() => new Promise(requestAnimationFrame)).then(() => {
    const focused = document.activeElement
    if (focused === null || focused === document.body) return { name: '', isSeen: false }
    const { top, bottom, left, right } = focused.getBoundingClientRect()
    const isInViewport = bottom > 0 && right > 0 && top < innerHeight && left < innerWidth
    // the frame of a form or label may show the focus of its field
    const isMarked = [focused, focused.closest('form, label')].some((element) => element !== null && (getComputedStyle(element).outlineStyle !== 'none' || getComputedStyle(element).boxShadow !== 'none' || getComputedStyle(element).borderColor === getComputedStyle(document.documentElement).getPropertyValue('--accent')))
    const label = focused.getAttribute('aria-label') ?? focused.labels?.[0]?.textContent ?? focused.textContent ?? ''
    return { name: focused.localName + ' ' + label.trim().slice(0, 60), isSeen: isInViewport && isMarked }
  })`)
const openPage = async (path: string) => {
  const tab = await console.openPage(path)
  await tab.page.locator('main h1, main .empty').first().waitFor()
  await waitForPage(tab.page)
  return tab
}
/** Presses Tab until an element of this name has the focus. */
async function tabTo(page: Page, name: string): Promise<void> {
  for (let step = 0; step < 80; step++) {
    await page.keyboard.press('Tab')
    if ((await readFocus(page)).name === name) return
  }
  throw new Error(`Tab does not reach ${name}`)
}

describe.runIf(hasBrowser)('the console by keyboard only', () => {
  it.each(listPageIds())('%s can be traversed with Tab, with a visible focus', async (id) => {
    const { page, close } = await openPage(id)
    // Some pages start in a field.
    await page.locator('.skip').focus()
    const passed: Focus[] = []
    for (let step = 0; step < 120; step++) {
      await page.keyboard.press('Tab')
      const current = await readFocus(page)
      // After the last element, Tab returns to the first one.
      if (current.name === '' || (passed.length > 3 && current.name.endsWith('Skip to the content'))) break
      passed.push(current)
    }
    expect(passed.length).toBeGreaterThan(12)
    expect(passed.filter(({ isSeen }) => !isSeen)).toEqual([])
    await close()
  })

  it('starts with a link that skips the navigation', async () => {
    const { page, close } = await openPage('spaces')
    await page.keyboard.press('Tab')
    expect(await readFocus(page)).toEqual({ name: 'a Skip to the content', isSeen: true })
    await page.keyboard.press('Enter')
    await page.keyboard.press('Tab')
    expect((await readFocus(page)).name).toBe('button New space')
    await close()
  })

  it('focuses the first field of a form, and after closing the form the button that opened it', async () => {
    const { page, close } = await openPage('spaces')
    await tabTo(page, 'button New space')
    for (const leave of [
      () => page.keyboard.press('Escape'),
      async () => {
        await tabTo(page, 'button Cancel')
        await page.keyboard.press('Enter')
      },
      async () => {
        await page.keyboard.press('Shift+Tab')
        await page.keyboard.press('Enter')
      },
    ]) {
      await page.keyboard.press('Enter')
      await page.getByRole('dialog').waitFor()
      await expect.poll(async () => (await readFocus(page)).name).toBe('input Name')
      await leave()
      await page.locator('dialog').waitFor({ state: 'detached' })
      await expect.poll(async () => (await readFocus(page)).name).toBe('button New space')
    }
    await close()
  })

  it('keeps the focus on the button of a refused form, and shows the error next to the field', async () => {
    const { page, close } = await openPage('spaces')
    await page.getByRole('button', { name: 'New space' }).press('Enter')
    await page.keyboard.type('birds')
    await tabTo(page, 'button Create')
    await page.keyboard.press('Enter')
    await page.getByText('Another space has this short name. Choose another one.').waitFor()
    expect((await readFocus(page)).name).toBe('button Create')
    expect(await page.getByLabel('Short name').getAttribute('aria-invalid')).toBe('true')
    expect(await listSeriousProblems(page)).toEqual([])
    await close()
  })

  it('moves the focus to a neighbour when an entry of a list is deleted', async () => {
    const { page, problems, close } = await openPage('quality?space=birds&tab=golden')
    const remove = page.getByRole('button', { name: /^Delete Where/ })
    await expect.poll(() => remove.count()).toBe(3)
    for (let left = 2; left >= 0; left--) {
      await remove.first().press('Enter')
      await tabTo(page, 'button Delete')
      await page.keyboard.press('Enter')
      await expect.poll(() => remove.count()).toBe(left)
      await expect.poll(async () => (await readFocus(page)).name).not.toBe('')
      if (left > 0) expect((await readFocus(page)).name).toMatch(/^button (Edit|Delete) Where/)
    }
    expect(problems).toEqual([])
    await close()
  })

  it('accepts input in the command palette at once, and shows the shortcuts on "?"', async () => {
    const { page, close } = await openPage('spaces')
    await page.keyboard.press('Control+k')
    await page.keyboard.type('keyb')
    await page.keyboard.press('Enter')
    const help = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
    await help.waitFor()
    await page.keyboard.press('Escape')
    // It closes before the page reacts, and can open again only then.
    await page.locator('dialog').waitFor({ state: 'detached' })
    await page.keyboard.press('?')
    await help.waitFor()
    for (const theme of ['light', 'dark'])
      for (const width of [360, 1280]) {
        await page.setViewportSize({ width, height: 800 })
        await page.evaluate(`document.documentElement.dataset.theme = '${theme}'`)
        expect([theme, width, await listSeriousProblems(page), await measureOverflow(page)]).toEqual([
          theme,
          width,
          [],
          0,
        ])
      }
    // The help contains every page with its shortcut.
    const keys = await help.locator('kbd', { hasText: /^g .$/ }).allTextContents()
    expect(keys.length).toBe(listPageIds().length)
    await page.keyboard.press('Escape')
    await page.locator('dialog').waitFor({ state: 'detached' })
    for (const key of keys) {
      await page.keyboard.press('g')
      await page.keyboard.press(key.slice(2))
    }
    await page.getByRole('heading', { name: 'Chat', level: 1 }).waitFor()
    await close()
  })

  it('focuses the menu of pages in a narrow window, and returns the focus with Escape', async () => {
    const { page, close } = await openPage('spaces')
    await page.setViewportSize({ width: 360, height: 800 })
    await page.getByRole('button', { name: 'Pages' }).press('Enter')
    await expect.poll(async () => (await readFocus(page)).name).toBe('a Spaces')
    expect(await listSeriousProblems(page)).toEqual([])
    await page.keyboard.press('Escape')
    await expect.poll(async () => (await readFocus(page)).name).toBe('button Pages')
    await close()
  })
})
