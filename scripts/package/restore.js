/** Undoes the changes of `stage.js` to a checkout: as `postpack` of npm, and at the start of the next run after a failure. */
import { existsSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { ROOT } from '../build.js'

export const PACKED = join(ROOT, 'packed')
export const MANIFEST = join(ROOT, 'package.json')
export const NOTICES = join(ROOT, 'THIRD-PARTY-NOTICES.md')
/** Copy of the checkout's `package.json` while npm packs. */
export const MANIFEST_COPY = join(ROOT, 'dist', '.package.json')

export function restore() {
  if (existsSync(MANIFEST_COPY)) renameSync(MANIFEST_COPY, MANIFEST)
  rmSync(PACKED, { recursive: true, force: true })
  rmSync(NOTICES, { force: true })
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) restore()
