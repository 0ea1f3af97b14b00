import { existsSync, readFileSync } from 'node:fs'
import { type Browser, chromium, type Page } from 'playwright-core'
import { createToken } from '../../src/local/keys.js'
import { until } from '../helpers/until.js'
import { endAll, forget, type Given, type Started, start } from '../helpers/whole-daemon.js'

const PROGRAM = '/usr/bin/chromium'
/** Without a browser these tests say that they did nothing; where CI=true they fail instead. */
export const hasBrowser = existsSync(PROGRAM) || process.env.CI === 'true'

/** what draws the graph, without a graphics card */
const WEBGL = ['--use-angle=swiftshader', '--enable-unsafe-swiftshader']

let browser: Browser | undefined

/** The tests' browser; it may be asked for again and again. */
async function theBrowser(): Promise<Browser> {
  // the sandbox wants rights that a container does not give; the pages are our own
  browser ??= await chromium.launch({ executablePath: PROGRAM, args: ['--no-sandbox', '--disable-gpu', ...WEBGL] })
  return browser
}

/** Ends the browser and every daemon. */
export async function endBrowser(): Promise<void> {
  await browser?.close()
  browser = undefined
  await endAll()
}

/** The JSON of an answer, which is what its test says. */
export async function jsonOf<T>(response: Response): Promise<T> {
  const answer: unknown = await response.json()
  // a test of what is in it follows
  return answer as T
}

export interface Tab {
  page: Page
  /** what the console of the browser was told, and what was thrown there */
  problems: string[]
  /** requests that went anywhere but to the daemon */
  strangers: string[]
  close(): Promise<void>
}

/** A tab with a storage of its own. */
export async function openTab(url: string, address: string, size = { width: 1280, height: 900 }): Promise<Tab> {
  const context = await (await theBrowser()).newContext({ viewport: size, reducedMotion: 'reduce' })
  const page = await context.newPage()
  // a busy machine is slow
  page.setDefaultTimeout(60_000)
  const problems: string[] = []
  const strangers: string[] = []
  page.on('console', (message) => {
    const text = message.text()
    // software in place of a graphics card says that it is slow
    if (text.includes('GL Driver Message')) return
    if (message.type() === 'error' || message.type() === 'warning') problems.push(text)
  })
  page.on('pageerror', (error) => problems.push(error.message))
  page.on('request', (request) => {
    const target = request.url()
    if (!target.startsWith(url) && !target.startsWith('blob:')) strangers.push(target)
  })
  await page.goto(new URL(address, url).href)
  return { page, problems, strangers, close: () => context.close() }
}

export interface Console extends Started {
  /** of the operator: the tenant `local` */
  operator: string
  /** an address that signs one tab in, at a place within the console */
  signedIn(place?: string): Promise<string>
}

/** The same data directory with other settings. */
export async function startAgain({ daemon, dataDir }: Console, settings: Given): Promise<Console> {
  daemon.stop('test')
  await daemon.stopped
  forget(daemon)
  return await startConsole(settings, dataDir)
}

/** A daemon and its operator. */
export async function startConsole(settings: Given = {}, dataDir?: string): Promise<Console> {
  const started = await start(settings, 'manual', dataDir)
  const { token: operator } = await createToken(started.dataDir, {
    tenant: 'local',
    subject: 'grace',
    scopes: ['knowledge-spaces:*'],
  })
  const signedIn = async (place = '') => {
    const response = await started.call('POST', '/daemon/console/codes', { token: operator })
    const { code } = await jsonOf<{ code: string }>(response)
    return `/console/${place}#code=${code}`
  }
  return { ...started, operator, signedIn }
}

/** A space with these files, once all of them are read. @returns its id */
export async function filledSpace(
  console: Console,
  slug: string,
  files: Record<string, string | Uint8Array<ArrayBuffer>>,
  token = console.operator,
): Promise<string> {
  const made = await console.call('POST', '/knowledge-spaces', { token, json: { name: slug, slug } })
  const { id } = await jsonOf<{ id: string }>(made)
  for (const [name, content] of Object.entries(files)) {
    const form = { file: new File([content], name) }
    const answer = await console.call('POST', `/knowledge-spaces/${id}/documents`, { token, form })
    if (answer.status >= 300) throw new Error(`${name}: ${await answer.text()}`)
  }
  await settled(console, id, token)
  return id
}

/** Waits until nothing is being read in a space. */
async function settled(console: Console, id: string, token = console.operator): Promise<void> {
  await until(async () => {
    const open = await console.call('GET', `/knowledge-spaces/${id}/jobs?state=open&limit=100`, { token })
    return (await jsonOf<{ items: unknown[] }>(open)).items.length === 0
  })
}

const LOOK_MS = 100

/**
 * Waits until nothing of the page is still on its way, three looks in a row, and what changes its colours has ended. A
 * quiet network does not tell that: the file of a worker that has ended before it was whole is asked for for ever.
 */
export async function settledPage(page: Page): Promise<void> {
  let quiet = 0
  await until(async () => {
    await page.waitForTimeout(LOOK_MS)
    quiet = (await page.locator('.skeleton').count()) === 0 ? quiet + 1 : 0
    return quiet >= 3
  })
  await page.evaluate(
    'new Promise(requestAnimationFrame).then(() => Promise.allSettled(document.getAnimations().map(({ finished }) => finished)))',
  )
}

/** The pages that the navigation has. */
export function pageIds(): string[] {
  const text = readFileSync(new URL('../../src/console/pages.ts', import.meta.url), 'utf8')
  return [...text.matchAll(/^ {4}id: '([a-z-]+)',$/gm)].flatMap(([, id]) => (id === undefined ? [] : [id]))
}
