import axe from 'axe-core'
import type { Page } from 'playwright-core'

/** Serious and critical problems of the current page by axe, with their locations. */
export async function seriousProblems(page: Page): Promise<string[]> {
  await page.evaluate(axe.source)
  const found = await page.evaluate(
    `axe.run(document).then(({ violations }) => violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join(' ').slice(0, 400)))`,
  )
  return Array.isArray(found) ? found.map(String) : ['axe did not answer']
}

/** Width by which the page exceeds its viewport. */
export async function overflow(page: Page): Promise<number> {
  return Number(await page.evaluate('document.documentElement.scrollWidth - innerWidth'))
}
