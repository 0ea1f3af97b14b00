import type { Attributes } from './markup-events.js'

/** An element that contains blocks, as an area of a page: blocks of one element belong together. */
export interface PageArea {
  /** within the declared main content of the page */
  isMain: boolean
  /** within the boilerplate of a site: menus, notices, related pages */
  isBoilerplate: boolean
  /** the enclosing area; absent for the page itself */
  outer?: PageArea
}

const CONTAINERS = new Set('div section article main aside nav header footer td form dialog'.split(' '))
const MAIN_ELEMENTS = new Set(['main', 'article'])
const BOILERPLATE_ELEMENTS = new Set(['nav', 'aside', 'footer', 'dialog'])
const MAIN_ROLES = new Set(['main', 'article'])
const BOILERPLATE_ROLES = new Set(['navigation', 'complementary', 'contentinfo', 'banner', 'search', 'dialog'])
/** Words in class names that sites use for boilerplate. */
const BOILERPLATE_WORDS = new Set(
  (
    'nav navbar navigation menu topbar topnav subnav sidenav sidebar footer breadcrumb breadcrumbs cookie cookies banner ' +
    'newsletter subscribe share sharing social related recommended widget toc pager pagination masthead promo sponsor ' +
    'advert adverts ads skip copyright'
  ).split(' '),
)
/** Together with one of these, such a word means something else: `page with-sidebar`, `post-share-count`. */
const CONTENT_WORDS = new Set('content main article body post entry page with without has no'.split(' '))
/** Bounds of the length of class names that are examined, and of their number in the cache. */
const MAX_NAME_LENGTH = 300
const MAX_CACHED_NAMES = 2000

export const PAGE: PageArea = { isMain: false, isBoilerplate: false }

/** Classifies elements by the area of the page that starts with them. */
export class PageAreaClassifier {
  readonly #names = new Map<string, boolean>()

  /** Traits of the area that starts with an element; `undefined` where none does. */
  classify(outer: PageArea, name: string, attributes: Attributes): Omit<PageArea, 'outer'> | undefined {
    if (!CONTAINERS.has(name)) return undefined
    const role = attributes.get('role')
    if (MAIN_ELEMENTS.has(name) || (role !== undefined && MAIN_ROLES.has(role)))
      return { isMain: true, isBoilerplate: false }
    const isBoilerplate =
      outer.isBoilerplate ||
      BOILERPLATE_ELEMENTS.has(name) ||
      (name === 'header' && !outer.isMain) ||
      (role !== undefined && BOILERPLATE_ROLES.has(role)) ||
      this.#hasBoilerplateName(attributes.get('class')) ||
      this.#hasBoilerplateName(attributes.get('id'))
    return { isMain: outer.isMain, isBoilerplate }
  }

  #hasBoilerplateName(names: string | undefined): boolean {
    if (names === undefined || names.length > MAX_NAME_LENGTH) return false
    const cached = this.#names.get(names)
    if (cached !== undefined) return cached
    const words = names.toLowerCase().split(/[^a-z]+/)
    const isBoilerplate =
      words.some((word) => BOILERPLATE_WORDS.has(word)) && !words.some((word) => CONTENT_WORDS.has(word))
    if (this.#names.size < MAX_CACHED_NAMES) this.#names.set(names, isBoilerplate)
    return isBoilerplate
  }
}
