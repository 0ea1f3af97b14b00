/**
 * The console in Chromium, on a warm daemon: from opening the address of Ask to its first paint and to a field that can be
 * typed into, in a new tab without a cache each time; what the first page weighs; and what the daemon holds before the
 * console was ever opened and after it. `console [ROUNDS]`
 */
import { existsSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { chromium } from 'playwright-core'
import { runKs, startDaemon, temporaryFolder } from './lib/daemon.js'
import { memoryOf } from './lib/process-memory.js'
import { percentile, report } from './lib/report.js'

const ROUNDS = Number(process.argv[2] ?? 15)
const CHROMIUM = process.env.KS_CHROMIUM ?? '/usr/bin/chromium'
const PAINT_BAR_MS = 1000
const WEIGHT_BAR_KIB = 150

if (!existsSync(CHROMIUM)) throw new Error(`this needs Chromium: there is none at ${CHROMIUM}`)
const home = temporaryFolder('bench-console')
const daemon = await startDaemon(home.path)
const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] })
try {
  await daemon.client.request('POST /knowledge-spaces', { body: { name: 'Shop', slug: 'shop' } })
  const before = memoryOf(daemon.pid, 'VmRSS')
  const painted: number[] = []
  const ready: number[] = []
  for (let round = 0; round <= ROUNDS; round++) {
    const { stdout } = await runKs(home.path, ['console', '--no-open'])
    const context = await browser.newContext()
    const page = await context.newPage()
    const started = performance.now()
    await page.goto(stdout.trim().replace('/console/#', '/console/ask?space=shop#'))
    await page.locator('#question').waitFor()
    const took = performance.now() - started
    const paint = Number(await page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime"))
    await context.close()
    // the first of them warms the daemon and the disk
    if (round === 0) continue
    painted.push(paint)
    ready.push(took)
  }
  report('console', [
    {
      name: 'first paint of Ask, p50',
      value: percentile(painted, 0.5),
      unit: 'ms',
      bar: { atMost: PAINT_BAR_MS },
      spread: [Math.min(...painted), Math.max(...painted)],
    },
    { name: 'until a question can be typed, p50', value: percentile(ready, 0.5), unit: 'ms' },
    {
      name: 'first page, compressed',
      value: (await weight(daemon.url)) / 1024,
      unit: 'KiB',
      bar: { atMost: WEIGHT_BAR_KIB },
    },
    { name: 'memory before it was opened', value: before / 2 ** 20, unit: 'MiB' },
    { name: 'memory after it', value: memoryOf(daemon.pid, 'VmRSS') / 2 ** 20, unit: 'MiB' },
  ])
} finally {
  await browser.close()
  await daemon.stop()
  home.remove()
}

/** Bytes of the files that the page names itself, as they are sent. */
async function weight(url: string): Promise<number> {
  const html = await (await fetch(`${url}/console/`)).text()
  let bytes = gzipSync(html).length
  for (const [, name] of html.matchAll(/(?:src|href)="(\/console\/assets\/[^"]+)"/g)) {
    const file = await fetch(`${url}${name}`)
    bytes += gzipSync(new Uint8Array(await file.arrayBuffer())).length
  }
  return bytes
}
