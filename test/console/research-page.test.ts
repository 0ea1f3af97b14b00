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

  it('tells why a task is refused: the daemon names the limit, and the form stays as it was filled', async () => {
    const { operator, spaceId } = await filledSpace(console)
    // by steps and not by time: what a task is thought to take depends on how fast the tasks before it were
    const body = { knowledgeSpaceId: spaceId, query: 'Who owns the Sea Otter?', limits: { maxRetrievalSteps: 5 } }
    const { id } = await jsonOf<{ id: string }>(await operator('POST', '/research-tasks', body))
    const tab = await openTab(console.url, await console.signedIn(`research/${id}?space=harbour`))
    const { page } = tab
    await page.getByRole('button', { name: 'Start again' }).click()
    const many = Array.from({ length: 12 }, (_, at) => `What is said of ship ${at}?`).join(' ')
    await page.getByLabel('Question').fill(many)
    const started = page.waitForResponse((response) => response.request().method() === 'POST')
    await page.getByRole('button', { name: 'Start', exact: true }).click()
    expect((await started).status()).toBe(422)
    await page.locator('dialog .notice-bad', { hasText: 'maxRetrievalSteps is 5' }).waitFor()
    expect(await page.getByLabel('Question').inputValue()).toBe(many)
    // what is changed is not what was refused
    await page.getByLabel('Question').fill('Who owns the Sea Otter?')
    await page.locator('dialog .notice-bad').waitFor({ state: 'detached' })
    // the refusal is an answer of 422, which a browser notes
    expect(tab.problems.filter((problem) => !problem.includes('422'))).toEqual([])
    await tab.close()
  })

  it('cancels a task, says what became of it, and starts it again with its bounds', async () => {
    const { operator, spaceId } = await filledSpace(console)
    const tab = await openTab(console.url, await console.signedIn('research?space=harbour'))
    const { page } = tab
    await page.getByRole('heading', { name: 'Research', level: 1 }).waitFor()
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
    // the page says what the service says, beside the task and in the list
    await page.getByRole('article').getByRole('status').getByText(stage, { exact: true }).waitFor()
    await page.locator('.pick-item[aria-current]').getByText(stage, { exact: true }).waitFor()
    await again.click()
    expect(await page.getByLabel('Budget, USD').inputValue()).toBe('2')
    expect(tab.problems.filter((problem) => !problem.includes('409'))).toEqual([])
    await tab.close()
  })
})
