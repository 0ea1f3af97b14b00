import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'

const ROOT = resolve(import.meta.dirname, '../..')
const SKIPPED = new Set(['node_modules', 'dist', 'dist-bench', '.git', 'fixtures', 'results', 'coverage'])

/** The folders of the engine with SQL statements; those of the search adapter have tests of their own. */
export const STATEMENT_FOLDERS = [
  'src/engine/store',
  ...readdirSync(join(ROOT, 'src/engine'))
    .map((module) => `src/engine/${module}/rows`)
    .filter((folder) => existsSync(join(ROOT, folder))),
]

/** Paths of the project's own files below a folder, relative to the root, with `/`. */
export function filesBelow(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    if (SKIPPED.has(entry.name)) return []
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return filesBelow(path)
    return entry.isFile() ? [relative(ROOT, join(ROOT, path)).replaceAll('\\', '/')] : []
  })
}

export function readFile(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8')
}
