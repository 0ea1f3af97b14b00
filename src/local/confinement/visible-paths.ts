import { existsSync, readdirSync, realpathSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, delimiter, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'

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
const SYSTEM = [
  ...['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32', '/nix/store', '/gnu/store'],
  ...['/run/current-system', '/etc/ssl/certs', '/etc/ssl/openssl.cnf', '/etc/pki/java', '/etc/pki/tls/certs'],
  ...['/etc/pki/ca-trust', '/var/cache/fontconfig', '/var/lib/aspell', '/var/lib/ghostscript', '/var/lib/libreoffice'],
  ...['/var/lib/texmf', '/var/lib/dictionaries-common'],
]

/**
 * Entries of /etc without secrets that programs need: for the loader, names, locale, fonts, and settings of programs.
 */
const ETC =
  /^(?:alternatives|fonts|ghostscript|group|gtk-\d.*|hosts|ImageMagick.*|java.*|ld-musl.*|ld\.so\..*|libreoffice|locale.*|localtime|magic.*|mime\.types|nsswitch\.conf|os-release|paper.*|passwd|perl|protocols|python.*|services|texmf|timezone)$/

/** Folder of packages, one in each subfolder. */
const PACKAGES = '/opt'
/** Folders of home folders. */
const HOMES = ['/home', '/Users']
/** Program folders in a package that has its libraries in other folders. */
const PROGRAM_FOLDERS = ['bin', 'sbin', 'program', 'libexec']
/** A confined program gets new instances of these. */
const KERNEL = ['/dev', '/proc', '/sys']

/**
 * Everything of the disk that a program sees, parents before children: system folders, folders of the search path, the
 * package of the program, absolute paths of its command line, and paths from the operator's settings. Secrets in these
 * are covered.
 */
export function visiblePaths({ argv, paths = [] }: ProgramPaths, secrets: readonly string[]): VisiblePath[] {
  const hidden = secrets.flatMap((path) => realOf(path) ?? [])
  const isBroad = (folder: string) => isGeneral(folder) || [...hidden, homedir()].some((path) => isWithin(path, folder))
  const wanted = new Set([
    ...SYSTEM,
    ...systemSettings(),
    ...searchPath().filter((folder) => !isBroad(realOf(folder) ?? folder)),
    ...packageOf(argv[0] ?? '', isBroad),
    ...argv.slice(1).flatMap((word) => namedPath(word, isBroad)),
    ...paths,
  ])
  const visible = new Map<string, VisiblePath['as']>()
  for (const path of wanted) {
    const target = realOf(path)
    if (target === undefined) continue
    visible.set(path, isWithin(path, '/dev') ? 'device' : 'read-only')
    visible.set(target, isWithin(target, '/dev') ? 'device' : 'read-only')
    for (const secret of hidden)
      if (isWithin(secret, target))
        for (const shown of new Set([path, target]))
          visible.set(join(shown, relative(target, secret)), isFolder(secret) ? 'empty-folder' : 'empty-file')
  }
  return withoutRepeats([...visible].map(([path, as]) => ({ path, as })))
}

/**
 * Removes paths that are visible through a kept parent: a link inside of the parent must not be followed to the
 * outside.
 */
function withoutRepeats(entries: VisiblePath[]): VisiblePath[] {
  const kept: VisiblePath[] = []
  for (const entry of entries.sort((one, other) => depth(one.path) - depth(other.path))) {
    const parent = kept.findLast(({ path }) => isWithin(entry.path, path))
    const isEmpty = entry.as.startsWith('empty')
    // Nothing can be mounted over a file that its covered folder does not contain.
    const isCovered = isEmpty && (parent === undefined || parent.as === 'empty-folder')
    if (!isCovered && parent?.as !== entry.as) kept.push(entry)
  }
  return kept
}

/** Where a program is installed: its file, and its folder or package unless that contains other things. */
function packageOf(program: string, isBroad: (folder: string) => boolean): string[] {
  const path = findProgram(program)
  if (path === undefined) return []
  return [path, realOf(path) ?? path].flatMap((file) => {
    const folder = dirname(file)
    const isPackaged = isWithin(file, PACKAGES) && folder !== PACKAGES
    const around = isPackaged ? join(PACKAGES, relative(PACKAGES, file).split(sep)[0] ?? '') : dirname(folder)
    if ((isPackaged || PROGRAM_FOLDERS.includes(basename(folder))) && !isBroad(around)) return [around, file]
    return isBroad(folder) ? [file] : [folder, file]
  })
}

/** The file of a program, found as a shell does. */
export function findProgram(program: string): string | undefined {
  if (program.includes(sep)) return existsSync(program) ? resolve(program) : undefined
  return searchPath()
    .map((folder) => join(folder, program))
    .find((path) => existsSync(path) && !isFolder(path))
}

/** The path in an argument such as `/models/x.bin`, `--model=/models/x.bin` or `/models/{model}.bin`. */
function namedPath(word: string, isBroad: (folder: string) => boolean): string[] {
  const value = isAbsolute(word) ? word : word.slice(word.indexOf('=') + 1)
  const literal = value.split('{', 1)[0] ?? ''
  if (!isAbsolute(literal)) return []
  const path = literal === value ? resolve(value) : dirname(`${literal}x`)
  const isRefused = KERNEL.some((folder) => isWithin(path, folder)) || (isFolder(path) && isBroad(realOf(path) ?? path))
  return isRefused ? [] : [path]
}

/** Whether a folder is too general to be visible: one in the root, or the home of a user. */
function isGeneral(folder: string): boolean {
  return depth(folder) < 3 || HOMES.includes(dirname(folder))
}

function searchPath(): string[] {
  return (process.env.PATH ?? '').split(delimiter).filter(isAbsolute)
}

function systemSettings(): string[] {
  try {
    return readdirSync('/etc')
      .filter((name) => ETC.test(name))
      .map((name) => join('/etc', name))
  } catch {
    return []
  }
}

function realOf(path: string): string | undefined {
  try {
    return realpathSync(path)
  } catch {
    return undefined
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}

/** Whether a path is a folder or inside it. */
function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep)
}

/** 2 for `/usr`, 3 for `/usr/lib`. */
function depth(path: string): number {
  return path.split(sep).length
}
