import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makePdf, sheetOf } from '../engine/readers/render/make-pdf.js'
import { listSeriousProblems } from './axe.js'
import { type Console, closeBrowser, createFilledSpace, hasBrowser, startConsole } from './browser.js'

const FIRST = ['# Harbour', 'Mooring costs nine crowns a night.', 'The crane lifts forty tons.']
const SECOND = ['Ida Keller repairs the crane of the harbour.', 'Its light is seen from far away.']

let console: Console

beforeAll(async () => {
  console = await startConsole()
  await createFilledSpace(console, 'harbour', {
    'harbour.pdf': new Uint8Array(makePdf([sheetOf(FIRST), sheetOf(SECOND)])),
  })
})
afterAll(closeBrowser)

describe.runIf(hasBrowser)('a citation of a PDF in the console', () => {
  it('opens the rendered page with the cited lines highlighted, and announces the number of lines', async () => {
    const { page, problems, foreignUrls, close } = await console.openPage('ask?space=harbour')
    await page.getByLabel('Question').fill('What does mooring cost a night?')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'harbour.pdf' }).first().click()
    const marked = page.getByRole('img', { name: /^Marked on page 1: .*Mooring costs nine crowns a night/ })
    await marked.waitFor()
    await page.getByText(/\d+ lines? marked\./).waitFor()
    const sheet = await page.locator('.page-picture').boundingBox()
    const mark = await marked.locator('.page-mark').last().boundingBox()
    if (sheet === null || mark === null) throw new Error('nothing is shown')
    // The left margin of the sheet is 72 of 595 points.
    expect(Math.abs((mark.x - sheet.x) / sheet.width - 72 / 595)).toBeLessThan(0.02)
    expect(mark.y).toBeGreaterThan(sheet.y)
    expect(mark.y).toBeLessThan(sheet.y + 0.2 * sheet.height)
    expect(await listSeriousProblems(page)).toEqual([])

    await page.setViewportSize({ width: 360, height: 740 })
    await marked.waitFor()
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0)
    expect(problems).toEqual([])
    expect(foreignUrls).toEqual([])
    await close()
  })
})
