import type { Stats } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { diskError, isReadOnlyDisk, isStorageFull } from '../../local/disk-error.js'
import { openFts5 } from './fts5.js'
import { lstatIfThere, putAside } from './quarantine.js'
import { openTantivy } from './tantivy.js'
import { loadTantivy } from './tantivy-binding.js'
import { DamagedIndexError, type TextEngine, type TextIndex, type TextOptions } from './text-index.js'

/** The engine of this process: Tantivy where its binding loads, unless the environment asks for FTS5. */
export function chooseEngine(wanted: string | undefined): { engine: TextEngine; reason: string } {
  if (wanted === 'fts5') return { engine: 'fts5', reason: 'KS_TEXT_INDEX asks for it' }
  const { binding, reason } = loadTantivy()
  return binding === undefined ? { engine: 'fts5', reason } : { engine: 'tantivy', reason }
}

/**
 * Opens the text index of a space's directory. A damaged one is put aside, and an empty one takes its place.
 *
 * @param create whether to make one where none is; without it the answer is then `undefined`
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
    // whatever is wrong with a projection, an empty one takes its place; only room has to come first, and a disk that is
    // read-only could neither lose the old one nor take the new one
    if (isStorageFull(error)) throw error
    if (isReadOnlyDisk(error)) throw diskError(error) ?? error
    options.log(`a text index is put aside and built anew: ${error instanceof Error ? error.message : String(error)}`)
    await putAside(dir)
    return openEngine(options.engine, dir, options)
  }
}

/** Libraries open what has a name: a pipe would hold them for ever, a link lead elsewhere, a folder fail every use. */
async function refuseOddEntries(dir: string, found: Stats | undefined): Promise<void> {
  if (found === undefined) return
  if (!found.isDirectory()) throw new DamagedIndexError(`${dir} is no folder`)
  const odd = (await readdir(dir, { withFileTypes: true })).find((entry) => !entry.isFile())
  if (odd !== undefined) throw new DamagedIndexError(`${join(dir, odd.name)} is no file`)
}

async function openEngine(engine: TextEngine, dir: string, options: TextOptions): Promise<TextIndex> {
  if (engine === 'fts5') return openFts5(dir, options)
  const { binding, reason } = loadTantivy()
  if (binding === undefined) throw new Error(reason)
  return openTantivy(binding, dir, options)
}
