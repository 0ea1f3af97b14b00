import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { listSeriousProblems } from './axe.js'
import { type Console, closeBrowser, hasBrowser, readJson, startConsole } from './browser.js'
import { getHarbourSpace, type HarbourSpace, HOSTILE } from './filled.js'

let console: Console
let spaceId: string
let operator: HarbourSpace['operator']
let upload: HarbourSpace['upload']

beforeAll(async () => {
  console = await startConsole()
  const filled = await getHarbourSpace(console)
  spaceId = filled.spaceId
  operator = filled.operator
  upload = filled.upload
})
afterAll(closeBrowser)

describe.runIf(hasBrowser)('the page Quality', () => {
  it('decides failed queries with keys, and creates a golden question', async () => {
    await filledQueries()
    const tab = await console.openPage('quality?space=harbour')
    const { page } = tab
    await page.getByRole('button', { name: /^Sort \d+ by evidence/ }).click()
    await page.getByText(/queries? sorted\./).waitFor()
    const first = await page.locator('.decide h2').textContent()
    await page.keyboard.press('j')
    await page.waitForFunction(`document.querySelector('.decide h2')?.textContent !== ${JSON.stringify(first)}`)
    await page.keyboard.press('k')
    await page.waitForFunction(`document.querySelector('.decide h2')?.textContent === ${JSON.stringify(first)}`)
    // A letter in the note field decides nothing.
    await page.keyboard.press('n')
    await page.keyboard.type('mic')
    await page.keyboard.press('Escape')
    expect((await counts()).promoted).toBe(0)
    await page.locator('.passages-list input').first().check()
    await page.keyboard.press('m')
    await page.getByText('It is a golden question now.').waitFor()
    const { items } = await readJson<{ items: { question: string; expectedEvidenceIds: string[] }[] }>(
      await operator('GET', `/knowledge-spaces/${spaceId}/golden-questions`),
    )
    expect(items.find(({ question }) => question === first)?.expectedEvidenceIds.length).toBeGreaterThan(0)
    await page.waitForFunction(`document.querySelector('.decide h2')?.textContent !== ${JSON.stringify(first)}`)
    await page.keyboard.press('i')
    await page.getByText('Dismissed.').waitFor()
    expect(await counts()).toMatchObject({ promoted: 1, dismissed: 1 })
    expect(await page.evaluate('window.broken')).toBeUndefined()
    expect(tab.problems).toEqual([])
    expect(tab.foreignUrls).toEqual([])
    await tab.close()
  })

  it('runs the golden questions, charts the runs, and compares two runs question by question', async () => {
    const path = `/knowledge-spaces/${spaceId}/golden-questions`
    const golden = (question: string, metadata: object, expected?: object) =>
      operator('POST', path, { question, metadata, ...(expected === undefined ? {} : { expect: expected }) })
    const places = { expect: [{ document: 'harbour.md', quote: 'nine crowns' }] }
    const made = await golden('What does mooring cost a night?', places, { answer: ['NINE crowns'] })
    const { id } = await readJson<{ id: string }>(made)
    await golden('Who repairs the crane?', { expect: [{ document: 'crane.md' }] })
    await golden(`${HOSTILE} who is that?`, { answerable: false })
    const tab = await console.openPage('quality?space=harbour&tab=runs')
    const { page } = tab
    const run = page.getByRole('button', { name: /^Run \d+ golden questions/ })
    await run.click()
    await page.getByText(/questions asked\./).waitFor()
    expect(await page.locator('.runs tbody tr td:nth-child(6)').allInnerTexts()).toEqual(['100 %'])
    await operator('PATCH', `${path}/${id}`, { expect: { answer: ['ninety crowns'] } })
    await page.reload()
    await run.waitFor()
    await upload(spaceId, 'new-fees.md', '# Fees from May\n\nMooring will cost twelve crowns a night.\n')
    await run.click()
    await page.locator('.runs tbody tr').nth(1).waitFor()
    // The question of an earlier query belongs to neither run.
    expect(await page.locator('.runs tbody tr td:nth-child(3)').allInnerTexts()).toEqual(['4', '4'])
    await page.locator('.plot canvas').waitFor()
    const row = page.locator('.compare-item', { hasText: 'What does mooring cost a night?' })
    await row.getByText('answer broke').waitFor()
    await row.getByText('not in the answer: “ninety crowns”').waitFor()
    await row.getByText(/passages? gained/).click()
    await row
      .getByRole('button', { name: /new-fees\.md/ })
      .first()
      .click()
    await page
      .locator('dialog[open]')
      .getByText(/twelve crowns/)
      .first()
      .waitFor()
    expect(await page.evaluate('window.broken')).toBeUndefined()
    expect(tab.problems).toEqual([])
    await tab.close()
  })
})

describe.runIf(hasBrowser)('the page Quality, for golden questions, groups and conflicts', () => {
  it('saves the values of the form in a golden question, and keeps values that the form does not contain', async () => {
    const path = `/knowledge-spaces/${spaceId}/golden-questions`
    const metadata = { expect: [{ document: 'crane.md' }], team: 'quay' }
    const made = await operator('POST', path, { question: 'Who mends the crane?', tags: ['old'], metadata })
    const { id } = await readJson<{ id: string }>(made)
    const tab = await console.openPage('quality?space=harbour&tab=golden')
    const { page } = tab
    await page.getByRole('button', { name: 'Edit Who mends the crane?' }).click()
    const form = page.getByRole('dialog')
    await form.getByLabel('Question').fill(`Who repairs the crane? ${HOSTILE}`)
    await form.getByLabel('Quote').fill('Ida Keller repairs')
    await form.getByRole('button', { name: 'Add location' }).click()
    await form.getByLabel('Document').nth(1).fill('harbour.md')
    await form.getByLabel('Answer contains').fill('Ida Keller\n\n  Jon Berg ')
    await form.getByLabel('Evidence state').selectOption('answerable')
    await form.getByLabel('Tags').fill('people, crane, people')
    expect(await listSeriousProblems(page)).toEqual([])
    await form.getByRole('button', { name: 'Save' }).click()
    await form.waitFor({ state: 'detached' })
    expect(await readJson<object>(await operator('GET', `${path}/${id}`))).toMatchObject({
      question: `Who repairs the crane? ${HOSTILE}`,
      tags: ['people', 'crane'],
      expect: { answer: ['Ida Keller', 'Jon Berg'], state: 'answerable' },
      metadata: {
        team: 'quay',
        expect: [{ document: 'crane.md', quote: 'Ida Keller repairs' }, { document: 'harbour.md' }],
      },
    })
    expect(await page.evaluate('window.broken')).toBeUndefined()
    expect(tab.problems).toEqual([])
    await tab.close()
  })

  it('decides equal failed queries together', async () => {
    for (const query of ['price of a violin lesson', 'the price of violin lessons'])
      await (await operator('POST', '/queries', { knowledgeSpaceId: spaceId, query })).text()
    const path = `/knowledge-spaces/${spaceId}/failed-queries`
    const statuses = async () => {
      const { items } = await readJson<{ items: { query: string; status: string }[] }>(await operator('GET', path))
      return items.filter(({ query }) => query.includes('violin')).map(({ status }) => status)
    }
    await expect.poll(async () => (await statuses()).length).toBe(2)
    const tab = await console.openPage('quality?space=harbour&tab=clusters')
    const { page } = tab
    const group = page.locator('.cluster', { hasText: 'violin' })
    await group.getByText('2 queries that ask this').waitFor()
    await group.getByRole('button', { name: 'Irrelevant' }).click()
    expect(await listSeriousProblems(page)).toEqual([])
    await page.getByRole('dialog').getByRole('button', { name: 'Irrelevant' }).click()
    await page.getByText('2 queries decided.').waitFor()
    expect(await statuses()).toEqual(['dismissed', 'dismissed'])
    await group.getByText('dismissed').waitFor()
    await group.getByRole('button', { name: 'Review' }).click()
    await page.locator('.decide h2', { hasText: 'violin' }).waitFor()
    expect(tab.problems).toEqual([])
    await tab.close()
  })

  it('shows two contradicting documents side by side, and opens each at the sentence', async () => {
    await upload(spaceId, 'lease-old.md', '# Lease\n\nThe rent of the shed in Northport is 4,200 crowns a month.\n')
    await upload(spaceId, 'lease-new.md', '# Lease\n\nThe rent of the shed in Northport is 4,850 crowns a month.\n')
    await expect
      .poll(async () => (await operator('GET', `/knowledge-spaces/${spaceId}/conflicts`)).text())
      .toContain('lease-new.md')
    const tab = await console.openPage('quality?space=harbour&tab=conflicts')
    const { page } = tab
    const conflict = page.locator('.conflict', { hasText: '4,850' })
    await conflict.getByText('contradiction').waitFor()
    expect(await listSeriousProblems(page)).toEqual([])
    await conflict.getByRole('button', { name: 'lease-new.md' }).click()
    await page.locator('dialog[open] .is-marked', { hasText: '4,850 crowns' }).waitFor()
    expect(tab.problems).toEqual([])
    await tab.close()
  })
})

async function filledQueries(): Promise<void> {
  const hostile = '<script>window.broken=1</script> which penguin colony breeds on the southern island'
  for (const query of ['zebra quill pension scheme', 'moon landing ticket', hostile])
    await (await operator('POST', '/queries', { knowledgeSpaceId: spaceId, query })).text()
  await expect.poll(async () => (await counts())['pending-triage']).toBe(3)
}

async function counts(): Promise<Record<string, number>> {
  const response = await operator('GET', `/knowledge-spaces/${spaceId}/failed-queries/metrics`)
  return (await readJson<{ byStatus: Record<string, number> }>(response)).byStatus
}
