import { existsSync, realpathSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * The files of this program as patterns of `--allow-fs-read`: its code, and the folders in which Node searches its
 * packages.
 */
export function listProgramFiles(): string[] {
  const root = fileURLToPath(new URL('../..', import.meta.url))
  const packages = (createRequire(import.meta.url).resolve.paths('x') ?? []).filter(existsSync)
  const programPatterns = [root, realpathSync(root)].flatMap((folder) => [
    join(folder, 'dist', '*'),
    join(folder, 'package.json'),
  ])
  // Node exits where a pattern is repeated.
  return [...new Set([...programPatterns, ...packages.map((folder) => join(folder, '*'))])]
}
