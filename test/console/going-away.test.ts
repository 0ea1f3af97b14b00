import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type FakeOpenAi, startFakeOpenAi } from '../helpers/fake-openai.js'
import { freePort } from '../helpers/whole-daemon.js'
import { type Console, closeBrowser, createFilledSpace, hasBrowser, restartConsole, startConsole } from './browser.js'

const MODEL = { pluginId: 'openai-compatible', provider: 'slow' }
let settings = {}
let console: Console
let model: FakeOpenAi

beforeAll(async () => {
  model = await startFakeOpenAi({
    answer: () => 'The otter hunts trout at night [1]. It is trout that the otter hunts at night [1].',
  })
  settings = {
    listen: `127.0.0.1:${await freePort()}`,
    providers: [{ ...MODEL, baseUrl: `${model.url}/v1` }],
    defaultGenerator: { ...MODEL, model: 'a-model' },
  }
  console = await startConsole(settings)
  await createFilledSpace(console, 'river', { 'otter.md': '# Otters\n\nThe otter hunts trout at night.\n' })
})
afterAll(async () => {
  await closeBrowser()
  await model.close()
})

const comeBack = async () => {
  console = await restartConsole(console, settings)
}

describe.runIf(hasBrowser)('a restart of the daemon', () => {
  it('during an answer: the text so far remains with a message, and the question can be sent again', async () => {
    const { page, close } = await console.openPage('ask?space=river')
    model.always({ kind: 'stall-after', deltas: 9 })
    await page.getByLabel('Question').fill('What does the otter hunt?')
    await page.keyboard.press('Enter')
    await page.locator('.answer', { hasText: 'The otter' }).waitFor()
    await comeBack()
    const failed = page.getByRole('alert').filter({ hasText: 'Ask again' })
    await failed.waitFor()
    // A message for people, not the browser's error of a stream.
    expect(await failed.textContent()).not.toMatch(/network error|failed to fetch|TypeError/i)
    expect(await page.locator('.answer').first().textContent()).toContain('The otter')
    model.always()
    await page.getByRole('button', { name: 'Ask again' }).click()
    await page.getByRole('button', { name: 'How it was found' }).waitFor()
    await close()
  })

  it('during a form: the input remains, and can be sent when the daemon is back', async () => {
    const { page, close } = await console.openPage('spaces')
    await page.getByRole('button', { name: 'New space' }).click()
    await page.getByLabel('Name', { exact: true }).fill('Lakes')
    await page.getByLabel('Description').fill('What lives in lakes')
    await page.route('**/*', (route) => route.abort())
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByRole('dialog').getByRole('alert').getByText('The daemon does not answer').waitFor()
    await page.unroute('**/*')
    await page.getByText('The daemon does not answer. ks').waitFor({ state: 'detached' })
    expect(await page.getByLabel('Description').inputValue()).toBe('What lives in lakes')
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByRole('heading', { name: 'Lakes', exact: true }).waitFor()
    await close()
  })

  it('during an upload: each file shows its result, and failed files can be sent again', async () => {
    const { page, close } = await console.openPage('spaces')
    const card = page.locator('.space-card', { hasText: 'river' })
    await card.getByRole('button', { name: 'Add' }).click()
    await page.route('**/documents', (route) => route.abort())
    await page
      .locator('input[type=file]')
      .first()
      .setInputFiles(
        ['trout.md', 'pike.md'].map((name) => ({
          name,
          mimeType: 'text/markdown',
          buffer: Buffer.from(`# ${name}\n\nIt swims.\n`),
        })),
      )
    const again = page.getByRole('button', { name: 'Retry failed' })
    await again.waitFor()
    await page.getByText('the connection broke').first().waitFor()
    await comeBack()
    await page.unroute('**/documents')
    await again.click()
    await again.waitFor({ state: 'detached' })
    await page.locator('.upload', { hasText: 'pike.md' }).getByText('done', { exact: true }).waitFor()
    await close()
  })
})
