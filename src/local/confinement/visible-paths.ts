import { existsSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, delimiter, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { listReadableNames, resolveRealPath } from '../file-system.js'

/** How a confined program sees a path: the file or folder itself, or an empty one. */
export interface VisiblePath {
  path: string
  as: 'read-only' | 'device' | 'empty-folder' | 'empty-file'
}

/** A command line with its placeholders: a request must not decide what the program sees. */
export interface ProgramPaths {
  argv: readonly string[]
  /** additional files and folders from the operator's settings */
  paths?: readonly string[]
}

/** Programs, libraries and their data in the usual system folders. */
const SYSTEM_FOLDERS = [
  ...['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32', '/nix/store', '/gnu/store'],
  ...['/run/current-system', '/etc/ssl/certs', '/etc/ssl/openssl.cnf', '/etc/pki/java', '/etc/pki/tls/certs'],
  ...['/etc/pki/ca-trust', '/var/cache/fontconfig', '/var/lib/aspell', '/var/lib/ghostscript', '/var/lib/libreoffice'],
  ...['/var/lib/texmf', '/var/lib/dictionaries-common'],
]

/**
 * Entries of /etc without secrets that programs need: for the loader, names, locale, fonts, and settings of programs.
 */
const ETC_ENTRIES =
  /^(?:alternatives|fonts|ghostscript|group|gtk-\d.*|hosts|ImageMagick.*|java.*|ld-musl.*|ld\.so\..*|libreoffice|locale.*|localtime|magic.*|mime\.types|nsswitch\.conf|os-release|paper.*|passwd|perl|protocols|python.*|services|texmf|timezone)$/

/** Folder of packages, one in each subfolder. */
const PACKAGES_FOLDER = '/opt'
/** Folders of home folders. */
const HOME_PARENTS = ['/home', '/Users']
/** Program folders in a package that has its libraries in other folders. */
const PROGRAM_FOLDERS = ['bin', 'sbin', 'program', 'libexec']
/** A confined program gets new instances of these. */
const KERNEL_FOLDERS = ['/dev', '/proc', '/sys']

/**
 * Everything of the disk that a program sees, parents before children: system folders, folders of the search path, the
 * package of the program, absolute paths of its command line, and paths from the operator's settings. Secrets in these
 * are covered.
 */
export function listVisiblePaths({ argv, paths = [] }: ProgramPaths, secrets: readonly string[]): VisiblePath[] {
  const secretTargets = secrets.flatMap((path) => resolveRealPath(path) ?? [])
  const isBroad = (folder: string) =>
    isGeneral(folder) || [...secretTargets, homedir()].some((path) => isWithin(path, folder))
  const candidates = new Set([
    ...SYSTEM_FOLDERS,
    ...listReadableNames('/etc').flatMap((name) => (ETC_ENTRIES.test(name) ? join('/etc', name) : [])),
    ...listSearchPath().filter((folder) => !isBroad(resolveRealPath(folder) ?? folder)),
    ...findPackage(argv[0] ?? '', isBroad),
    ...argv.slice(1).flatMap((argument) => findArgumentPath(argument, isBroad)),
    ...paths,
  ])
  const visible = new Map<string, VisiblePath['as']>()
  for (const path of candidates) {
    const target = resolveRealPath(path)
    if (target === undefined) continue
    visible.set(path, isWithin(path, '/dev') ? 'device' : 'read-only')
    visible.set(target, isWithin(target, '/dev') ? 'device' : 'read-only')
    for (const secret of secretTargets)
      if (isWithin(secret, target))
        for (const visiblePath of new Set([path, target]))
          visible.set(join(visiblePath, relative(target, secret)), isFolder(secret) ? 'empty-folder' : 'empty-file')
  }
  return removeRepeats([...visible].map(([path, as]) => ({ path, as })))
}

/**
 * Removes paths that are visible through a kept parent: a link inside of the parent must not be followed to the
 * outside.
 */
function removeRepeats(entries: VisiblePath[]): VisiblePath[] {
  const selected: VisiblePath[] = []
  for (const entry of entries.sort((one, other) => getDepth(one.path) - getDepth(other.path))) {
    const parent = selected.findLast(({ path }) => isWithin(entry.path, path))
    const isEmpty = entry.as.startsWith('empty')
    // Nothing can be mounted over a file that its covered folder does not contain.
    const isCovered = isEmpty && (parent === undefined || parent.as === 'empty-folder')
    if (!isCovered && parent?.as !== entry.as) selected.push(entry)
  }
  return selected
}

/** The paths of an installed program: its file, and its folder or package unless that contains unrelated files. */
function findPackage(program: string, isBroad: (folder: string) => boolean): string[] {
  const path = findProgram(program)
  if (path === undefined) return []
  return [path, resolveRealPath(path) ?? path].flatMap((file) => {
    const folder = dirname(file)
    const isPackaged = isWithin(file, PACKAGES_FOLDER) && folder !== PACKAGES_FOLDER
    const parentFolder = isPackaged
      ? join(PACKAGES_FOLDER, relative(PACKAGES_FOLDER, file).split(sep)[0] ?? '')
      : dirname(folder)
    if ((isPackaged || PROGRAM_FOLDERS.includes(basename(folder))) && !isBroad(parentFolder))
      return [parentFolder, file]
    return isBroad(folder) ? [file] : [folder, file]
  })
}

/** The file of a program, found as a shell does. */
export function findProgram(program: string): string | undefined {
  if (program.includes(sep)) return existsSync(program) ? resolve(program) : undefined
  return listSearchPath()
    .map((folder) => join(folder, program))
    .find((path) => existsSync(path) && !isFolder(path))
}

/** The path in an argument such as `/models/x.bin`, `--model=/models/x.bin` or `/models/{model}.bin`. */
function findArgumentPath(argument: string, isBroad: (folder: string) => boolean): string[] {
  const value = isAbsolute(argument) ? argument : argument.slice(argument.indexOf('=') + 1)
  const literal = value.split('{', 1)[0] ?? ''
  if (!isAbsolute(literal)) return []
  const path = literal === value ? resolve(value) : dirname(`${literal}x`)
  const isRefused =
    KERNEL_FOLDERS.some((folder) => isWithin(path, folder)) ||
    (isFolder(path) && isBroad(resolveRealPath(path) ?? path))
  return isRefused ? [] : [path]
}

/** Whether a folder is too general to be visible: one in the root, or the home of a user. */
function isGeneral(folder: string): boolean {
  return getDepth(folder) < 3 || HOME_PARENTS.includes(dirname(folder))
}

function listSearchPath(): string[] {
  return (process.env.PATH ?? '').split(delimiter).filter(isAbsolute)
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}

/** Whether a path is a folder or inside it. */
function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep)
}

/** 2 for `/usr`, 3 for `/usr/lib`. */
function getDepth(path: string): number {
  return path.split(sep).length
}
