import { realpathSync } from 'node:fs'
import { basename, dirname, relative, sep } from 'node:path'
import type { Client } from '../../client/client.js'
import { LIMITS } from '../../contract/limits.js'
import { usageError } from '../cli-error.js'
import { resolveFile, type WalkedRoot } from './path-names.js'
import { type NamedRoot, nameBelow, type RootNames } from './root-names.js'
import { type FoundFile, type WalkOptions, type WalkResult, walk } from './walk.js'

export interface NamingOptions {
  client: Client
  spaceId: string
  names: RootNames
  /** Name for the only root of the walk, from `--as`. */
  as?: string | undefined
  /** Whether the names are remembered. */
  isRemembered: boolean
  /** Called with a sentence for each root that was not known on this machine. */
  onNew: (sentence: string) => void
}

/** Files of an unknown root whose possible names are looked up in the space. */
const MAX_SAMPLE_FILES = 40
/** A path with more parts is looked up by its last ones. */
const MAX_SUFFIX_PARTS = 12
/** Any hash: only the name matters. */
const NO_HASH = '0'.repeat(64)

/**
 * Names files by the remembered roots. An unknown root gets the name under which the space has its files, else that of
 * its own file or folder, and is remembered.
 */
export async function nameFiles(walked: WalkResult, options: NamingOptions): Promise<WalkResult> {
  const { names, as, onNew } = options
  if (as !== undefined) names.add(toGivenName(walked.roots, as))
  for (const root of walked.roots) {
    if (names.find(root.path) !== undefined) continue
    const existing = await findExistingRoot(root, walked.files, options)
    names.add(existing ?? root)
    if (existing === undefined) onNew(describeNewRoot(root))
    else onNew(`${root.name} updates ${nameBelow(existing, root.path)} of the space; \`--as PATH\` names it otherwise`)
  }
  if (options.isRemembered) names.save()
  if (walked.roots.length === 0) return walked
  const rename = <T extends { filename: string; path?: string }>(file: T): T => {
    const name = file.path === undefined ? undefined : names.find(file.path)
    return name === undefined ? file : { ...file, filename: name }
  }
  return {
    ...walked,
    roots: walked.roots.map((root) => ({ ...root, name: names.find(root.path) ?? root.name })),
    files: walked.files.map((file) => nameFile(file, names)),
    skipped: walked.skipped.map(rename),
    failed: walked.failed.map(rename),
  }
}

/** Names a folder that is watched, as `nameFiles` names one that is ingested. */
export async function nameFolder(folder: string, rules: WalkOptions, options: NamingOptions): Promise<void> {
  const root = realpathSync(folder)
  if (options.as === undefined && options.names.find(root) !== undefined) return
  await nameFiles(walk([folder], rules), options)
}

/** Names a file, and assigns it to the folder that names it, so that a watch of that folder finds it. */
function nameFile(file: FoundFile, names: RootNames): FoundFile {
  const path = toRealPath(file)
  const root = names.findRoot(path)
  if (root === undefined) return file
  const filename = nameBelow(root, path)
  if (root.path === path || root.path === file.root) return { ...file, filename }
  const relativePath = relative(root.path, path).split(sep).join('/')
  return { ...file, filename, path, folder: root.path, root: root.path, relativePath }
}

function toRealPath({ path, root }: FoundFile): string {
  return root === undefined ? resolveFile(path) : path
}

/** @throws CliError exit 2 */
function toGivenName(roots: readonly WalkedRoot[], as: string): NamedRoot {
  const [root, second] = roots
  if (root === undefined || second !== undefined) throw usageError('--as names one file or folder: give one path')
  const parts = as.replaceAll('\\', '/').split('/')
  const name = parts.filter((part) => part !== '' && part !== '.').join('/')
  if (name === '' || parts.includes('..')) throw usageError(`--as ${JSON.stringify(as)} is no path inside the space`)
  return { path: root.path, name }
}

function describeNewRoot({ name, isFolder, path }: WalkedRoot): string {
  if (!isFolder) return `new document ${name}; \`--as PATH\` names it otherwise`
  return name === ''
    ? `new documents, named by their paths below ${path}`
    : `new documents, named ${name}/…; \`--as PATH\` names the folder otherwise`
}

/**
 * Finds the root of a path that no root of this machine contains by the names of the space: the longest end of the path
 * that names one of its files there. An end of one part is the name that it would get anyway.
 */
async function findExistingRoot(
  root: WalkedRoot,
  files: readonly FoundFile[],
  { client, spaceId }: NamingOptions,
): Promise<NamedRoot | undefined> {
  const below = files
    .map((file) => relative(root.path, toRealPath(file)).split(sep).join('/'))
    .filter((path) => path !== '..' && !path.startsWith('../'))
    .slice(0, MAX_SAMPLE_FILES)
  const candidates = listOuterRoots(root.path)
  const questions = candidates.flatMap((candidate) => {
    const prefix = nameBelow(candidate, root.path)
    return below.map((path) => ({ candidate, filename: path === '' ? prefix : `${prefix}/${path}` }))
  })
  const items = questions.filter(({ filename }) => filename.length <= LIMITS.filename)
  for (let start = 0; start < items.length; start += LIMITS.checkItems) {
    const chunk = items.slice(start, start + LIMITS.checkItems)
    const reply = await client.request('POST /knowledge-spaces/{id}/documents/check', {
      path: { id: spaceId },
      body: { items: chunk.map(({ filename }) => ({ filename, sha256: NO_HASH })) },
    })
    const index = reply.items.findIndex(({ status }) => status !== 'new')
    if (index !== -1) return chunk[index]?.candidate
  }
  return undefined
}

/** The folders above a path as roots that are named by themselves, outermost first. */
function listOuterRoots(path: string): NamedRoot[] {
  const roots: NamedRoot[] = []
  for (let folder = dirname(path); dirname(folder) !== folder; folder = dirname(folder))
    roots.unshift({ path: folder, name: basename(folder) })
  return roots.slice(-MAX_SUFFIX_PARTS)
}
