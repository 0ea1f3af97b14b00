import { describe, it } from 'vitest'
import { openFts5 } from '../../../src/engine/search/fts5.js'
import { openTantivy } from '../../../src/engine/search/tantivy.js'
import { loadTantivy } from '../../../src/engine/search/tantivy-binding.js'
import { runTextIndexSuite } from './text-index.suite.js'

const options = { log: () => {}, watermarkLagMs: 0 }

runTextIndexSuite('fts5', (dir) => openFts5(dir, options))

const { binding, reason } = loadTantivy()
if (binding === undefined) {
  describe('text index: tantivy', () => {
    it.skip(reason, () => {})
  })
} else {
  runTextIndexSuite('tantivy', (dir) => openTantivy(binding, dir, options))
}
