import { existsSync, lstatSync, readdirSync, readFileSync, readlinkSync, realpathSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join, parse, resolve } from 'node:path'
import { EXIT } from '../../contract/errors.js'
import { writeWithBackup } from '../backup-write.js'
import { CliError, usageError } from '../cli-error.js'
import { MCP_CLIENTS, type McpClientConfig, type McpClientName, type McpServerEntry } from './clients.js'
import { addEntry, findEntry, removeEntry, type ServerEntryLocation } from './edit-file.js'

/** File and name of the server's entry. */
interface InstallTarget {
  /** Whether the entry is in the project's file instead of the user's. */
  project: boolean
  name: string
}

export interface McpInstallPlan {
  client: McpClientName
  title: string
  path: string
  entry: ServerEntryLocation
  /** New content of the file; undefined if nothing changes. */
  text: string | undefined
  /** The entry alone, in the file's format. */
  entryText: string
  /** Whether the file does not exist yet. */
  isNew: boolean
  /** Why the file cannot be edited, if so. */
  failure?: unknown
}

/** Variables of directories; desktop clients start programs without the shell's environment. */
const FORWARDED_VARIABLES = ['KS_DATA_DIR', 'KS_CONFIG_DIR', 'KS_CACHE_DIR', 'KS_STATE_DIR']

/** Write permissions are checked before a write: replacing a file by a rename ignores those of the old file. */
const WRITE_PERMISSION_BITS = 0o222

export function parseClientName(text: string): McpClientName {
  const client = listClientNames().find((name) => name === text)
  if (client !== undefined) return client
  throw usageError(`unknown client ${JSON.stringify(text)}`, `known clients: ${listClientNames().join(', ')}`)
}

export function listClientNames(): McpClientName[] {
  // TypeScript types object keys as string; these are the keys of the constant.
  return Object.keys(MCP_CLIENTS) as McpClientName[]
}

/** How clients start this program: by absolute paths, since many clients have another PATH than the shell. */
export function createServerEntry(root: string, args: readonly string[], env: NodeJS.ProcessEnv): McpServerEntry {
  const forwarded = Object.fromEntries(FORWARDED_VARIABLES.flatMap((name) => (env[name] ? [[name, env[name]]] : [])))
  return {
    command: process.execPath,
    args: [join(root, 'bin', 'ks.js'), 'mcp', ...args],
    ...(Object.keys(forwarded).length === 0 ? {} : { env: forwarded }),
  }
}

/** Plans to add the server to a client's configuration; writes nothing. */
export async function planInstall(
  client: McpClientName,
  server: McpServerEntry,
  target: InstallTarget,
): Promise<McpInstallPlan> {
  const { config, entry, original } = readTarget(client, target)
  const value = { ...config.extra, ...server }
  const entryText = (await addEntry('', entry, value)) ?? ''
  const plan = { client, title: config.title, path: entry.path, entry, entryText, isNew: original === undefined }
  try {
    return { ...plan, text: await addEntry(original ?? '', entry, value) }
  } catch (failure) {
    // The entry to add by hand is still shown.
    return { ...plan, text: undefined, failure }
  }
}

/** Plans to remove the server from a client's configuration; writes nothing. */
export async function planUninstall(client: McpClientName, target: InstallTarget): Promise<McpInstallPlan> {
  const { config, entry, original } = readTarget(client, target)
  const text =
    original === undefined
      ? undefined
      : ((await findOriginalText(entry, original)) ?? (await removeEntry(original, entry)))
  return { client, title: config.title, path: entry.path, entry, text, entryText: '', isNew: original === undefined }
}

/** Finds the exact content before the installation: a backup that yields the current text when the entry is added. */
async function findOriginalText(entry: ServerEntryLocation, text: string): Promise<string | undefined> {
  const value = await findEntry(text, entry)
  if (value === undefined) return undefined
  const { dir, base } = parse(entry.path)
  const backups = readdirSync(dir).filter((name) => name.startsWith(`${base}.backup-`))
  for (const name of backups.sort().reverse()) {
    const backup = readFileSync(join(dir, name), 'utf8')
    // A backup that cannot be parsed is not of this file.
    const reinstalled = await addEntry(backup, entry, value).catch(() => undefined)
    if (reinstalled === text) return backup
  }
  return undefined
}

function readTarget(client: McpClientName, { project, name }: InstallTarget) {
  const config: McpClientConfig = MCP_CLIENTS[client]
  const file = project ? config.project : config.file({ home: homedir(), platform: process.platform, env: process.env })
  if (file === undefined) throw usageError(`${config.title} has no project file`, 'omit `--project`')
  const path = resolveLink(project ? join(process.cwd(), file) : file)
  const original = existsSync(path) ? readFileSync(path, 'utf8') : undefined
  return { config, original, entry: { path, name, format: config.format, key: config.key } }
}

/** Resolves a link, so that the link is kept, even if its target does not exist yet. */
function resolveLink(path: string): string {
  if (existsSync(path)) return realpathSync(path)
  const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true
  return isLink ? resolve(dirname(path), readlinkSync(path)) : path
}

/**
 * Writes the file after a backup of its old content. @returns the path of the backup @throws CliError for a read-only
 * file
 */
export function writePlan({ path, text, isNew }: McpInstallPlan): string | undefined {
  if (!isNew && (statSync(path).mode & WRITE_PERMISSION_BITS) === 0)
    throw new CliError(`${path} is read-only`, {
      code: 'invalid-request',
      exit: EXIT.usage,
      hint: 'nothing was written: make the file writable, or add the output of `--dry-run` by hand',
    })
  return text === undefined ? undefined : writeWithBackup({ path, text, isNew })
}
