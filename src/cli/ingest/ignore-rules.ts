import { statSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import createIgnore, { type Ignore } from 'ignore'
import { readInside } from '../../local/open-inside.js'

/** Files that hold what a folder and those below it leave out; the later one wins. */
export const IGNORE_FILES = ['.gitignore', '.ksignore']

/** What programs leave lying about, and half-written downloads. */
const ALWAYS = ['Thumbs.db', 'desktop.ini', '~$*', '*~', '*.swp', '*.part', '*.crdownload']

/** Rules of one folder, for the paths below it. */
interface Layer {
  rules: Ignore
  /** how much of a path from the root belongs to the folder of the rules */
  skip: number
  /** path from the folder of the rules down to the root, for rules that stand above it */
  prefix: string
}

/** Ignore rules that hold in one folder: its own before those of the folders above it. */
export type Layers = readonly Layer[]

/** Rules that hold at a root: those of the command line, and of the folders above it in the same repository. */
export function rootLayers(root: string, patterns: readonly string[], useFiles: boolean): Layers {
  const layers: Layer[] = [{ rules: createIgnore().add([...ALWAYS, ...patterns]), skip: 0, prefix: '' }]
  if (useFiles) {
    for (const folder of repositoryAbove(root)) {
      const text = readRules(folder, IGNORE_FILES, undefined)
      const prefix = `${relative(folder, root).split(sep).join('/')}/`
      if (text !== '') layers.push({ rules: createIgnore().add(text), skip: 0, prefix })
    }
  }
  return layers
}

/**
 * The layers inside a folder that has ignore files of its own.
 *
 * @param root real path of the folder that is walked
 * @param folder path from the root, `` for the root
 */
export function withRulesOf(layers: Layers, root: string, folder: string, names: readonly string[]): Layers {
  const text = readRules(join(root, folder), names, root)
  if (text === '') return layers
  const skip = folder === '' ? 0 : folder.length + 1
  return [...layers, { rules: createIgnore().add(text), skip, prefix: '' }]
}

/** Whether a path from the root is left out; folders end in `/`. */
export function isIgnored(layers: Layers, path: string): boolean {
  // The first layer is the command line's: no ignore file takes it back.
  if (layers[0]?.rules.ignores(path) === true) return true
  for (let index = layers.length - 1; index > 0; index--) {
    const layer = layers[index]
    if (layer === undefined) continue
    // The innermost rules that speak of the path decide.
    const { ignored, unignored } = layer.rules.test(layer.prefix + path.slice(layer.skip))
    if (ignored || unignored) return ignored
  }
  return false
}

/** Folders above the root up to the one that holds `.git`, outermost first; none outside a repository. */
function repositoryAbove(root: string): string[] {
  const above: string[] = []
  for (let folder = root; ; folder = dirname(folder)) {
    if (folder !== root) above.unshift(folder)
    if (isRepository(folder)) return above
    if (dirname(folder) === folder) return []
  }
}

function isRepository(folder: string): boolean {
  try {
    return statSync(join(folder, '.git', 'HEAD')).isFile()
  } catch {
    return false
  }
}

function readRules(folder: string, names: readonly string[], root: string | undefined): string {
  return names
    .map((name) => readOptional(join(folder, name), root))
    .join('\n')
    .trim()
}

function readOptional(path: string, root: string | undefined): string {
  try {
    return readInside(path, root).toString()
  } catch {
    return ''
  }
}
