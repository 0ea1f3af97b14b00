import type { Stats } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { diskError, isReadOnlyDisk, isStorageFull } from '../../local/disk-error.js'
import { openFts5 } from './fts5.js'
import { lstatIfThere, putAside } from './quarantine.js'
import { openTantivy } from './tantivy.js'
import { loadTantivy } from './tantivy-binding.js'
import { DamagedIndexError, type TextEngine, type TextIndex, type TextOptions } from './text-index.js'

/** Chooses the text engine of this process: Tantivy where its binding loads, unless FTS5 is requested. */
export function chooseEngine(wanted: string | undefined): { engine: TextEngine; reason: string } {
  if (wanted === 'fts5') return { engine: 'fts5', reason: 'KS_TEXT_INDEX asks for it' }
  const { binding, reason } = loadTantivy()
  return binding === undefined ? { engine: 'fts5', reason } : { engine: 'tantivy', reason }
}

/**
 * Opens the text index of a space's directory. A damaged one is moved to quarantine and replaced by an empty one.
 *
 * @param create creates a missing index; otherwise the result is `undefined` then
 */
export async function openText(
  options: TextOptions & { dir: string; engine: TextEngine; create: boolean },
): Promise<TextIndex | undefined> {
  const dir = join(options.dir, options.engine)
  const found = await lstatIfThere(dir)
  if (found === undefined && !options.create) return undefined
  try {
    await refuseOddEntries(dir, found)
    return await openEngine(options.engine, dir, options)
  } catch (error) {
    // A damaged projection can be replaced by an empty one. That needs disk space, and a disk that allows writes.
    if (isStorageFull(error)) throw error
    if (isReadOnlyDisk(error)) throw diskError(error) ?? error
    options.log(`a text index is moved to quarantine and rebuilt: ${error instanceof Error ? error.message : String(error)}`)
    await putAside(dir)
    return openEngine(options.engine, dir, options)
  }
}

/**
 * Libraries open any existing path: a pipe would block forever, a link leads elsewhere, and a directory fails every
 * use.
 */
async function refuseOddEntries(dir: string, found: Stats | undefined): Promise<void> {
  if (found === undefined) return
  if (!found.isDirectory()) throw new DamagedIndexError(`${dir} is not a directory`)
  const odd = (await readdir(dir, { withFileTypes: true })).find((entry) => !entry.isFile())
  if (odd !== undefined) throw new DamagedIndexError(`${join(dir, odd.name)} is not a file`)
}

async function openEngine(engine: TextEngine, dir: string, options: TextOptions): Promise<TextIndex> {
  if (engine === 'fts5') return openFts5(dir, options)
  const { binding, reason } = loadTantivy()
  if (binding === undefined) throw new Error(reason)
  return openTantivy(binding, dir, options)
}
