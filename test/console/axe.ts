import axe from 'axe-core'
import type { Page } from 'playwright-core'

/** Lists serious and critical accessibility problems of the current page, with their elements. */
export async function listSeriousProblems(page: Page): Promise<string[]> {
  await page.evaluate(axe.source)
  const problems = await page.evaluate(
    `axe.run(document).then(({ violations }) => violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join(' ').slice(0, 400)))`,
  )
  return Array.isArray(problems) ? problems.map(String) : ['axe returned no list']
}

/** Measures by how many pixels the page is wider than its viewport. */
export async function measureOverflow(page: Page): Promise<number> {
  return Number(await page.evaluate('document.documentElement.scrollWidth - innerWidth'))
}
