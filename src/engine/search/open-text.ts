import type { Stats } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { isReadOnlyDisk, isStorageFull, toDiskError } from '../../local/disk-error.js'
import { openFts5 } from './fts5.js'
import { lstatIfExists, moveToQuarantine } from './quarantine.js'
import { openTantivy } from './tantivy.js'
import { loadTantivy } from './tantivy-binding.js'
import { DamagedIndexError, type TextEngine, type TextIndex, type TextIndexOptions } from './text-index.js'

/** Chooses the text engine of this process: Tantivy where its binding loads, unless FTS5 is requested. */
export function chooseTextEngine(requested: string | undefined): { engine: TextEngine; reason: string } {
  if (requested === 'fts5') return { engine: 'fts5', reason: 'KS_TEXT_INDEX asks for it' }
  const { binding, reason } = loadTantivy()
  return binding === undefined ? { engine: 'fts5', reason } : { engine: 'tantivy', reason }
}

/**
 * Opens the text index of a space's directory. A damaged one is moved to quarantine and replaced by an empty one.
 *
 * @returns undefined where the index is missing and `ifMissing` is `skip`
 */
export async function openTextIndex(
  options: TextIndexOptions & { dir: string; engine: TextEngine; ifMissing: 'create' | 'skip' },
): Promise<TextIndex | undefined> {
  const dir = join(options.dir, options.engine)
  const stats = await lstatIfExists(dir)
  if (stats === undefined && options.ifMissing === 'skip') return undefined
  try {
    await rejectUnexpectedEntries(dir, stats)
    return await openEngine(options.engine, dir, options)
  } catch (error) {
    // A damaged projection can be replaced by an empty one. That needs disk space, and a disk that allows writes.
    if (isStorageFull(error)) throw error
    if (isReadOnlyDisk(error)) throw toDiskError(error) ?? error
    options.log(
      `a text index is moved to quarantine and rebuilt: ${error instanceof Error ? error.message : String(error)}`,
    )
    await moveToQuarantine(dir)
    return openEngine(options.engine, dir, options)
  }
}

/**
 * Libraries open any existing path: a pipe would block forever, a link leads elsewhere, and a directory fails every
 * use.
 */
async function rejectUnexpectedEntries(dir: string, stats: Stats | undefined): Promise<void> {
  if (stats === undefined) return
  if (!stats.isDirectory()) throw new DamagedIndexError(`${dir} is not a directory`)
  const unexpected = (await readdir(dir, { withFileTypes: true })).find((entry) => !entry.isFile())
  if (unexpected !== undefined) throw new DamagedIndexError(`${join(dir, unexpected.name)} is not a file`)
}

async function openEngine(engine: TextEngine, dir: string, options: TextIndexOptions): Promise<TextIndex> {
  if (engine === 'fts5') return openFts5(dir, options)
  const { binding, reason } = loadTantivy()
  if (binding === undefined) throw new Error(reason)
  return openTantivy(binding, dir, options)
}
