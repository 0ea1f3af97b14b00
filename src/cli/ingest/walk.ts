import { isUtf8 } from 'node:buffer'
import { type Dirent, lstatSync, realpathSync, type Stats, statSync } from 'node:fs'
import { basename, join, posix, relative, resolve, sep } from 'node:path'
import createIgnore from 'ignore'
import { errnoOf } from '../../client/errors.js'
import { listFolder } from '../../local/open-inside.js'
import type { ProtectedFiles } from '../../local/protected-files.js'
import { usageError } from '../cli-error.js'
import {
  addFolderRules,
  createPatternLayer,
  IGNORE_FILES,
  type IgnoreLayers,
  isIgnored,
  readLayersAbove,
} from './ignore-rules.js'
import { checkUniqueNames, getMissingPathHint, toDocumentName, toFileRoot, type WalkedRoot } from './path-names.js'

/** Reason for skipping a file with a name in another encoding. */
export const NOT_UTF8 = 'its name is not UTF-8'
/** Reason for skipping data, configuration, state and keys of this program. */
const OWN_FILE_REASON = 'belongs to this program'

export interface WalkOptions {
  /** Patterns to exclude, in .gitignore syntax. */
  ignore: readonly string[]
  /** Only files that match one of these patterns; all if empty. */
  glob: readonly string[]
  /** Whether to apply .gitignore and .ksignore. */
  ignoreFiles: boolean
  /** Whether to include files and folders whose names start with a dot. */
  hidden: boolean
  /** Files of this program: skipped in walks, rejected as arguments. */
  protectedFiles: ProtectedFiles
  /** The document name of a real path, if it is known; default: the path after the name of the given folder. */
  nameOf?: (path: string) => string | undefined
}

/** A file to ingest. */
export interface FoundFile {
  path: string
  /** Document name: relative path with `/`, after the name of the given folder. */
  filename: string
  /** The folder in which it was found, as given. */
  folder?: string
  /** Real path of that folder: only files inside are read, even if the path is replaced meanwhile. */
  root?: string
  /** Path relative to that folder, with `/`. */
  relativePath?: string
}

export interface ReportedFile {
  filename: string
  reason: string
  /** Real path of the file or folder. */
  path?: string
}

export interface WalkResult {
  /** The given paths. */
  roots: WalkedRoot[]
  files: FoundFile[]
  /** Files that were excluded on purpose. */
  skipped: ReportedFile[]
  /** Unreadable files and folders. */
  failed: ReportedFile[]
}

/**
 * Finds the files of the given paths in a stable order: folders are walked by name, files and lists keep their order.
 * Skips symbolic links that leave the given folder, hidden files and ignored files.
 *
 * @throws CliError exit 2 if a path does not exist or is protected, or two files would get the same name
 */
export function walk(paths: readonly string[], options: WalkOptions): WalkResult {
  const result: WalkResult = { roots: [], files: [], skipped: [], failed: [] }
  const roots = new Map<string, WalkedRoot>()
  const setRoot = (root: WalkedRoot) => roots.set(root.path, root)
  for (const path of paths) {
    const absolute = resolve(path)
    const stats = statSync(absolute, { throwIfNoEntry: false })
    if (stats === undefined) throw usageError(`${JSON.stringify(path)} does not exist`, getMissingPathHint(path))
    if (stats.isDirectory()) {
      const walker = createWalker(absolute, options, result)
      walkFolder(walker, '', walker.layers)
      const isWalked = options.glob.length === 0
      setRoot({ path: walker.root, name: walker.name, isFolder: true, isWalked })
    } else if (stats.isFile()) {
      checkNotProtected(absolute, options)
      const filename = paths.length === 1 ? basename(absolute) : toDocumentName(path)
      result.files.push({ path: absolute, filename })
      setRoot(toFileRoot(absolute, filename))
    } else {
      result.skipped.push({ filename: path, reason: 'not a regular file' })
    }
  }
  checkUniqueNames(result.files)
  return { ...result, roots: [...roots.values()] }
}

/** Callbacks of a walk over parts of a folder; paths are relative to the root, `` for the root itself. */
export interface WalkEvents {
  /** Called before the folder is read. */
  onFolder: (path: string) => void
  /** Called for paths that could not be read: their content is unknown. */
  onUnread: (path: string) => void
}

/**
 * Walks paths of a folder with the rules of a walk over the entire folder: a file, or everything below a subfolder.
 * Missing and excluded paths yield nothing.
 *
 * @param folder as given; its last part starts the document names
 * @param paths relative to the folder with `/`, `` for the folder itself
 * @throws the system's error if the folder does not exist
 */
export function walkPaths(
  folder: string,
  paths: Iterable<string>,
  options: WalkOptions,
  events: WalkEvents,
): WalkResult {
  const result: WalkResult = { roots: [], files: [], skipped: [], failed: [] }
  const walker = { ...createWalker(folder, options, result), events }
  const knownLayers = new Map<string, IgnoreLayers | undefined>([['', addLayersInside(walker, '', walker.layers)]])
  for (const path of paths) {
    if (path === '') walkFolder(walker, '', walker.layers)
    else walkPath(walker, path, findLayers(walker, posix.dirname(path), knownLayers))
  }
  return result
}

/** Whether the rules exclude a path of a folder, relative with `/`. */
export type FolderFilter = (path: string, kind: 'file' | 'folder') => boolean

/** Creates a filter. It reads ignore files once: create a new filter after they change. */
export function createFolderFilter(folder: string, options: WalkOptions): FolderFilter {
  const walker = createWalker(folder, options, { roots: [], files: [], skipped: [], failed: [] })
  const knownLayers = new Map<string, IgnoreLayers | undefined>([['', addLayersInside(walker, '', walker.layers)]])
  return (path, kind) => {
    const layers = findLayers(walker, posix.dirname(path), knownLayers)
    if (layers === undefined || isHidden(options, posix.basename(path))) return true
    if (isIgnored(layers, kind === 'folder' ? `${path}/` : path)) return true
    return kind === 'file' && walker.globFilter !== undefined && !walker.globFilter.ignores(path)
  }
}

function walkPath(walker: Walker, path: string, layers: IgnoreLayers | undefined): void {
  if (layers === undefined || isHidden(walker.options, posix.basename(path))) return
  try {
    const stats = lstatSync(join(walker.root, path), { throwIfNoEntry: false })
    if (stats !== undefined) visit(walker, stats, path, layers)
  } catch (error) {
    if (errnoOf(error) !== 'ENOTDIR') walker.events?.onUnread(path)
  }
}

/** Rules inside a folder; `undefined` for an excluded folder. */
function findLayers(
  walker: Walker,
  path: string,
  knownLayers: Map<string, IgnoreLayers | undefined>,
): IgnoreLayers | undefined {
  const folder = path === '.' ? '' : path
  if (knownLayers.has(folder)) return knownLayers.get(folder)
  const parentLayers = findLayers(walker, posix.dirname(folder), knownLayers)
  const isExcluded =
    parentLayers === undefined ||
    isHidden(walker.options, posix.basename(folder)) ||
    isIgnored(parentLayers, `${folder}/`) ||
    isLink(join(walker.root, folder)) ||
    walker.options.protectedFiles.has(join(walker.root, folder))
  const layers = isExcluded ? undefined : addLayersInside(walker, folder, parentLayers)
  knownLayers.set(folder, layers)
  return layers
}

/** Links to folders are not followed, even where a link replaced a folder. */
function isLink(path: string): boolean {
  try {
    return lstatSync(path).isSymbolicLink()
  } catch {
    return false // The next access reports the error.
  }
}

function addLayersInside({ root, options }: Walker, folder: string, parentLayers: IgnoreLayers): IgnoreLayers {
  return options.ignoreFiles ? addFolderRules(parentLayers, root, folder, IGNORE_FILES) : parentLayers
}

function isHidden({ hidden }: WalkOptions, name: string): boolean {
  return name === '.git' || (!hidden && name.startsWith('.'))
}

/** @throws CliError exit 2 */
function checkNotProtected(path: string, { protectedFiles }: WalkOptions): void {
  const refusal = protectedFiles.refusal(path)
  if (refusal !== undefined) throw usageError(refusal)
}

function createWalker(folder: string, options: WalkOptions, result: WalkResult): Walker {
  const root = realpathSync(folder)
  checkNotProtected(folder, options)
  const globFilter = options.glob.length === 0 ? undefined : createIgnore().add([...options.glob])
  const layers = [createPatternLayer(options.ignore), ...(options.ignoreFiles ? readLayersAbove(root) : [])]
  return { root, folder, name: basename(folder), options, globFilter, result, layers }
}

interface Walker {
  /** Real path of the given folder. */
  root: string
  /** Absolute path as given. */
  folder: string
  /** Its name as given. */
  name: string
  options: WalkOptions
  globFilter: ReturnType<typeof createIgnore> | undefined
  result: WalkResult
  /** Rules at the root. */
  layers: IgnoreLayers
  events?: WalkEvents
}

/** @param folder path from the root, `` for the root itself */
function walkFolder(walker: Walker, folder: string, parentLayers: IgnoreLayers): void {
  const absolute = folder === '' ? walker.root : join(walker.root, folder)
  let content: ReturnType<typeof listFolder>
  walker.events?.onFolder(folder)
  try {
    content = listFolder(absolute)
  } catch (error) {
    const reason = describeFileFailure(error)
    walker.result.failed.push({ filename: toDocumentPath(walker, folder), reason, path: absolute })
    walker.events?.onUnread(folder)
    return
  }
  const { entries } = content
  const ignoreFileNames = walker.options.ignoreFiles
    ? IGNORE_FILES.filter((name) => entries.some((entry) => entry.name === name && entry.isFile()))
    : []
  const layers =
    ignoreFileNames.length === 0 ? parentLayers : addFolderRules(parentLayers, walker.root, folder, ignoreFileNames)
  entries.sort((a, b) => (a.name < b.name ? -1 : 1))
  const validNames = selectUtf8Names(walker, folder, content, layers)
  for (const entry of entries) {
    if (!validNames.delete(entry.name)) continue
    if (isHidden(walker.options, entry.name)) continue
    visit(walker, entry, folder === '' ? entry.name : `${folder}/${entry.name}`, layers)
  }
}

/**
 * The names of a folder that are valid UTF-8. Others are reported as failed: Node returns their bytes as U+FFFD, a name
 * that does not exist.
 */
function selectUtf8Names(
  walker: Walker,
  folder: string,
  { entries, names }: ReturnType<typeof listFolder>,
  layers: IgnoreLayers,
): Set<string> {
  const all = new Set(entries.map(({ name }) => name))
  if ([...all].every((name) => name.isWellFormed() && !name.includes('\ufffd'))) return all
  const validNames = new Set<string>()
  for (const bytes of names()) {
    const name = bytes.toString()
    const path = folder === '' ? name : `${folder}/${name}`
    if (isUtf8(bytes) && name.isWellFormed()) validNames.add(name)
    else if (
      !isHidden(walker.options, name) &&
      !isIgnored(layers, path) &&
      walker.globFilter?.ignores(path) !== false
    ) {
      const escaped = bytes
        .toString('latin1')
        .replace(/[\u0080-\u00ff]/g, (byte) => `\\x${byte.charCodeAt(0).toString(16).toUpperCase()}`)
      const escapedPath = folder === '' ? escaped : `${folder}/${escaped}`
      const filename = toDocumentPath(walker, escapedPath)
      walker.result.failed.push({ filename, reason: NOT_UTF8, path: join(walker.root, escapedPath) })
    }
  }
  return validNames
}

function visit(walker: Walker, entry: Dirent | Stats, path: string, layers: IgnoreLayers): void {
  if (entry.isDirectory()) {
    if (isIgnored(layers, `${path}/`)) return
    if (walker.options.protectedFiles.has(join(walker.root, path))) skipPath(walker, path, OWN_FILE_REASON)
    else walkFolder(walker, path, layers)
    return
  }
  if (isIgnored(layers, path)) return
  if (walker.globFilter !== undefined && !walker.globFilter.ignores(path)) return
  if (entry.isFile()) addFile(walker, path)
  else if (entry.isSymbolicLink()) visitLink(walker, path)
  else skipPath(walker, path, 'not a regular file')
}

function skipPath(walker: Walker, path: string, reason: string): void {
  walker.result.skipped.push({ filename: toDocumentPath(walker, path), reason, path: join(walker.root, path) })
}

/** Visits a link to a file inside the root. Folders inside the root are walked at their own path only. */
function visitLink(walker: Walker, path: string): void {
  let target: string
  try {
    target = realpathSync(join(walker.root, path))
  } catch {
    skipPath(walker, path, 'a broken symbolic link')
    return
  }
  const parts = relative(walker.root, target).split(sep)
  const isInside =
    target === walker.root || target.startsWith(walker.root.endsWith(sep) ? walker.root : walker.root + sep)
  if (!isInside) {
    skipPath(walker, path, 'a symbolic link to outside of the folder')
  } else if (parts.some((part) => isHidden(walker.options, part))) {
    skipPath(walker, path, 'a symbolic link to a hidden file')
  } else if (walker.options.protectedFiles.refusal(target) !== undefined) {
    skipPath(walker, path, OWN_FILE_REASON)
  } else if (statSync(target, { throwIfNoEntry: false })?.isFile() === true) {
    addFile(walker, path)
  }
}

function addFile(walker: Walker, path: string): void {
  const absolute = join(walker.root, path)
  const { folder, root, options, result } = walker
  // A key file of a setting, or a hard link to a file of the program.
  if (options.protectedFiles.has(absolute)) skipPath(walker, path, OWN_FILE_REASON)
  else result.files.push({ path: absolute, filename: toDocumentPath(walker, path), folder, root, relativePath: path })
}

function toDocumentPath(walker: Walker, path: string): string {
  const name = walker.options.nameOf?.(path === '' ? walker.root : join(walker.root, path))
  if (name !== undefined) return name
  return walker.name === '' ? path : path === '' ? walker.name : `${walker.name}/${path}`
}

export function describeFileFailure(error: unknown): string {
  const errno = errnoOf(error)
  if (errno === 'EACCES' || errno === 'EPERM') return 'permission denied'
  if (errno === 'ENOENT') return 'no longer exists'
  if (errno === 'EOUTSIDE' || errno === 'ELOOP') return 'a symbolic link to outside of the folder'
  if (errno === 'ENOTFILE') return 'not a regular file'
  return `cannot be read (${errno ?? String(error)})`
}
