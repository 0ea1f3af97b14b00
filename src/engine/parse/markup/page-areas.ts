import type { Attributes } from './markup-events.js'

/** An element that contains blocks, as an area of a page: blocks of one element belong together. */
export interface PageArea {
  /** within the declared main content of the page */
  main: boolean
  /** within the boilerplate of a site: menus, notices, related pages */
  around: boolean
  /** the enclosing area; absent for the page itself */
  outer?: PageArea
}

const CONTAINERS = new Set('div section article main aside nav header footer td form dialog'.split(' '))
const MAIN = new Set(['main', 'article'])
const AROUND = new Set(['nav', 'aside', 'footer', 'dialog'])
const MAIN_ROLES = new Set(['main', 'article'])
const AROUND_ROLES = new Set(['navigation', 'complementary', 'contentinfo', 'banner', 'search', 'dialog'])
/** Words in class names that sites use for boilerplate. */
const AROUND_WORDS = new Set(
  (
    'nav navbar navigation menu topbar topnav subnav sidenav sidebar footer breadcrumb breadcrumbs cookie cookies banner ' +
    'newsletter subscribe share sharing social related recommended widget toc pager pagination masthead promo sponsor ' +
    'advert adverts ads skip copyright'
  ).split(' '),
)
/** Together with one of these, such a word means something else: `page with-sidebar`, `post-share-count`. */
const CONTENT_WORDS = new Set('content main article body post entry page with without has no'.split(' '))
/** Bounds of the length of class names that are examined, and of their number in the cache. */
const MAX_NAME = 300
const MAX_NAMES = 2000

export const PAGE: PageArea = { main: false, around: false }

/** Classifies elements by the area of the page that starts with them. */
export class PageAreas {
  readonly #names = new Map<string, boolean>()

  /** Traits of the area that starts with an element; `undefined` where none does. */
  opened(outer: PageArea, name: string, attributes: Attributes): Omit<PageArea, 'outer'> | undefined {
    if (!CONTAINERS.has(name)) return undefined
    const role = attributes.get('role')
    if (MAIN.has(name) || (role !== undefined && MAIN_ROLES.has(role))) return { main: true, around: false }
    const around =
      outer.around ||
      AROUND.has(name) ||
      (name === 'header' && !outer.main) ||
      (role !== undefined && AROUND_ROLES.has(role)) ||
      this.#isCalledAround(attributes.get('class')) ||
      this.#isCalledAround(attributes.get('id'))
    return { main: outer.main, around }
  }

  #isCalledAround(names: string | undefined): boolean {
    if (names === undefined || names.length > MAX_NAME) return false
    const known = this.#names.get(names)
    if (known !== undefined) return known
    const words = names.toLowerCase().split(/[^a-z]+/)
    const around = words.some((word) => AROUND_WORDS.has(word)) && !words.some((word) => CONTENT_WORDS.has(word))
    if (this.#names.size < MAX_NAMES) this.#names.set(names, around)
    return around
  }
}
