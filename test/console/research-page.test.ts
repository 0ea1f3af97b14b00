import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Console, endBrowser, hasBrowser, jsonOf, openTab, startConsole } from './browser.js'
import { filledSpace, HOSTILE } from './filled.js'

let console: Console

beforeAll(async () => {
  console = await startConsole()
  await filledSpace(console)
})
afterAll(endBrowser)

describe.runIf(hasBrowser)('the page Research', () => {
  it('plans a task, follows it to its report, and opens a source at its passage', async () => {
    const tab = await openTab(console.url, await console.signedIn('research?space=harbour'))
    const { page } = tab
    await page.getByRole('button', { name: 'New task' }).click()
    await page.getByLabel('Question').fill(`What does mooring cost, and who repairs the crane? ${HOSTILE}`)
    await page.getByRole('button', { name: 'Plan' }).click()
    await page.getByRole('region', { name: 'Plan' }).getByText('nothing').waitFor()
    await page.getByRole('button', { name: 'Start', exact: true }).click()
    await page.getByRole('heading', { name: 'Report' }).waitFor()
    await page.getByRole('status').filter({ hasText: 'completed' }).waitFor()
    await page.locator('.research-report .cite').first().click()
    await page.locator('dialog[open] mark, dialog[open] .is-marked').first().waitFor()
    expect(await page.evaluate('window.broken')).toBeUndefined()
    expect(tab.problems).toEqual([])
    expect(tab.strangers).toEqual([])
    await tab.close()
  })

  it('tells why a task is refused, cancels one, and starts it again with its bounds', async () => {
    const { operator, spaceId } = await filledSpace(console)
    const tab = await openTab(console.url, await console.signedIn('research?space=harbour'))
    const { page } = tab
    await page.getByRole('button', { name: 'New task' }).click()
    await page.getByLabel('Question').fill('Who owns the Sea Otter?')
    await page.getByLabel('Minutes').fill('0.001')
    await page.getByRole('button', { name: 'Start', exact: true }).click()
    await page.locator('dialog .notice-bad').waitFor()
    await page.keyboard.press('Escape')
    // tasks wait for each other, so that the last one can be canceled before it ends
    const query = Array.from({ length: 40 }, (_, at) => `What is said of ship ${at} and Sea Otter?`).join(' ')
    const body = { knowledgeSpaceId: spaceId, query, budgetUsd: 2 }
    const tasks = await Promise.all(
      Array.from({ length: 6 }, async () => jsonOf<{ id: string }>(await operator('POST', '/research-tasks', body))),
    )
    const { id } = tasks.at(-1) ?? { id: '' }
    await page.goto(`${console.url}/console/research/${id}?space=harbour`)
    const again = page.getByRole('button', { name: 'Start again' })
    const cancel = page.getByRole('button', { name: 'Cancel' })
    await cancel.or(again).waitFor()
    // it may have ended already, also while the button is on its way to be clicked
    await cancel.click({ timeout: 5000 }).catch(() => undefined)
    await again.waitFor()
    const { stage } = await jsonOf<{ stage: string }>(await operator('GET', `/research-tasks/${id}`))
    expect(['canceled', 'completed']).toContain(stage)
    await again.click()
    expect(await page.getByLabel('Budget, USD').inputValue()).toBe('2')
    // the refusal is an answer of 422, which a browser notes
    expect(tab.problems.filter((problem) => !problem.includes('422'))).toEqual([])
    await tab.close()
  })
})
