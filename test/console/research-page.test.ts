import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type FakeOpenAi, startFakeOpenAi } from '../helpers/fake-openai.js'
import { type Console, closeBrowser, hasBrowser, readJson, startConsole } from './browser.js'
import { getHarbourSpace, HOSTILE } from './filled.js'

const MODEL = { pluginId: 'openai-compatible', provider: 'held' }
let console: Console
let model: FakeOpenAi

beforeAll(async () => {
  model = await startFakeOpenAi({ answer: () => 'It costs nine crowns [1].' })
  model.always({ kind: 'hang' })
  console = await startConsole()
  await getHarbourSpace(console)
})
afterAll(async () => {
  await closeBrowser()
  await model.close()
})

describe.runIf(hasBrowser)('the page Research', () => {
  it('plans a task, follows it to its report, and opens a source at its passage', async () => {
    const tab = await console.openPage('research?space=harbour')
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
    expect(tab.foreignUrls).toEqual([])
    await tab.close()
  })

  it('explains why a task is refused with the limit, and keeps the form', async () => {
    const { operator, spaceId } = await getHarbourSpace(console)
    // Limited by steps, not by time: the estimated duration depends on earlier tasks.
    const body = { knowledgeSpaceId: spaceId, query: 'Who owns the Sea Otter?', limits: { maxRetrievalSteps: 5 } }
    const { id } = await readJson<{ id: string }>(await operator('POST', '/research-tasks', body))
    const tab = await console.openPage(`research/${id}?space=harbour`)
    const { page } = tab
    await page.getByRole('button', { name: 'Start again' }).click()
    const many = Array.from({ length: 12 }, (_, at) => `What is said of ship ${at}?`).join(' ')
    await page.getByLabel('Question').fill(many)
    const started = page.waitForResponse((response) => response.request().method() === 'POST')
    await page.getByRole('button', { name: 'Start', exact: true }).click()
    expect((await started).status()).toBe(422)
    await page.locator('dialog .notice-bad', { hasText: 'maxRetrievalSteps is 5' }).waitFor()
    expect(await page.getByLabel('Question').inputValue()).toBe(many)
    // A changed form is no longer the refused one.
    await page.getByLabel('Question').fill('Who owns the Sea Otter?')
    await page.locator('dialog .notice-bad').waitFor({ state: 'detached' })
    // The refusal has status 422, which a browser logs.
    expect(tab.problems.filter((problem) => !problem.includes('422'))).toEqual([])
    await tab.close()
  })

  it('cancels a task, shows its result, and starts it again with its limits', async () => {
    // A model that never responds keeps the task in its stage on any machine.
    const held = await startConsole({
      providers: [{ ...MODEL, baseUrl: `${model.url}/v1` }],
      defaultGenerator: { ...MODEL, model: 'a-model' },
    })
    const { operator, spaceId } = await getHarbourSpace(held)
    const body = {
      knowledgeSpaceId: spaceId,
      query: 'What does mooring cost, and who repairs the crane?',
      budgetUsd: 2,
    }
    const { id } = await readJson<{ id: string }>(await operator('POST', '/research-tasks', body))
    await expect.poll(() => model.requests.length).toBeGreaterThan(0)
    const tab = await held.openPage(`research/${id}?space=harbour`)
    const { page } = tab
    await page.getByRole('button', { name: 'Cancel' }).click()
    const again = page.getByRole('button', { name: 'Start again' })
    await again.waitFor()
    const { stage } = await readJson<{ stage: string }>(await operator('GET', `/research-tasks/${id}`))
    expect(stage).toBe('canceled')
    // The page shows the message of the service, next to the task and in the list.
    await page.getByRole('article').getByRole('status').getByText('canceled', { exact: true }).waitFor()
    await page.locator('.pick-item[aria-current]').getByText('canceled', { exact: true }).waitFor()
    await again.click()
    expect(await page.getByLabel('Budget, USD').inputValue()).toBe('2')
    expect(tab.problems).toEqual([])
    await tab.close()
  })
})
