import { isUuid } from '../lib/ids.js'
import type { GatewayApi } from './api.js'
import { toOneLine } from './content.js'
import { ToolError } from './failure.js'
import type { SpaceSelection } from './host.js'

export interface ToolSpace {
  id: string
  slug: string
  name: string
  description?: string | undefined
  updatedAt: string
}

const SPACES_PER_PAGE = 1000
const MAX_LISTED_SPACES = 20

/** The spaces visible to a session: all of the caller's, or the one that it is restricted to. */
export class SpaceDirectory {
  readonly #api: GatewayApi
  readonly #view: SpaceSelection
  #listed: Promise<ToolSpace[]> | undefined

  constructor(api: GatewayApi, view: SpaceSelection = {}) {
    this.#api = api
    this.#view = view
  }

  /** All spaces, oldest first. */
  all(): Promise<ToolSpace[]> {
    this.#listed ??= this.#list()
    return this.#listed
  }

  /**
   * The space with a slug or id; without a name the default space, or the only one.
   *
   * @throws ToolError that lists the existing spaces
   */
  async resolve(given?: string): Promise<ToolSpace> {
    const spaces = await this.all()
    const text = given ?? this.#view.only ?? this.#view.preferred
    const found = text === undefined && spaces.length === 1 ? spaces[0] : spaces.find((one) => matchesSpace(one, text))
    if (found !== undefined) return found
    const names = spaces.slice(0, MAX_LISTED_SPACES).map(({ slug }) => slug)
    const list = names.length === 0 ? 'There are none yet.' : `There are: ${names.map(toOneLine).join(', ')}.`
    if (text === undefined)
      throw new ToolError('invalid-request', 'space is required unless there is exactly one', list)
    throw new ToolError('not-found', `no space ${JSON.stringify(toOneLine(text))} here`, list)
  }

  async #list(): Promise<ToolSpace[]> {
    const spaces: ToolSpace[] = []
    let cursor: string | undefined
    do {
      const query = { limit: SPACES_PER_PAGE, ...(cursor === undefined ? {} : { cursor }) }
      const page = await this.#api.request('GET /knowledge-spaces', { query })
      spaces.push(...page.items)
      cursor = page.nextCursor
    } while (cursor !== undefined)
    const { only } = this.#view
    return only === undefined ? spaces : spaces.filter((one) => matchesSpace(one, only))
  }
}

function matchesSpace({ id, slug }: ToolSpace, text: string | undefined): boolean {
  return text !== undefined && (slug === text || (isUuid(text) && id === text.toLowerCase()))
}
