import axe from 'axe-core'
import type { Page } from 'playwright-core'

/** What axe calls serious or critical in what the page shows now, with where it stands. */
export async function seriousProblems(page: Page): Promise<string[]> {
  await page.evaluate(axe.source)
  const found = await page.evaluate(
    `axe.run(document).then(({ violations }) => violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join(' ').slice(0, 400)))`,
  )
  return Array.isArray(found) ? found.map(String) : ['axe did not answer']
}

/** How much wider the page is than what shows it. */
export async function overflow(page: Page): Promise<number> {
  return Number(await page.evaluate('document.documentElement.scrollWidth - innerWidth'))
}
