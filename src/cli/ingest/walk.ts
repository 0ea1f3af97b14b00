import { isUtf8 } from 'node:buffer'
import { type Dirent, lstatSync, realpathSync, type Stats, statSync } from 'node:fs'
import { basename, join, posix, relative, resolve, sep } from 'node:path'
import createIgnore from 'ignore'
import { errnoOf } from '../../client/errors.js'
import { readFolder } from '../../local/open-inside.js'
import type { ProtectedFiles } from '../../local/protected-files.js'
import { usageError } from '../cli-error.js'
import { missingHint, nameOf } from './given-path.js'
import { IGNORE_FILES, isIgnored, type Layers, rootLayers, withRulesOf } from './ignore-rules.js'

/** why a file of another encoding is left out */
export const NOT_UTF8 = 'its name is not UTF-8'
/** why data, configuration, state and keys of this program are left out */
const OWN = 'belongs to this program'

export interface WalkOptions {
  /** patterns to leave out, in the language of .gitignore */
  ignore: readonly string[]
  /** only files that one of these patterns names; all when empty */
  glob: readonly string[]
  /** heed .gitignore and .ksignore */
  ignoreFiles: boolean
  /** enter folders and take files whose names begin with a dot */
  hidden: boolean
  /** left out of walks, and refused where they are named */
  own: ProtectedFiles
}

/** A file to ingest. */
export interface FoundFile {
  path: string
  /** what the service shall call it: relative path with `/`, behind the name of the given folder */
  filename: string
  /** the folder it was found below, as it was given */
  folder?: string
  /** real path of that folder: only what lies in it is read, whatever becomes of the name meanwhile */
  root?: string
  /** path from that folder with `/` */
  inside?: string
}

export interface PassedFile {
  filename: string
  reason: string
}

export interface Found {
  files: FoundFile[]
  /** left out on purpose, and worth a word */
  skipped: PassedFile[]
  /** could not be read */
  failed: PassedFile[]
}

/**
 * The files behind the given paths, in a stable order: folders are walked by name, files and lists stay as given.
 * Symbolic links that leave the given folder are passed over, so are hidden files and what ignore files name.
 *
 * @throws CliError exit 2 when a path does not exist, is protected, or two files would get the same name
 */
export function walk(paths: readonly string[], options: WalkOptions): Found {
  const found: Found = { files: [], skipped: [], failed: [] }
  for (const path of paths) {
    const absolute = resolve(path)
    const stats = statSync(absolute, { throwIfNoEntry: false })
    if (stats === undefined) {
      throw usageError(`${JSON.stringify(path)} does not exist`, missingHint(path))
    }
    if (stats.isDirectory()) {
      const walker = walkerOf(absolute, options, found)
      walkFolder(walker, '', walker.layers)
    } else if (stats.isFile()) {
      refuseOwn(absolute, options)
      found.files.push({ path: absolute, filename: nameOf(path, paths.length > 1) })
    } else {
      found.skipped.push({ filename: path, reason: 'not a regular file' })
    }
  }
  refuseSameNames(found.files)
  return found
}

/** What a walk over a part of a folder tells beside its files; paths are from the root, `` for the root itself. */
export interface WalkEvents {
  /** called before the folder is read */
  onFolder: (path: string) => void
  /** what could not be read: nothing is known of what lies there */
  onUnread: (path: string) => void
}

/**
 * Walks paths of a folder, by the same rules as a walk over all of it: a file, or everything below a subfolder.
 * Nothing is found where nothing is, or where the rules leave it out.
 *
 * @param folder as it was given; documents go by its last part
 * @param paths from the folder with `/`, `` for all of it
 * @throws the system's error when the folder itself is not there
 */
export function walkPaths(folder: string, paths: Iterable<string>, options: WalkOptions, events: WalkEvents): Found {
  const found: Found = { files: [], skipped: [], failed: [] }
  const walker = { ...walkerOf(folder, options, found), events }
  const known = new Map<string, Layers | undefined>([['', insideOf(walker, '', walker.layers)]])
  for (const path of paths) {
    if (path === '') walkFolder(walker, '', walker.layers)
    else walkPath(walker, path, layersIn(walker, posix.dirname(path), known))
  }
  return found
}

/**
 * Whether the rules leave out a path of a folder, from the folder with `/`. What ignore files say is read once: ask for
 * the rules anew when one of them changed.
 */
export function rulesOfFolder(folder: string, options: WalkOptions): (path: string, isFolder: boolean) => boolean {
  const walker = walkerOf(folder, options, { files: [], skipped: [], failed: [] })
  const known = new Map<string, Layers | undefined>([['', insideOf(walker, '', walker.layers)]])
  return (path, isFolder) => {
    const layers = layersIn(walker, posix.dirname(path), known)
    if (layers === undefined || isHidden(options, posix.basename(path))) return true
    if (isIgnored(layers, isFolder ? `${path}/` : path)) return true
    return !isFolder && walker.only !== undefined && !walker.only.ignores(path)
  }
}

function walkPath(walker: Walker, path: string, layers: Layers | undefined): void {
  if (layers === undefined || isHidden(walker.options, posix.basename(path))) return
  try {
    const stats = lstatSync(join(walker.root, path), { throwIfNoEntry: false })
    if (stats !== undefined) visit(walker, stats, path, layers)
  } catch (error) {
    if (errnoOf(error) !== 'ENOTDIR') walker.events?.onUnread(path)
  }
}

/** Rules that hold inside a folder; nothing for one that is left out. */
function layersIn(walker: Walker, path: string, known: Map<string, Layers | undefined>): Layers | undefined {
  const folder = path === '.' ? '' : path
  if (known.has(folder)) return known.get(folder)
  const above = layersIn(walker, posix.dirname(folder), known)
  const isOut =
    above === undefined ||
    isHidden(walker.options, posix.basename(folder)) ||
    isIgnored(above, `${folder}/`) ||
    isLink(join(walker.root, folder)) ||
    walker.options.own.has(join(walker.root, folder))
  const layers = isOut ? undefined : insideOf(walker, folder, above)
  known.set(folder, layers)
  return layers
}

/** Links to folders are not followed, also where the link has taken the place of a folder. */
function isLink(path: string): boolean {
  try {
    return lstatSync(path).isSymbolicLink()
  } catch {
    return false // what comes next tells what is wrong with it
  }
}

function insideOf({ root, options }: Walker, folder: string, above: Layers): Layers {
  return options.ignoreFiles ? withRulesOf(above, root, folder, IGNORE_FILES) : above
}

function isHidden({ hidden }: WalkOptions, name: string): boolean {
  return name === '.git' || (!hidden && name.startsWith('.'))
}

/** @throws CliError exit 2 */
function refuseOwn(path: string, { own }: WalkOptions): void {
  const refusal = own.refusal(path)
  if (refusal !== undefined) throw usageError(refusal)
}

function walkerOf(folder: string, options: WalkOptions, found: Found): Walker {
  const root = realpathSync(folder)
  refuseOwn(folder, options)
  const only = options.glob.length === 0 ? undefined : createIgnore().add([...options.glob])
  return {
    root,
    folder,
    name: basename(folder),
    options,
    only,
    found,
    layers: rootLayers(root, options.ignore, options.ignoreFiles),
  }
}

interface Walker {
  /** real path of the folder that was given */
  root: string
  /** absolute, as it was given */
  folder: string
  /** its name as it was given */
  name: string
  options: WalkOptions
  only: ReturnType<typeof createIgnore> | undefined
  found: Found
  /** rules that hold at the root */
  layers: Layers
  events?: WalkEvents
}

/** @param folder path from the root, `` for the root itself */
function walkFolder(walker: Walker, folder: string, above: Layers): void {
  const absolute = folder === '' ? walker.root : join(walker.root, folder)
  let content: ReturnType<typeof readFolder>
  walker.events?.onFolder(folder)
  try {
    content = readFolder(absolute)
  } catch (error) {
    walker.found.failed.push({ filename: sentName(walker, folder), reason: readFailure(error) })
    walker.events?.onUnread(folder)
    return
  }
  const { entries } = content
  const own = walker.options.ignoreFiles ? ruleFiles(entries) : []
  const layers = own.length === 0 ? above : withRulesOf(above, walker.root, folder, own)
  entries.sort((a, b) => (a.name < b.name ? -1 : 1))
  const kept = namesThatCanBeKept(walker, folder, content, layers)
  for (const entry of entries) {
    if (!kept.delete(entry.name)) continue
    if (isHidden(walker.options, entry.name)) continue
    visit(walker, entry, folder === '' ? entry.name : `${folder}/${entry.name}`, layers)
  }
}

/**
 * The names of a folder that are text. Others fail here: Node gives their bytes as U+FFFD, under which nothing is found.
 */
function namesThatCanBeKept(
  walker: Walker,
  folder: string,
  { entries, names }: ReturnType<typeof readFolder>,
  layers: Layers,
): Set<string> {
  const all = new Set(entries.map(({ name }) => name))
  if ([...all].every((name) => name.isWellFormed() && !name.includes('\ufffd'))) return all
  const kept = new Set<string>()
  for (const bytes of names()) {
    const name = bytes.toString()
    const path = folder === '' ? name : `${folder}/${name}`
    if (isUtf8(bytes) && name.isWellFormed()) kept.add(name)
    else if (!isHidden(walker.options, name) && !isIgnored(layers, path) && walker.only?.ignores(path) !== false) {
      const shown = bytes.toString('latin1').replace(/[\u0080-\u00ff]/g, (byte) => `\\x${byteHex(byte)}`)
      walker.found.failed.push({
        filename: sentName(walker, folder === '' ? shown : `${folder}/${shown}`),
        reason: NOT_UTF8,
      })
    }
  }
  return kept
}

function byteHex(byte: string): string {
  return byte.charCodeAt(0).toString(16).toUpperCase()
}

function visit(walker: Walker, entry: Dirent | Stats, path: string, layers: Layers): void {
  if (entry.isDirectory()) {
    if (isIgnored(layers, `${path}/`)) return
    if (walker.options.own.has(join(walker.root, path))) leaveOut(walker, path, OWN)
    else walkFolder(walker, path, layers)
    return
  }
  if (isIgnored(layers, path)) return
  if (walker.only !== undefined && !walker.only.ignores(path)) return
  if (entry.isFile()) take(walker, path)
  else if (entry.isSymbolicLink()) visitLink(walker, path)
  else leaveOut(walker, path, 'not a regular file')
}

function leaveOut(walker: Walker, path: string, reason: string): void {
  walker.found.skipped.push({ filename: sentName(walker, path), reason })
}

/** A link may stand for a file inside the root. Folders inside are walked where they stand, not again through links. */
function visitLink(walker: Walker, path: string): void {
  let target: string
  try {
    target = realpathSync(join(walker.root, path))
  } catch {
    leaveOut(walker, path, 'a symbolic link that leads nowhere')
    return
  }
  const inside =
    target === walker.root || target.startsWith(walker.root.endsWith(sep) ? walker.root : walker.root + sep)
  if (!inside) {
    leaveOut(walker, path, 'a symbolic link that leaves the folder')
  } else if (
    relative(walker.root, target)
      .split(sep)
      .some((part) => isHidden(walker.options, part))
  ) {
    leaveOut(walker, path, 'a symbolic link to a hidden file')
  } else if (walker.options.own.refusal(target) !== undefined) {
    leaveOut(walker, path, OWN)
  } else if (statSync(target, { throwIfNoEntry: false })?.isFile() === true) {
    take(walker, path)
  }
}

function take(walker: Walker, path: string): void {
  const absolute = join(walker.root, path)
  const { folder, root, options, found } = walker
  // a key file of a setting, or a hard link to a file of the program
  if (options.own.has(absolute)) leaveOut(walker, path, OWN)
  else found.files.push({ path: absolute, filename: sentName(walker, path), folder, root, inside: path })
}

function sentName(walker: Walker, path: string): string {
  return walker.name === '' ? path : path === '' ? walker.name : `${walker.name}/${path}`
}

function ruleFiles(entries: Dirent[]): string[] {
  return IGNORE_FILES.filter((name) => entries.some((entry) => entry.name === name && entry.isFile()))
}

/** What to say of a file or folder that the system would not give. */
export function readFailure(error: unknown): string {
  const errno = errnoOf(error)
  if (errno === 'EACCES' || errno === 'EPERM') return 'permission denied'
  if (errno === 'ENOENT') return 'is gone'
  if (errno === 'EOUTSIDE' || errno === 'ELOOP') return 'a symbolic link that leaves the folder'
  if (errno === 'ENOTFILE') return 'not a regular file'
  return `cannot be read (${errno ?? String(error)})`
}

function refuseSameNames(files: FoundFile[]): void {
  const paths = new Map<string, string>()
  for (const { path, filename } of files) {
    const other = paths.get(filename)
    if (other !== undefined && other !== path) {
      throw usageError(
        `${other} and ${path} would both be called ${JSON.stringify(filename)}`,
        'ingest the folder that holds both, or one after the other into two spaces',
      )
    }
    paths.set(filename, path)
  }
}
