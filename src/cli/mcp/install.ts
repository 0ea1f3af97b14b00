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
  /** what the file is to hold; undefined where nothing changes */
  text: string | undefined
  /** the entry alone, as the file writes it */
  shown: string
  isNew: boolean
  /** why the file cannot be edited, where it cannot */
  trouble?: unknown
}

/** Variables that say where things are; a client with windows starts programs without them. */
const PLACES = ['KS_DATA_DIR', 'KS_CONFIG_DIR', 'KS_CACHE_DIR', 'KS_STATE_DIR']

/** A file is put in place of the old one, which the system allows whatever the old one allows. */
const ANYBODY_WRITES = 0o222

export function clientNamed(text: string): ClientName {
  const known = clientNames().find((name) => name === text)
  if (known !== undefined) return known
  throw usageError(`no client ${JSON.stringify(text)} is known`, `known are ${clientNames().join(', ')}`)
}

export function clientNames(): ClientName[] {
  // keys of an object are texts to the compiler; these are the keys of this one
  return Object.keys(CLIENTS) as ClientName[]
}

/** How clients start this program: by whole paths, since many of them do not look where a shell looks. */
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
    // what is to be added by hand can be shown all the same
    return { ...plan, text: undefined, trouble }
  }
}

export async function planUninstall(client: ClientName, where: { project: boolean; name: string }): Promise<Plan> {
  const { place, entry, before } = look(client, where)
  const text =
    before === undefined ? undefined : ((await beforeInstall(entry, before)) ?? (await withoutEntry(before, entry)))
  return { client, title: place.title, path: entry.path, entry, text, shown: '', isNew: before === undefined }
}

/** What the file held before the entry was written, to the letter, where the copy beside it tells and nothing else changed. */
async function beforeInstall(entry: Entry, text: string): Promise<string | undefined> {
  const value = await entryIn(text, entry)
  if (value === undefined) return undefined
  const { dir, base } = parse(entry.path)
  const copies = readdirSync(dir).filter((name) => name.startsWith(`${base}.backup-`))
  for (const name of copies.sort().reverse()) {
    const copy = readFileSync(join(dir, name), 'utf8')
    // a copy that cannot be read is none of such a file
    const again = await withEntry(copy, entry, value).catch(() => undefined)
    if (again === text) return copy
  }
  return undefined
}

function look(client: ClientName, { project, name }: { project: boolean; name: string }) {
  const place: ClientPlace = CLIENTS[client]
  const file = project ? place.project : place.file({ home: homedir(), platform: process.platform, env: process.env })
  if (file === undefined) throw usageError(`${place.title} has no file for a project`, 'leave out `--project`')
  const given = project ? join(process.cwd(), file) : file
  const path = targetOf(given)
  const before = existsSync(path) ? readFileSync(path, 'utf8') : undefined
  return { place, before, entry: { path, name, format: place.format, key: place.key } }
}

/** The file that a link leads to, so that the link stays one, also where that file is still to be made. */
function targetOf(path: string): string {
  if (existsSync(path)) return realpathSync(path)
  const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true
  return isLink ? resolve(dirname(path), readlinkSync(path)) : path
}

/** Writes the file, with a copy of what it was beside it. @returns the copy @throws CliError for a file that nobody may write */
export function write({ path, text, isNew }: Plan): string | undefined {
  if (!isNew && (statSync(path).mode & ANYBODY_WRITES) === 0)
    throw new CliError(`${path} is read-only`, {
      code: 'invalid-request',
      exit: EXIT.usage,
      hint: 'nothing was written: make it writable, or add by hand what `--dry-run` shows',
    })
  return text === undefined ? undefined : writeKept({ path, text, isNew })
}
