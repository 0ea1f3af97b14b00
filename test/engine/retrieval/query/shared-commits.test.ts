import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { expect, it, vi } from 'vitest'
import { Checkpointer } from '../../../../src/engine/store/checkpointer.js'
import { ADA, ask, ingest, startEngine } from '../../../helpers/engine.js'

const AT_ONCE = 16
const QUESTION = 'When was the lighthouse built?'

it('concurrent queries share commits, and each one ends only after its own commit', async () => {
  const { engine, dataDir, end } = await startEngine()
  const { id } = await engine.spaces.create(ADA, { name: 'N', slug: 'n' })
  await ingest(engine, ADA, id, { 'lighthouse.md': '# Lighthouse\n\nThe lighthouse was built in 1908.\n' })
  await ask(engine, ADA, id, QUESTION)
  const other = new Sqlite(join(dataDir, 'db', 'main.sqlite'), { readonly: true })
  const commits = vi.spyOn(Checkpointer.prototype, 'scheduleAfterWrite')
  const kept = await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      const { traceId, done } = await ask(engine, ADA, id, QUESTION)
      expect(done.traceId).toBe(traceId)
      return other.prepare('SELECT bundle_id FROM traces WHERE id = ?').get(traceId)
    }),
  )
  expect(commits.mock.calls.length).toBeLessThanOrEqual(AT_ONCE / 2)
  expect(kept).not.toContain(undefined)
  commits.mockRestore()
  other.close()
  await end()
})
