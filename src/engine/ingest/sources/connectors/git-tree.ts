import type { GitPage } from './git-messages.js'

/** Read access to the objects of a repository. */
export interface GitObjects {
  tree(oid: string): Promise<TreeEntry[]>
  /** undefined where the fetched history ends */
  commit(oid: string): Promise<GitCommit | undefined>
}

export interface TreeEntry {
  mode: string
  path: string
  oid: string
}

export interface GitCommit {
  tree: string
  /** only the first parent is followed */
  parent: string[]
  /** seconds since the epoch */
  time: number
}

/** The repository exceeds the limits. */
export class RepositoryTooLarge extends Error {}

const MAX_PAGES = 10_000
const MAX_ENTRIES = 200_000
const MAX_DEPTH = 64
const MARKDOWN = /\.(?:md|markdown)$/i

/**
 * The Markdown files of a commit with the time of the last commit that changed each: follows first parents through the
 * fetched history. Skips links, modules and everything else that is not a regular file.
 *
 * @param folder with a slash at its end; '' for the complete tree
 * @throws RepositoryTooLarge
 */
export async function listMarkdownPages(objects: GitObjects, head: string, folder: string): Promise<GitPage[]> {
  const first = await objects.commit(head)
  if (first === undefined) return []
  const budget = { entries: MAX_ENTRIES }
  const files = new Map<string, string>()
  await collectChangedFiles(objects, first.tree, undefined, { folder, budget, found: files })
  if (files.size > MAX_PAGES) throw new RepositoryTooLarge()
  const undated = new Set(files.keys())
  const times = new Map<string, number>()
  let commit: GitCommit | undefined = first
  while (commit !== undefined && undated.size > 0) {
    const before: GitCommit | undefined =
      commit.parent[0] === undefined ? undefined : await objects.commit(commit.parent[0])
    const changed = new Map<string, string>()
    if (before !== undefined)
      await collectChangedFiles(objects, commit.tree, before.tree, { folder, budget, found: changed })
    for (const path of before === undefined ? [...undated] : changed.keys())
      if (undated.delete(path)) times.set(path, commit.time)
    commit = before
  }
  return [...files]
    .map(([path, oid]) => ({ path, oid, lastEditedTime: new Date((times.get(path) ?? 0) * 1000).toISOString() }))
    .sort((one, other) => (one.path < other.path ? -1 : 1))
}

interface TreeWalk {
  folder: string
  budget: { entries: number }
  /** object ids by path */
  found: Map<string, string>
}

/** Collects the files of a tree that differ from another tree. */
async function collectChangedFiles(
  objects: GitObjects,
  tree: string,
  other: string | undefined,
  walk: TreeWalk,
): Promise<void> {
  const pending = [{ tree, other, path: '', depth: 0 }]
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { path, depth } = next
    const otherEntries = new Map<string, string>()
    if (next.other !== undefined)
      for (const entry of await objects.tree(next.other)) otherEntries.set(`${entry.mode} ${entry.path}`, entry.oid)
    for (const entry of await objects.tree(next.tree)) {
      if (walk.budget.entries-- <= 0) throw new RepositoryTooLarge()
      const before = otherEntries.get(`${entry.mode} ${entry.path}`)
      if (before === entry.oid) continue
      const full = path + entry.path
      if (isFolder(entry)) {
        const below = `${full}/`
        const isRelevant = below.startsWith(walk.folder) || walk.folder.startsWith(below)
        if (isRelevant && depth < MAX_DEPTH)
          pending.push({ tree: entry.oid, other: before, path: below, depth: depth + 1 })
      } else if (isFile(entry) && MARKDOWN.test(full) && full.startsWith(walk.folder)) walk.found.set(full, entry.oid)
    }
  }
}

function isFolder({ mode }: TreeEntry): boolean {
  return mode === '040000' || mode === '40000'
}

function isFile({ mode }: TreeEntry): boolean {
  return mode === '100644' || mode === '100755' || mode === '100664'
}
