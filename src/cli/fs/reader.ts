import type { Client } from '../../client/client.js'
import { ApiError } from '../../client/errors.js'
import { findNearestPath } from '../../client/nearest-path.js'
import { paginate } from '../../client/pages.js'
import type { CallInput, CallResult } from '../../client/routes.js'
import { EXIT } from '../../contract/errors.js'
import type { CatResult, VirtualItem, VirtualTree } from '../../contract/gateway/fs.js'
import { LIMITS } from '../../contract/limits.js'
import { CliError, usageError } from '../cli-error.js'
import { NAMESPACES, ROOT_PATH } from '../fs-path.js'
import { compileWildcards, hasWildcards } from './wildcards.js'

export interface FsRange {
  limit?: number | undefined
  cursor?: string | undefined
}

/** Items, and the cursor after them if the list was cut; an empty one where none can continue it. */
export type FsItems<T> = AsyncGenerator<T, string | undefined>

type GrepInput = CallInput<'GET /knowledge-spaces/{id}/fs/grep'>['query']
export type FsGrepFilter = Omit<GrepInput, 'path' | 'limit' | 'cursor'>
export type FsGrepMatch = CallResult<'GET /knowledge-spaces/{id}/fs/grep'>['matches'][number]
export type FsFindFilter = Omit<CallInput<'GET /knowledge-spaces/{id}/fs/find'>['query'], 'path' | 'limit' | 'cursor'>

const ROOT_ITEMS: readonly VirtualItem[] = NAMESPACES.map((path) => {
  return { kind: 'directory', name: path.slice(1), path, metadata: {} }
})

interface FsReaderParts {
  client: Client
  spaceId: string
  /** Receives each reply, to report why it is incomplete. */
  report: <T extends { degradedReasons?: string[] | undefined }>(reply: T) => T
}

/** Reads the virtual file system of a space, with the root that the API does not list. */
export class FsReader {
  readonly #parts: FsReaderParts
  readonly #path: { id: string }

  constructor(parts: FsReaderParts) {
    this.#parts = parts
    this.#path = { id: parts.spaceId }
  }

  /** The entries of a folder; a file lists itself. */
  async *list(path: string, range: FsRange = {}): FsItems<VirtualItem> {
    const { client, report } = this.#parts
    if (path === ROOT_PATH) return yield* listRoot(range)
    return yield* this.#pages(path, range, async (query) =>
      report(await client.request('GET /knowledge-spaces/{id}/fs/ls', { path: this.#path, query })),
    )
  }

  /** Everything below a folder that passes a filter. */
  async *find(path: string, filter: FsFindFilter = {}, range: FsRange = {}): FsItems<VirtualItem> {
    const { client, report } = this.#parts
    return yield* this.#pages(path, range, async (query) =>
      report(
        await client.request('GET /knowledge-spaces/{id}/fs/find', {
          path: this.#path,
          query: { ...filter, ...query },
        }),
      ),
    )
  }

  async *grep(path: string, filter: FsGrepFilter, range: FsRange = {}): FsItems<FsGrepMatch> {
    const { client, report } = this.#parts
    return yield* this.#pages(path, range, async (page) => {
      const query = { ...filter, ...page }
      const reply = await client.request('GET /knowledge-spaces/{id}/fs/grep', { path: this.#path, query })
      const { matches: items, nextCursor } = report(reply)
      return { items, nextCursor }
    })
  }

  /** The parts of a file from its start. */
  async *read(path: string): AsyncGenerator<CatResult> {
    if (path === ROOT_PATH) throw usageError('`/` is a folder', '`ks fs ls /` lists it')
    let offset: number | undefined = 0
    while (offset !== undefined) {
      const query: { path: string; offset: number } = { path, offset }
      const part: CatResult = await this.#explain(path, () =>
        this.#parts.client.request('GET /knowledge-spaces/{id}/fs/cat', { path: this.#path, query }),
      )
      yield part
      offset = part.nextOffset
    }
  }

  /** A folder with its descendants; that of the root has one level more than its namespaces. */
  async tree(
    path: string,
    { limit, depth }: { limit: number; depth: number },
  ): Promise<{ path: string; root: VirtualTree; truncated: boolean }> {
    if (path !== ROOT_PATH) {
      const query = { path, limit, depth }
      return await this.#explain(path, async () =>
        this.#parts.report(
          await this.#parts.client.request('GET /knowledge-spaces/{id}/fs/tree', { path: this.#path, query }),
        ),
      )
    }
    const root: VirtualTree = { kind: 'directory', name: '', path, metadata: {}, children: [...ROOT_ITEMS] }
    if (depth === 1) return { path, root, truncated: false }
    const trees = await Promise.all(NAMESPACES.map((name) => this.tree(name, { limit, depth: depth - 1 })))
    root.children = trees.map((tree) => tree.root)
    return { path, root, truncated: trees.some(({ truncated }) => truncated) }
  }

  /** The entry of a path; undefined if there is none. */
  async findItem(path: string): Promise<VirtualItem | undefined> {
    if (path === ROOT_PATH) return { kind: 'directory', name: '', path, metadata: {} }
    if (!NAMESPACES.some((name) => path === name || path.startsWith(`${name}/`))) return undefined
    const query = { path, limit: 1, depth: 1 }
    try {
      const { root } = await this.#parts.client.request('GET /knowledge-spaces/{id}/fs/tree', {
        path: this.#path,
        query,
      })
      return root
    } catch (error) {
      if (isMissing(error)) return undefined
      throw error
    }
  }

  /**
   * The paths that a pattern matches, in the order of their folders. A path that exists is itself, whatever characters
   * it has.
   *
   * @param pattern a normalized path
   * @throws CliError exit 5 if nothing matches
   */
  async expand(pattern: string): Promise<string[]> {
    if (!hasWildcards(pattern) || (await this.findItem(pattern)) !== undefined) return [pattern]
    const paths = await this.match(pattern)
    if (paths.length > 0) return paths
    throw new CliError(`no path matches ${JSON.stringify(pattern)}`, {
      code: 'not-found',
      exit: EXIT.notFound,
      hint: `\`ks fs find ${pattern.slice(0, pattern.lastIndexOf('/', pattern.search(/[*?[{]/))) || ROOT_PATH}\` lists what there is`,
    })
  }

  /** The paths that a pattern matches, in the order of their folders. */
  async match(pattern: string): Promise<string[]> {
    const paths: string[] = []
    const segments = pattern.split('/').slice(1)
    const [namespace = ''] = segments
    if (!hasWildcards(namespace) && !NAMESPACES.includes(`/${namespace}`)) return paths
    for await (const path of this.#match(ROOT_PATH, segments)) paths.push(path)
    return paths
  }

  /** The paths below a folder that match the rest of a pattern. */
  async *#match(folder: string, segments: readonly string[]): AsyncGenerator<string> {
    const [segment, ...rest] = segments
    if (segment === undefined) return
    const prefix = folder === ROOT_PATH ? '' : folder
    if (!hasWildcards(segment)) {
      const path = `${prefix}/${segment}`
      if (rest.length > 0) yield* this.#match(path, rest)
      else if ((await this.findItem(path)) !== undefined) yield path
      return
    }
    const isDeep = segment.includes('**')
    const matches = await compileWildcards(isDeep ? segments.join('/') : segment)
    try {
      for await (const item of isDeep ? this.find(folder) : this.list(folder)) {
        const name = isDeep ? item.path.slice(prefix.length + 1) : item.name
        if (!matches(name)) continue
        if (isDeep || rest.length === 0) yield item.path
        else if (item.kind === 'directory') yield* this.#match(item.path, rest)
      }
    } catch (error) {
      if (!isMissing(error)) throw error
    }
  }

  /** Pages of a path; of the root the pages of all namespaces, in turn. */
  async *#pages<T>(
    path: string,
    range: FsRange,
    fetchPage: (query: {
      path: string
      limit: number
      cursor?: string
    }) => Promise<{ items: T[]; nextCursor?: string | undefined }>,
  ): FsItems<T> {
    return yield* listAcross(path === ROOT_PATH ? NAMESPACES : [path], range, (folder, rest) =>
      paginate((page) => this.#explain(folder, () => fetchPage({ path: folder, ...page })), {
        limit: rest.limit,
        ...(rest.cursor === undefined ? {} : { cursor: rest.cursor }),
        pageSize: LIMITS.page.cap,
      }),
    )
  }

  /** Names the nearest existing folder if a path is missing. */
  async #explain<T>(path: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      if (!isMissing(error)) throw error
      const nearest = await findNearestPath(this.#parts.client, this.#parts.spaceId, path)
      if (nearest === undefined) throw error
      const { folder, missingName, similar } = nearest
      const shown = similar[0] === undefined ? undefined : similar[0].path
      throw new CliError(
        `no path ${JSON.stringify(path)}: ${JSON.stringify(folder)} contains no ${JSON.stringify(missingName)}`,
        {
          code: 'not-found',
          exit: EXIT.notFound,
          hint: shown === undefined ? `\`${folder}\` is empty` : `the most similar name there is \`${shown}\``,
          cause: error,
        },
      )
    }
  }
}

/**
 * Lists paths one after the other, with a limit for all of them.
 *
 * @throws CliError exit 2 for a cursor with several paths
 */
export async function* listAcross<T>(
  paths: readonly string[],
  { limit, cursor }: FsRange,
  listPath: (path: string, range: FsRange) => FsItems<T>,
): FsItems<T> {
  if (cursor !== undefined && paths.length !== 1)
    throw usageError('`--cursor` continues the list of one path', 'give the path of the list that it comes from')
  let remaining = limit
  for (const path of paths) {
    if (remaining === 0) return ''
    const items = listPath(path, { limit: remaining, cursor })
    for (;;) {
      const step = await items.next()
      if (step.done) {
        if (step.value !== undefined) return paths.length === 1 ? step.value : ''
        break
      }
      if (remaining !== undefined) remaining -= 1
      yield step.value
    }
  }
  return undefined
}

/** The items of a list that are selected; the limit counts only those. */
export async function* selectItems<T>(
  list: (range: FsRange) => FsItems<T>,
  { limit, cursor }: FsRange,
  isSelected: (item: T) => boolean,
): FsItems<T> {
  const items = list({ cursor })
  let remaining = limit
  for (;;) {
    const step = await items.next()
    if (step.done) return step.value
    if (!isSelected(step.value)) continue
    if (remaining === 0) return ''
    if (remaining !== undefined) remaining -= 1
    yield step.value
  }
}

async function* listRoot({ limit }: FsRange): FsItems<VirtualItem> {
  yield* ROOT_ITEMS.slice(0, limit)
  return undefined
}

function isMissing(error: unknown): boolean {
  return (error instanceof ApiError || error instanceof CliError) && error.code === 'not-found'
}
