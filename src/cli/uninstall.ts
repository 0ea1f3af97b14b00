import { existsSync, readdirSync, rmdirSync, rmSync } from 'node:fs'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'
import { findDaemon } from '../client/local-daemon.js'
import type { LocalDirs } from '../local/dirs.js'
import { resolveDataLayout } from '../local/layout.js'
import { isLocked } from '../local/lock.js'
import { SHELLS } from './completion.js'
import { isInstalledByUs, listScriptFiles } from './completion-files.js'
import { stopDaemon } from './daemon-control.js'
import { listClientNames, planUninstall, writePlan } from './mcp/install.js'
import { findInstalledService, removeService } from './service/manager.js'
import { quoteShellWord } from './shell-word.js'

/** Something that this program put on the machine. */
export interface InstalledPart {
  kind: 'service' | 'daemon' | 'completion' | 'mcp' | 'data'
  /** Path of the file or folder; of the daemon, its data directory. */
  path: string
  remove: () => void | Promise<void>
}

/** Name of the MCP server of `ks mcp install` without `--name`. */
const MCP_SERVER_NAME = 'knowledge-spaces'

/** Entries of the folders besides the data directory. Files of other programs there stay. */
const FOLDER_ENTRIES = {
  config: [
    'aliases.json',
    'chat-aliases.json',
    'chat-keys.json',
    'config.json',
    'credentials.json',
    'ksd.env',
    'programs.json',
  ],
  state: ['ingest', 'sessions.json', 'version-skew', 'watch'],
  cache: ['recent-ids'],
} as const

/**
 * Lists what is on this machine besides the package, in the order of its removal.
 *
 * @param options `withData`: whether to include data, settings, state and caches
 */
export async function listInstalledParts(
  dirs: LocalDirs,
  env: NodeJS.ProcessEnv,
  { withData }: { withData: boolean },
): Promise<InstalledPart[]> {
  const parts: InstalledPart[] = []
  const service = findInstalledService(dirs, env)
  if (service !== undefined) {
    const remove = async () => {
      await removeService(service)
    }
    parts.push({ kind: 'service', path: service.path, remove })
  }
  if ((await findDaemon(dirs.data)) !== undefined || isLocked(resolveDataLayout(dirs.data).lock)) {
    const stop = async () => {
      await stopDaemon({ dataDir: dirs.data, force: false })
    }
    parts.push({ kind: 'daemon', path: dirs.data, remove: stop })
  }
  for (const script of SHELLS.flatMap((shell) => listScriptFiles(shell, env)).filter(isInstalledByUs))
    parts.push({ kind: 'completion', path: script.path, remove: () => rmSync(script.path, { force: true }) })
  for (const client of listClientNames()) {
    const plan = await planUninstall(client, { project: false, name: MCP_SERVER_NAME })
    if (plan.text === undefined) continue
    parts.push({ kind: 'mcp', path: plan.path, remove: () => void writePlan(plan) })
  }
  if (withData) parts.push(...listDataFolders(dirs))
  return parts
}

function listDataFolders(dirs: LocalDirs): InstalledPart[] {
  const { root, ...layout } = resolveDataLayout(dirs.data)
  const dataEntries = Object.values(layout).map((path) => relative(root, path).split(sep)[0] ?? '')
  const folders = [
    { path: root, entries: dataEntries },
    ...(['config', 'state', 'cache'] as const).map((name) => ({ path: dirs[name], entries: FOLDER_ENTRIES[name] })),
  ]
  return folders
    .filter(({ path }) => existsSync(path))
    .map(({ path, entries }) => ({ kind: 'data', path, remove: () => removeFolder(path, entries) }))
}

/** Removes the entries of a folder with their locks and copies, and the folder if nothing else is in it. */
function removeFolder(path: string, entries: readonly string[]): void {
  const isOurs = (name: string) =>
    entries.some((entry) => name === entry || (/^[.-]/.test(name.slice(entry.length)) && name.startsWith(entry)))
  for (const name of readdirSync(path).filter(isOurs)) rmSync(join(path, name), { recursive: true, force: true })
  if (readdirSync(path).length === 0) rmdirSync(path)
}

/** The command that removes the package itself. @param folder of the programs */
export function describePackageRemoval(folder: string): string {
  const root = resolve(folder)
  if (root === DEBIAN_ROOT) return 'apt remove knowledge-spaces'
  if (basename(root) !== 'packed') return `delete the clone: ${root}`
  const modules = dirname(dirname(root))
  const prefix = basename(dirname(modules)) === 'lib' ? dirname(dirname(modules)) : dirname(modules)
  return `npm uninstall -g --prefix ${quoteShellWord(prefix)} knowledge-spaces`
}

/** Where the Debian package puts the programs. */
const DEBIAN_ROOT = '/usr/lib/knowledge-spaces'
