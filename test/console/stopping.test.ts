import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type FakeOpenAi, startFakeOpenAi } from '../helpers/fake-openai.js'
import { type Console, closeBrowser, createFilledSpace, hasBrowser, readJson, startConsole } from './browser.js'

const MODEL = { pluginId: 'openai-compatible', provider: 'slow' }
let console: Console
let model: FakeOpenAi
let spaceId = ''
let appId = ''

beforeAll(async () => {
  model = await startFakeOpenAi({
    answer: () => 'The otter hunts trout at night [1]. It is trout that the otter hunts at night [1].',
  })
  console = await startConsole({
    providers: [{ ...MODEL, baseUrl: `${model.url}/v1` }],
    defaultGenerator: { ...MODEL, model: 'a-model' },
  })
  spaceId = await createFilledSpace(console, 'river', { 'otter.md': '# Otters\n\nThe otter hunts trout at night.\n' })
  const made = await console.call('POST', '/chat-apps', {
    token: console.operator,
    json: { name: 'River', knowledgeSpaceIds: [spaceId] },
  })
  appId = (await readJson<{ id: string }>(made)).id
})
afterAll(async () => {
  await closeBrowser()
  await model.close()
})

const countAborted = () => model.requests.filter(({ isAborted }) => isAborted).length

describe.runIf(hasBrowser)('an answer in progress', () => {
  it('can be stopped in Ask: the text so far remains, the model request is aborted, and the next question is answered', async () => {
    const { page, problems, close } = await console.openPage('ask?space=river')
    model.always({ kind: 'stall-after', deltas: 9 })
    const previousCount = countAborted()
    await page.getByLabel('Question').fill('What does the otter hunt?')
    await page.keyboard.press('Enter')
    await page.locator('.answer', { hasText: 'The otter' }).waitFor()
    await page.getByRole('button', { name: 'Stop' }).click()
    await page.getByText('Stopped. The part received until then is shown above.').waitFor()
    expect(await page.locator('.answer').textContent()).toContain('The otter')
    await expect.poll(countAborted).toBeGreaterThan(previousCount)

    model.always()
    await page.getByLabel('Question').fill('When does the otter hunt?')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'How it was found' }).waitFor()
    await page.getByRole('button', { name: 'Passage 1' }).first().waitFor()
    expect(problems).toEqual([])
    await close()
  })

  it('can be stopped in Chat: the text so far remains, and the conversation continues', async () => {
    const { page, problems, close } = await console.openPage(`chat/${appId}`)
    model.always({ kind: 'stall-after', deltas: 9 })
    await page.getByLabel('Message').fill('What does the otter hunt?')
    await page.keyboard.press('Enter')
    await page.locator('.answer', { hasText: 'The otter' }).waitFor()
    await page.getByRole('button', { name: 'Stop' }).click()
    // The stream ends like one that was answered or stopped.
    await page.getByRole('button', { name: 'Send' }).waitFor()
    expect(await page.locator('.answer').textContent()).toContain('The otter')

    model.always()
    await page.getByLabel('Message').fill('And when?')
    await page.keyboard.press('Enter')
    await page.locator('.talk-turn').nth(1).getByRole('button', { name: 'Good answer' }).waitFor()
    expect(problems).toEqual([])
    await close()
  })
})
