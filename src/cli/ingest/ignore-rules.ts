import { statSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import createIgnore, { type Ignore } from 'ignore'
import { readInside } from '../../local/open-inside.js'

/** Ignore files of a folder; they apply to its subfolders, too, and the later file wins. */
export const IGNORE_FILES = ['.gitignore', '.ksignore']

/** Files that programs leave behind, and incomplete downloads. */
const DEFAULT_PATTERNS = ['Thumbs.db', 'desktop.ini', '~$*', '*~', '*.swp', '*.part', '*.crdownload']

/** Rules of one folder, applied to the paths below it. */
interface IgnoreLayer {
  rules: Ignore
  /** Length of the path from the root to the rules' folder, removed before matching. */
  skippedLength: number
  /** Path from the rules' folder down to the root, for rules of folders above the root. */
  prefix: string
}

/** Ignore rules of a folder; inner folders take precedence. */
export type IgnoreLayers = readonly IgnoreLayer[]

/** The layer of the command line's patterns, which is always the first one. */
export function createPatternLayer(patterns: readonly string[]): IgnoreLayer {
  return { rules: createIgnore().add([...DEFAULT_PATTERNS, ...patterns]), skippedLength: 0, prefix: '' }
}

/** Layers of the ignore files above a root, in the same repository, outermost first. */
export function readLayersAbove(root: string): IgnoreLayers {
  return listRepositoryFolders(root).flatMap((folder) => {
    const text = readRules(folder, IGNORE_FILES, undefined)
    const prefix = `${relative(folder, root).split(sep).join('/')}/`
    return text === '' ? [] : [{ rules: createIgnore().add(text), skippedLength: 0, prefix }]
  })
}

/**
 * Adds a layer if the folder has ignore files.
 *
 * @param root real path of the folder that is walked
 * @param folder path from the root, `` for the root
 * @param names ignore files to read
 */
export function addFolderRules(
  layers: IgnoreLayers,
  root: string,
  folder: string,
  names: readonly string[],
): IgnoreLayers {
  const text = readRules(join(root, folder), names, root)
  if (text === '') return layers
  const skippedLength = folder === '' ? 0 : folder.length + 1
  return [...layers, { rules: createIgnore().add(text), skippedLength, prefix: '' }]
}

/** Whether a path from the root is ignored; folders end in `/`. */
export function isIgnored(layers: IgnoreLayers, path: string): boolean {
  // The first layer has the patterns of the command line: ignore files cannot override it.
  if (layers[0]?.rules.ignores(path) === true) return true
  for (let index = layers.length - 1; index > 0; index--) {
    const layer = layers[index]
    if (layer === undefined) continue
    // The innermost matching rule decides.
    const { ignored, unignored } = layer.rules.test(layer.prefix + path.slice(layer.skippedLength))
    if (ignored || unignored) return ignored
  }
  return false
}

/** Folders above the root up to the one with `.git`, outermost first; none outside a repository. */
function listRepositoryFolders(root: string): string[] {
  const folders: string[] = []
  for (let folder = root; ; folder = dirname(folder)) {
    if (folder !== root) folders.unshift(folder)
    if (isRepository(folder)) return folders
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
    .map((name) => readIfPossible(join(folder, name), root))
    .join('\n')
    .trim()
}

function readIfPossible(path: string, root: string | undefined): string {
  try {
    return readInside(path, root).toString()
  } catch {
    return ''
  }
}
