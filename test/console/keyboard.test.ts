import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { overflow, seriousProblems } from './axe.js'
import {
  type Console,
  endBrowser,
  filledSpace,
  hasBrowser,
  openTab,
  pageIds,
  settledPage,
  startConsole,
} from './browser.js'

const QUESTIONS = ['Where do herons nest?', 'Where do storks nest?', 'Where do ducks nest?']
let console: Console

beforeAll(async () => {
  console = await startConsole()
  const space = await filledSpace(console, 'birds', { 'herons.md': '# Herons\n\nThe grey heron nests on Ufenau.\n' })
  for (const question of QUESTIONS)
    await console.call('POST', `/knowledge-spaces/${space}/golden-questions`, {
      token: console.operator,
      json: { question },
    })
})
afterAll(endBrowser)

interface Focus {
  /** the focused element; empty if none */
  name: string
  /** whether the focus is visible */
  isSeen: boolean
}

const focus = (page: Page): Promise<Focus> =>
  // Styles of the focus apply a moment later.
  page.evaluate(`new Promise(requestAnimationFrame).then(() => new Promise(requestAnimationFrame)).then(() => {
    const one = document.activeElement
    if (one === null || one === document.body) return { name: '', isSeen: false }
    const { top, bottom, left, right } = one.getBoundingClientRect()
    const isWithin = bottom > 0 && right > 0 && top < innerHeight && left < innerWidth
    // a field may show it by its frame
    const isMarked = [one, one.closest('form, label')].some((at) => at !== null && (getComputedStyle(at).outlineStyle !== 'none' || getComputedStyle(at).boxShadow !== 'none' || getComputedStyle(at).borderColor === getComputedStyle(document.documentElement).getPropertyValue('--accent')))
    const words = one.getAttribute('aria-label') ?? one.labels?.[0]?.textContent ?? one.textContent ?? ''
    return { name: one.localName + ' ' + words.trim().slice(0, 60), isSeen: isWithin && isMarked }
  })`)
const openPage = async (place: string) => {
  const tab = await openTab(console.url, await console.signedIn(place))
  await tab.page.locator('main h1, main .empty').first().waitFor()
  await settledPage(tab.page)
  return tab
}
/** Presses Tab until an element of this name has the focus. */
async function tabTo(page: Page, name: string): Promise<void> {
  for (let step = 0; step < 80; step++) {
    await page.keyboard.press('Tab')
    if ((await focus(page)).name === name) return
  }
  throw new Error(`Tab does not come to ${name}`)
}

describe.runIf(hasBrowser)('the console by keyboard only', () => {
  it.each(pageIds())('%s can be traversed with Tab, with a visible focus', async (id) => {
    const { page, close } = await openPage(id)
    // Some pages start in a field.
    await page.locator('.skip').focus()
    const passed: Focus[] = []
    for (let step = 0; step < 120; step++) {
      await page.keyboard.press('Tab')
      const now = await focus(page)
      // After the last element it starts again.
      if (now.name === '' || (passed.length > 3 && now.name.endsWith('Skip to the content'))) break
      passed.push(now)
    }
    expect(passed.length).toBeGreaterThan(12)
    expect(passed.filter(({ isSeen }) => !isSeen)).toEqual([])
    await close()
  })

  it('starts with a link that skips the navigation', async () => {
    const { page, close } = await openPage('spaces')
    await page.keyboard.press('Tab')
    expect(await focus(page)).toEqual({ name: 'a Skip to the content', isSeen: true })
    await page.keyboard.press('Enter')
    await page.keyboard.press('Tab')
    expect((await focus(page)).name).toBe('button New space')
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
      await expect.poll(async () => (await focus(page)).name).toBe('input Name')
      await leave()
      await page.locator('dialog').waitFor({ state: 'detached' })
      await expect.poll(async () => (await focus(page)).name).toBe('button New space')
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
    expect((await focus(page)).name).toBe('button Create')
    expect(await page.getByLabel('Short name').getAttribute('aria-invalid')).toBe('true')
    expect(await seriousProblems(page)).toEqual([])
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
      await expect.poll(async () => (await focus(page)).name).not.toBe('')
      if (left > 0) expect((await focus(page)).name).toMatch(/^button (Edit|Delete) Where/)
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
        expect([theme, width, await seriousProblems(page), await overflow(page)]).toEqual([theme, width, [], 0])
      }
    // The help contains every page with its shortcut.
    const keys = await help.locator('kbd', { hasText: /^g .$/ }).allTextContents()
    expect(keys.length).toBe(pageIds().length)
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
    await expect.poll(async () => (await focus(page)).name).toBe('a Spaces')
    expect(await seriousProblems(page)).toEqual([])
    await page.keyboard.press('Escape')
    await expect.poll(async () => (await focus(page)).name).toBe('button Pages')
    await close()
  })
})
