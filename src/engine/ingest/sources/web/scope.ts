import { createHash } from 'node:crypto'
import { posix } from 'node:path'
import { EgressFailure } from '../../../models/index.js'

/** Longer addresses come from scripts that link to themselves endlessly. */
const MAX_URL_LENGTH = 2048
/** Names that need no hash to be unique: `toFilename` returns the path unchanged. */
const PLAIN_NAME =
  /^(?:[A-Za-z0-9_-][A-Za-z0-9._-]{0,150}\/){0,8}[A-Za-z0-9_-][A-Za-z0-9._-]{0,150}\.(?:html?|txt|md|pdf)$/
/** longer names are truncated where documents are named */
const MAX_PLAIN_LENGTH = 500
/** matches `start.html`, but not `v1.2` */
const PAGE_NAME = /\.[a-z][a-z0-9]{1,5}$/i
/** Parameters of campaigns and advertisements, which no page depends on. */
const CAMPAIGN_PARAMETER = /^(?:utm_[a-z_]+|gclid|dclid|fbclid|msclkid|yclid|mc_[ce]id)(?:=|$)/i
const EXTENSIONS: Record<string, string> = { 'application/pdf': '.pdf', 'text/plain': '.txt', 'text/markdown': '.md' }

/** The pages of a source: same host, and a path below that of its address. */
export interface CrawlScope {
  start: string
  contains(url: URL): boolean
}

/** @throws EgressFailure for a uri that is not the address of a page */
export function createScope(uri: string): CrawlScope {
  const start = URL.canParse(uri) ? new URL(uri) : undefined
  if (start === undefined || (start.protocol !== 'http:' && start.protocol !== 'https:'))
    throw new EgressFailure('its uri is not an http or https URL')
  const last = start.pathname.split('/').at(-1) ?? ''
  // `/docs/start.html` is a page of `/docs/`; `/docs` is the folder itself
  const folder =
    PAGE_NAME.test(last) || last === '' ? start.pathname.slice(0, -last.length || undefined) : start.pathname
  const below = folder.endsWith('/') ? folder : `${folder}/`
  return {
    start: toAddress(start) ?? start.href,
    contains: (url) =>
      url.host === start.host &&
      (url.protocol === 'http:' || url.protocol === 'https:') &&
      (url.pathname === folder || url.pathname.startsWith(below)),
  }
}

/**
 * The address that identifies a page, without a fragment and without parameters of campaigns. Undefined for one that is
 * never fetched.
 */
export function toAddress(url: URL): string | undefined {
  if (url.username !== '' || url.password !== '') return undefined
  const bare = new URL(url)
  bare.hash = ''
  const parameters = bare.search.slice(1).split('&')
  const kept = parameters.filter((parameter) => !CAMPAIGN_PARAMETER.test(parameter))
  if (kept.length < parameters.length) bare.search = kept.join('&')
  return bare.href.length > MAX_URL_LENGTH ? undefined : bare.href
}

/** The name of a page's document. Different addresses have different names, so that no page replaces another. */
export function toFilename(address: string, mediaType: string): string {
  const url = new URL(address)
  const path = url.pathname.slice(1)
  if (url.search === '' && path.length <= MAX_PLAIN_LENGTH && PLAIN_NAME.test(path)) return path
  const hash = createHash('sha256').update(address).digest('hex').slice(0, 16)
  const stem = (path === '' || path.endsWith('/') ? `${path}index` : path).replace(posix.extname(path), '')
  return `${toReadableStem(stem)}~${hash}${EXTENSIONS[mediaType] ?? '.html'}`
}

function toReadableStem(stem: string): string {
  let text = stem
  try {
    text = decodeURIComponent(stem)
  } catch {
    // a path that is not UTF-8 is used unchanged
  }
  const parts = text.split('/').slice(-8)
  return parts.map((part) => part.slice(0, 100)).join('/')
}
