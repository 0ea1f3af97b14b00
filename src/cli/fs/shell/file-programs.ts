import type { VirtualItem } from '../../../contract/gateway/fs.js'
import { LIMITS } from '../../../contract/limits.js'
import { toErrorMessage } from '../../../lib/error-message.js'
import { joinVirtualPath, ROOT_PATH, resolveVirtualPath } from '../../fs-path.js'
import { drawTree } from '../../tree.js'
import { compileWildcards } from '../wildcards.js'
import { parseCount, parseOptions } from './options.js'
import { ShellError } from './parse.js'
import { type ProgramIo, ScriptStoppedError, type ShellProgram } from './run.js'

async function* ls(args: string[], io: ProgramIo) {
  const { has, rest } = parseOptions('ls', args, { flags: 'l1adFp' })
  const paths = rest.length === 0 ? ['.'] : rest
  const format = (item: VirtualItem, name: string) => {
    const shown = `${name}${item.kind === 'directory' && (has('F') || has('p')) ? '/' : ''}`
    if (!has('l')) return shown
    const { sizeBytes = 0, updatedAt = '-' } = item.metadata
    return [
      item.kind === 'directory' ? 'd' : '-',
      String(sizeBytes).padStart(10),
      String(updatedAt).slice(0, 16),
      shown,
    ].join(' ')
  }
  return yield* forEachPath(io, paths, async function* (path, text) {
    const item = has('d') ? await io.shell.reader.findItem(path) : undefined
    if (item !== undefined) return void (yield format(item, text))
    if (paths.length > 1) yield `${text}:`
    for await (const entry of io.shell.reader.list(path)) yield format(entry, entry.path === path ? text : entry.name)
  })
}

async function* tree(args: string[], io: ProgramIo) {
  const { rest, value, has } = parseOptions('tree', args, { flags: 'd', values: 'L' })
  const depth = Math.min(parseCount('tree', value('L') ?? '3', 1), LIMITS.treeDepth)
  return yield* forEachPath(io, rest.length === 0 ? ['.'] : rest, async function* (path) {
    const { root, truncated } = await io.shell.reader.tree(path, { limit: LIMITS.page.cap, depth })
    yield root.path
    yield* drawTree(root.children ?? [], {
      label: ({ kind, name }) => (kind === 'directory' ? `${name}/` : name),
      children: (node) => (node.children ?? []).filter(({ kind }) => !has('d') || kind === 'directory'),
      unicode: true,
    })
    if (truncated) io.report(`${path} has more entries: give a deeper path`)
  })
}

interface FindTest {
  isNegated: boolean
  accepts: (item: VirtualItem) => boolean
}

interface FindRequest {
  paths: string[]
  /** Tests of which all must pass, in alternatives. */
  alternatives: FindTest[][]
  minDepth: number
  maxDepth: number
}

async function* find(args: string[], io: ProgramIo) {
  const { paths, alternatives, minDepth, maxDepth } = await parseFind(args)
  const accepts = (item: VirtualItem) =>
    alternatives.some((tests) => tests.every((test) => test.accepts(item) !== test.isNegated))
  return yield* forEachPath(io, paths, async function* (path) {
    const { reader } = io.shell
    const root = minDepth > 0 ? undefined : await reader.findItem(path)
    if (root !== undefined && accepts(root)) yield root.path
    if (maxDepth === 0 || root?.kind === 'resource') return
    const depthOf = (item: VirtualItem) =>
      item.path.split('/').length - (path === ROOT_PATH ? 1 : path.split('/').length)
    for await (const item of maxDepth === 1 || path === ROOT_PATH ? walk(io, path, maxDepth) : reader.find(path)) {
      const depth = depthOf(item)
      if (depth >= Math.max(1, minDepth) && depth <= maxDepth && accepts(item)) yield item.path
    }
  })
}

/** The entries of a folder, and at the root also everything below each. */
async function* walk(io: ProgramIo, path: string, maxDepth: number): AsyncGenerator<VirtualItem> {
  for await (const item of io.shell.reader.list(path)) {
    yield item
    if (maxDepth > 1 && item.kind === 'directory') yield* io.shell.reader.find(item.path)
  }
}

async function parseFind(args: readonly string[]): Promise<FindRequest> {
  const words = [...args]
  const paths: string[] = []
  while (words[0] !== undefined && !/^[-!(]/.test(words[0])) paths.push(words.shift() ?? '')
  const alternatives: FindTest[][] = [[]]
  const request = {
    paths: paths.length === 0 ? ['.'] : paths,
    alternatives,
    minDepth: 0,
    maxDepth: Number.POSITIVE_INFINITY,
  }
  let isNegated = false
  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    const takeValue = () => {
      const value = words.shift()
      if (value === undefined) throw new ShellError(`find: ${word} needs a value`)
      return value
    }
    if (word === '-maxdepth') request.maxDepth = parseCount('find', takeValue())
    else if (word === '-mindepth') request.minDepth = parseCount('find', takeValue())
    else if (word === '!' || word === '-not') isNegated = true
    else if (word === '-o' || word === '-or') alternatives.push([])
    else if (word !== '-print' && word !== '-a' && word !== '-and') {
      alternatives.at(-1)?.push({ isNegated, accepts: await parseTest(word, takeValue) })
      isNegated = false
    }
  }
  return request
}

async function parseTest(word: string, takeValue: () => string): Promise<FindTest['accepts']> {
  const ignoreCase = word.startsWith('-i')
  if (word === '-name' || word === '-iname') {
    const matches = await compileWildcards(takeValue(), { ignoreCase, crossesFolders: true })
    return ({ name }) => matches(name)
  }
  if (word === '-path' || word === '-ipath') {
    const matches = await compileWildcards(takeValue(), { ignoreCase, crossesFolders: true })
    return ({ path }) => matches(path)
  }
  if (word !== '-type')
    throw new ShellError(
      `find: ${word} is not available; known are -name -iname -path -ipath -type -maxdepth -mindepth -not -o`,
    )
  const type = takeValue()
  if (type !== 'f' && type !== 'd') throw new ShellError(`find: -type must be f or d, received ${JSON.stringify(type)}`)
  const kind = type === 'f' ? 'resource' : 'directory'
  return (item) => item.kind === kind
}

async function* cd([text = ROOT_PATH]: string[], { shell }: ProgramIo) {
  const path = resolveVirtualPath(text, shell.folder)
  const item = await shell.reader.findItem(path)
  if (item?.kind !== 'directory') throw new ShellError(`cd: ${path} is not a folder`, 1)
  shell.folder = path
  yield* []
  return 0
}

async function* pwd(_: string[], { shell }: ProgramIo) {
  yield shell.folder
  return 0
}

/** Lists each path; one that cannot be read is reported and left out. */
export async function* forEachPath(
  io: ProgramIo,
  texts: readonly string[],
  list: (path: string, text: string) => AsyncIterable<string>,
): AsyncGenerator<string, number> {
  let status = 0
  for (const text of texts) {
    try {
      yield* list(resolveVirtualPath(text, io.shell.folder), text === '.' ? joinVirtualPath('', io.shell.folder) : text)
    } catch (error) {
      if (error instanceof ScriptStoppedError || error instanceof ShellError) throw error
      io.report(toErrorMessage(error))
      status = 1
    }
  }
  return status
}

/** Commands that list folders. */
export const FILE_PROGRAMS: Readonly<Record<string, ShellProgram>> = { ls, find, tree, cd, pwd }
