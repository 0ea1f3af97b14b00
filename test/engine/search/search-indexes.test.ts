import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { removeFolder } from '../../../bench/lib/removed-folder.js'
import { createSearchIndexes } from '../../../src/engine/search/indexes.js'
import { loadTantivy } from '../../../src/engine/search/tantivy-binding.js'
import { type IndexStorage, runSearchIndexesSuite } from './search-indexes.suite.js'

async function folder(textEngine: 'tantivy' | 'fts5'): Promise<IndexStorage> {
  const dir = await mkdtemp(join(tmpdir(), 'ks-indexes-'))
  return {
    textEngine,
    open: async (options) => createSearchIndexes({ dir, textEngine, watermarkLagMs: 0, ...options }),
    remove: async () => removeFolder(dir),
  }
}

for (const textEngine of loadTantivy().binding === undefined ? (['fts5'] as const) : (['tantivy', 'fts5'] as const))
  runSearchIndexesSuite(`a process of the gateway, with ${textEngine}`, () => folder(textEngine))
