import { isUuid } from '../lib/ids.js'
import { omitUndefined } from '../lib/omit-undefined.js'
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

/** The gateway, and the spaces of it that a session sees. */
export interface SessionAccess {
  api: GatewayApi
  spaces: SpaceDirectory
}

/** The spaces visible to a session: all of the caller's, or the one that it is restricted to. */
export class SpaceDirectory {
  readonly #api: GatewayApi
  readonly #selection: SpaceSelection
  #listed: Promise<ToolSpace[]> | undefined

  constructor(api: GatewayApi, selection: SpaceSelection = {}) {
    this.#api = api
    this.#selection = selection
  }

  /** Lists all visible spaces, oldest first. */
  list(): Promise<ToolSpace[]> {
    this.#listed ??= this.#loadAll()
    return this.#listed
  }

  /**
   * Resolves the slug or id of a space; without one, returns the default space, or the only one.
   *
   * @throws ToolError that lists the existing spaces
   */
  async resolve(slugOrId?: string): Promise<ToolSpace> {
    const spaces = await this.list()
    const name = slugOrId ?? this.#selection.onlySpace ?? this.#selection.defaultSpace
    const found =
      name === undefined && spaces.length === 1 ? spaces[0] : spaces.find((space) => matchesSpace(space, name))
    if (found !== undefined) return found
    const names = spaces.slice(0, MAX_LISTED_SPACES).map(({ slug }) => slug)
    const list = names.length === 0 ? 'There are none yet.' : `There are: ${names.map(toOneLine).join(', ')}.`
    if (name === undefined)
      throw new ToolError('invalid-request', 'space is required unless there is exactly one', list)
    throw new ToolError('not-found', `no space ${JSON.stringify(toOneLine(name))} here`, list)
  }

  async #loadAll(): Promise<ToolSpace[]> {
    const spaces: ToolSpace[] = []
    let cursor: string | undefined
    do {
      const query = { limit: SPACES_PER_PAGE, ...omitUndefined({ cursor }) }
      const page = await this.#api.request('GET /knowledge-spaces', { query })
      spaces.push(...page.items)
      cursor = page.nextCursor
    } while (cursor !== undefined)
    const { onlySpace } = this.#selection
    return onlySpace === undefined ? spaces : spaces.filter((space) => matchesSpace(space, onlySpace))
  }
}

function matchesSpace({ id, slug }: ToolSpace, slugOrId: string | undefined): boolean {
  return slugOrId !== undefined && (slug === slugOrId || (isUuid(slugOrId) && id === slugOrId.toLowerCase()))
}
