/** Takes back what `stage.js` did to a checkout: the `postpack` of npm, and what a run begins with that follows a broken one. */
import { existsSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { ROOT } from '../build.js'

export const PACKED = join(ROOT, 'packed')
export const MANIFEST = join(ROOT, 'package.json')
export const NOTICES = join(ROOT, 'THIRD-PARTY-NOTICES.md')
/** the `package.json` of the checkout while npm packs */
export const KEPT = join(ROOT, 'dist', '.package.json')

export function restore() {
  if (existsSync(KEPT)) renameSync(KEPT, MANIFEST)
  rmSync(PACKED, { recursive: true, force: true })
  rmSync(NOTICES, { force: true })
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) restore()
