import { page, type Site, startSite } from '../helpers/site.js'

const PAGES = 6

/** A web site on loopback that clients change, with the space of its crawls. */
export class CrawledSite {
  readonly spaceId: string
  readonly sourceId: string
  readonly #marker: string
  readonly #site: Site
  /** how often each page was written; absent for a page that does not exist yet */
  readonly #versions = new Map<string, number>()

  private constructor(site: Site, marker: string, spaceId: string, sourceId: string) {
    this.#site = site
    this.#marker = marker
    this.spaceId = spaceId
    this.sourceId = sourceId
    this.#write('/')
  }

  /** @param made creates a space and a source for the address */
  static async open(
    marker: string,
    made: (url: string) => Promise<{ spaceId: string; sourceId: string }>,
  ): Promise<CrawledSite> {
    const site = await startSite()
    const { spaceId, sourceId } = await made(`${site.url}/`)
    return new CrawledSite(site, marker, spaceId, sourceId)
  }

  /** Creates or changes a page; the first page links to all others. */
  change(number: number): void {
    this.#write(`/p${Math.floor(number * PAGES)}`)
    this.#write('/')
  }

  /** The addresses of all pages, each with the words that only this page contains now, and its earlier words. */
  pages(): { url: string; word: string; past: string[] }[] {
    return [...this.#versions].map(([path, version]) => ({
      url: `${this.#site.url}${path}`,
      word: this.#wordOf(path, version),
      past: Array.from({ length: version - 1 }, (_, before) => this.#wordOf(path, before + 1)),
    }))
  }

  close(): Promise<void> {
    return this.#site.end()
  }

  #write(path: string): void {
    const version = (this.#versions.get(path) ?? 0) + 1
    this.#versions.set(path, version)
    const links = path === '/' ? [...this.#versions.keys()].filter((other) => other !== '/') : []
    const text = `The ${this.#wordOf(path, version)} is what this page of ${this.#marker} speaks about. It says no more.`
    this.#site.pages.set(path, page(`Page ${path.slice(1)}`, text, links))
  }

  #wordOf(path: string, version: number): string {
    const letters = 'bdfgklmnprstvz'
    const syllables = [path.length, path.charCodeAt(2) || 0, ...String(version).split('').map(Number)]
    return `qy${syllables.map((n) => `${letters[n % letters.length]}a${letters[(n * 5 + 3) % letters.length]}o`).join('')}x${version}`
  }
}
