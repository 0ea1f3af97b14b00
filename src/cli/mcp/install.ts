import { existsSync, lstatSync, readdirSync, readFileSync, readlinkSync, realpathSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join, parse, resolve } from 'node:path'
import { EXIT } from '../../contract/errors.js'
import { CliError, usageError } from '../cli-error.js'
import { writeKept } from '../kept-file.js'
import { CLIENTS, type ClientName, type ClientPlace, type ServerEntry } from './clients.js'
import { type Entry, entryIn, withEntry, withoutEntry } from './edit-file.js'

export interface Plan {
  client: ClientName
  title: string
  path: string
  entry: Entry
  /** New content of the file; undefined if nothing changes. */
  text: string | undefined
  /** The entry alone, in the file's format. */
  shown: string
  isNew: boolean
  /** Why the file cannot be edited, if so. */
  trouble?: unknown
}

/** Variables of directories; desktop clients start programs without the shell's environment. */
const PLACES = ['KS_DATA_DIR', 'KS_CONFIG_DIR', 'KS_CACHE_DIR', 'KS_STATE_DIR']

/** Write permissions are checked here: replacing a file by a rename ignores those of the old file. */
const ANYBODY_WRITES = 0o222

export function clientNamed(text: string): ClientName {
  const known = clientNames().find((name) => name === text)
  if (known !== undefined) return known
  throw usageError(`unknown client ${JSON.stringify(text)}`, `known clients: ${clientNames().join(', ')}`)
}

export function clientNames(): ClientName[] {
  // TypeScript types object keys as string; these are the keys of the constant.
  return Object.keys(CLIENTS) as ClientName[]
}

/** How clients start this program: by absolute paths, since many clients have another PATH than the shell. */
export function serverEntry(root: string, args: readonly string[], env: NodeJS.ProcessEnv): ServerEntry {
  const kept = Object.fromEntries(PLACES.flatMap((name) => (env[name] ? [[name, env[name]]] : [])))
  return {
    command: process.execPath,
    args: [join(root, 'bin', 'ks.js'), 'mcp', ...args],
    ...(Object.keys(kept).length === 0 ? {} : { env: kept }),
  }
}

export async function planInstall(
  client: ClientName,
  server: ServerEntry,
  where: { project: boolean; name: string },
): Promise<Plan> {
  const { place, entry, before } = look(client, where)
  const value = { ...place.extra, ...server }
  const shown = (await withEntry('', entry, value)) ?? ''
  const plan = { client, title: place.title, path: entry.path, entry, shown, isNew: before === undefined }
  try {
    return { ...plan, text: await withEntry(before ?? '', entry, value) }
  } catch (trouble) {
    // The entry to add by hand is still shown.
    return { ...plan, text: undefined, trouble }
  }
}

export async function planUninstall(client: ClientName, where: { project: boolean; name: string }): Promise<Plan> {
  const { place, entry, before } = look(client, where)
  const text =
    before === undefined ? undefined : ((await beforeInstall(entry, before)) ?? (await withoutEntry(before, entry)))
  return { client, title: place.title, path: entry.path, entry, text, shown: '', isNew: before === undefined }
}

/** Finds the exact content before the installation: a backup that yields the current text when the entry is added. */
async function beforeInstall(entry: Entry, text: string): Promise<string | undefined> {
  const value = await entryIn(text, entry)
  if (value === undefined) return undefined
  const { dir, base } = parse(entry.path)
  const copies = readdirSync(dir).filter((name) => name.startsWith(`${base}.backup-`))
  for (const name of copies.sort().reverse()) {
    const copy = readFileSync(join(dir, name), 'utf8')
    // A backup that cannot be parsed is not of this file.
    const again = await withEntry(copy, entry, value).catch(() => undefined)
    if (again === text) return copy
  }
  return undefined
}

function look(client: ClientName, { project, name }: { project: boolean; name: string }) {
  const place: ClientPlace = CLIENTS[client]
  const file = project ? place.project : place.file({ home: homedir(), platform: process.platform, env: process.env })
  if (file === undefined) throw usageError(`${place.title} has no project file`, 'omit `--project`')
  const given = project ? join(process.cwd(), file) : file
  const path = targetOf(given)
  const before = existsSync(path) ? readFileSync(path, 'utf8') : undefined
  return { place, before, entry: { path, name, format: place.format, key: place.key } }
}

/** Resolves a link, so that the link is kept, even if its target does not exist yet. */
function targetOf(path: string): string {
  if (existsSync(path)) return realpathSync(path)
  const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true
  return isLink ? resolve(dirname(path), readlinkSync(path)) : path
}

/**
 * Writes the file after a backup of its old content. @returns the path of the backup @throws CliError for a read-only
 * file
 */
export function write({ path, text, isNew }: Plan): string | undefined {
  if (!isNew && (statSync(path).mode & ANYBODY_WRITES) === 0)
    throw new CliError(`${path} is read-only`, {
      code: 'invalid-request',
      exit: EXIT.usage,
      hint: 'nothing was written: make the file writable, or add the output of `--dry-run` by hand',
    })
  return text === undefined ? undefined : writeKept({ path, text, isNew })
}
