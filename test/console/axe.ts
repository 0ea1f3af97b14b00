import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** What axe calls serious or critical in what the page shows now, with where it stands. */
export async function seriousProblems(page: Page): Promise<string[]> {
  await page.evaluate(AXE)
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
