import { existsSync, readFileSync } from 'node:fs'
import { type Browser, chromium, type Page } from 'playwright-core'
import { createToken } from '../../src/local/keys.js'
import { until } from '../helpers/until.js'
import { endAll, forget, type Given, type Started, start } from '../helpers/whole-daemon.js'

const PROGRAM = '/usr/bin/chromium'
/** Without a browser these tests are skipped with a note; with CI=true they fail. */
export const hasBrowser = existsSync(PROGRAM) || process.env.CI === 'true'

/** renders the graph without a graphics card */
const WEBGL = ['--use-angle=swiftshader', '--enable-unsafe-swiftshader']

let browser: Browser | undefined

/** The browser of the tests; later calls return the same one. */
async function theBrowser(): Promise<Browser> {
  // The sandbox needs rights that a container lacks; the pages are our own.
  browser ??= await chromium.launch({ executablePath: PROGRAM, args: ['--no-sandbox', '--disable-gpu', ...WEBGL] })
  return browser
}

/** Ends the browser and every daemon. */
export async function endBrowser(): Promise<void> {
  await browser?.close()
  browser = undefined
  await endAll()
}

/** The JSON of a response; the type is up to the test. */
export async function jsonOf<T>(response: Response): Promise<T> {
  const answer: unknown = await response.json()
  // A test of its content follows.
  return answer as T
}

export interface Tab {
  page: Page
  /** console messages and exceptions of the page */
  problems: string[]
  /** requests to hosts other than the daemon */
  strangers: string[]
  close(): Promise<void>
}

/** A tab with separate storage. */
export async function openTab(url: string, address: string, size = { width: 1280, height: 900 }): Promise<Tab> {
  const context = await (await theBrowser()).newContext({ viewport: size, reducedMotion: 'reduce' })
  const page = await context.newPage()
  // A busy machine is slow.
  page.setDefaultTimeout(60_000)
  const problems: string[] = []
  const strangers: string[] = []
  page.on('console', (message) => {
    const text = message.text()
    // Software rendering reports that it is slow.
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
  /** token of the operator: the tenant `local` */
  operator: string
  /** an address that signs one tab in, for a path of the console */
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

/** Creates a space with these files and waits until all are compiled. @returns its id */
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

/** Waits until a space has no open documents. */
async function settled(console: Console, id: string, token = console.operator): Promise<void> {
  await until(async () => {
    const open = await console.call('GET', `/knowledge-spaces/${id}/jobs?state=open&limit=100`, { token })
    return (await jsonOf<{ items: unknown[] }>(open)).items.length === 0
  })
}

const LOOK_MS = 100

/**
 * Waits until the page has no requests in progress in three consecutive checks, and no transitions of colours. A quiet
 * network is not enough: the file of a worker that ended before it was complete stays requested forever.
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

/** The pages of the navigation. */
export function pageIds(): string[] {
  const text = readFileSync(new URL('../../src/console/pages.ts', import.meta.url), 'utf8')
  return [...text.matchAll(/^ {4}id: '([a-z-]+)',$/gm)].flatMap(([, id]) => (id === undefined ? [] : [id]))
}
