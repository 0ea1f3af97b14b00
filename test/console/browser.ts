import { existsSync, readFileSync } from 'node:fs'
import { type Browser, chromium, type Page, type ViewportSize } from 'playwright-core'
import { createToken } from '../../src/local/keys.js'
import { until } from '../helpers/until.js'
import {
  forgetDaemon,
  type SettingValues,
  startWholeDaemon,
  stopAllDaemons,
  type WholeDaemon,
} from '../helpers/whole-daemon.js'

const PROGRAM = '/usr/bin/chromium'
/** Without a browser these tests are skipped with a note; with CI=true they fail. */
export const hasBrowser = existsSync(PROGRAM) || process.env.CI === 'true'

/** Flags to render the graph without a graphics card. */
const WEBGL_FLAGS = ['--use-angle=swiftshader', '--enable-unsafe-swiftshader']

let browser: Browser | undefined

/** Starts the browser of the tests at the first call. */
async function getBrowser(): Promise<Browser> {
  // The sandbox needs rights that a container lacks; the pages are our own.
  browser ??= await chromium.launch({
    executablePath: PROGRAM,
    args: ['--no-sandbox', '--disable-gpu', ...WEBGL_FLAGS],
  })
  return browser
}

/** Ends the browser and every daemon. */
export async function closeBrowser(): Promise<void> {
  await browser?.close()
  browser = undefined
  await stopAllDaemons()
}

/** Reads the JSON of a response; the test states its type. */
export async function readJson<T>(response: Response): Promise<T> {
  const body: unknown = await response.json()
  // A test of its content follows.
  return body as T
}

export interface Tab {
  page: Page
  /** console messages and exceptions of the page */
  problems: string[]
  /** requests to hosts other than the daemon */
  foreignUrls: string[]
  close(): Promise<void>
}

/** Opens a tab with separate storage. @param path of the first page */
export async function openTab(url: string, path: string, size = { width: 1280, height: 900 }): Promise<Tab> {
  const context = await (await getBrowser()).newContext({ viewport: size, reducedMotion: 'reduce' })
  const page = await context.newPage()
  // A busy machine is slow.
  page.setDefaultTimeout(60_000)
  const problems: string[] = []
  const foreignUrls: string[] = []
  page.on('console', (message) => {
    const text = message.text()
    // Software rendering reports that it is slow.
    if (text.includes('GL Driver Message')) return
    if (message.type() === 'error' || message.type() === 'warning') problems.push(text)
  })
  page.on('pageerror', (error) => problems.push(error.message))
  page.on('request', (request) => {
    const target = request.url()
    if (!target.startsWith(url) && !target.startsWith('blob:')) foreignUrls.push(target)
  })
  await page.goto(new URL(path, url).href)
  return { page, problems, foreignUrls, close: () => context.close() }
}

export interface Console extends WholeDaemon {
  /** token of the operator: the tenant `local` */
  operator: string
  /** creates a path, with a code, that opens a page of the console and signs one tab in */
  createSignInPath(page?: string): Promise<string>
  /** opens a page of the console in a new tab that is signed in */
  openPage(page?: string, size?: ViewportSize): Promise<Tab>
}

/** Starts the daemon again on the same data directory, with other settings. */
export async function restartConsole({ daemon, dataDir }: Console, settings: SettingValues): Promise<Console> {
  daemon.stop('test')
  await daemon.stopped
  forgetDaemon(daemon)
  return await startConsole(settings, dataDir)
}

/** Starts a daemon and creates a token of its operator. */
export async function startConsole(settings: SettingValues = {}, dataDir?: string): Promise<Console> {
  const started = await startWholeDaemon(settings, 'manual', dataDir)
  const { token: operator } = await createToken(started.dataDir, {
    tenant: 'local',
    subject: 'grace',
    scopes: ['knowledge-spaces:*'],
  })
  const createSignInPath = async (page = '') => {
    const response = await started.call('POST', '/daemon/console/codes', { token: operator })
    const { code } = await readJson<{ code: string }>(response)
    return `/console/${page}#code=${code}`
  }
  const openPage = async (page?: string, size?: ViewportSize) =>
    await openTab(started.url, await createSignInPath(page), size)
  return { ...started, operator, createSignInPath, openPage }
}

/** Creates a space with these files and waits until all are compiled. @returns its id */
export async function createFilledSpace(
  console: Console,
  slug: string,
  files: Record<string, string | Uint8Array<ArrayBuffer>>,
  token = console.operator,
): Promise<string> {
  const created = await console.call('POST', '/knowledge-spaces', { token, json: { name: slug, slug } })
  const { id } = await readJson<{ id: string }>(created)
  for (const [name, content] of Object.entries(files)) {
    const form = { file: new File([content], name) }
    const response = await console.call('POST', `/knowledge-spaces/${id}/documents`, { token, form })
    if (response.status >= 300) throw new Error(`${name}: ${await response.text()}`)
  }
  await waitForJobs(console, id, token)
  return id
}

/** Waits until a space has no open jobs. */
async function waitForJobs(console: Console, id: string, token = console.operator): Promise<void> {
  await until(async () => {
    const open = await console.call('GET', `/knowledge-spaces/${id}/jobs?state=open&limit=100`, { token })
    return (await readJson<{ items: unknown[] }>(open)).items.length === 0
  })
}

const POLL_MS = 100

/**
 * Waits until the page shows no placeholders in three consecutive checks, and all animations have ended. Waiting for
 * the network is not enough: the request for the file of an aborted worker never ends.
 */
export async function waitForPage(page: Page): Promise<void> {
  let idleCount = 0
  await until(async () => {
    await page.waitForTimeout(POLL_MS)
    idleCount = (await page.locator('.skeleton').count()) === 0 ? idleCount + 1 : 0
    return idleCount >= 3
  })
  await page.evaluate(
    'new Promise(requestAnimationFrame).then(() => Promise.allSettled(document.getAnimations().map(({ finished }) => finished)))',
  )
}

/** Lists the ids of the pages of the navigation. */
export function listPageIds(): string[] {
  const text = readFileSync(new URL('../../src/console/pages.ts', import.meta.url), 'utf8')
  return [...text.matchAll(/^ {4}id: '([a-z-]+)',$/gm)].flatMap(([, id]) => (id === undefined ? [] : [id]))
}
