import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openEngine } from '../../../../src/engine/index.js'
import { DiskReserve } from '../../../../src/local/disk-reserve.js'
import { rowsOf } from '../../../helpers/databases.js'
import { ADA, ask, engineOptions, ingest, startEngine, type TestEngine } from '../../../helpers/engine.js'
import { until } from '../../../helpers/until.js'

let test: TestEngine
let spaceId: string

beforeEach(async () => {
  test = await startEngine()
  spaceId = (await test.engine.spaces.create(ADA, { name: 'Notes', slug: 'notes' })).id
})
afterEach(() => test.end())

const HARBOUR = '# Harbour\n\n## Dredging\n\nThe channel is kept nine metres deep.\n\n## Pilots\n\nPilots live here.\n'
const ARCHIVE = '# Archive\n\n## Lending\n\nThe archive lends maps for a week.\n'

const _file = () => join(test.dataDir, 'db', 'main.sqlite')

const indexed = () => rowsOf(test.dataDir).value('SELECT count(*) FROM page_index')
const idle = () => until(async () => (await test.engine.activity()).backgroundTasks === 0)

/** Deletes the page index, as a crash directly after the publication leaves it. */
async function losePageIndex(): Promise<void> {
  await test.engine.close()
  await rowsOf(test.dataDir).run('DELETE FROM page_index')
}

describe('the page index', () => {
  it('gets its entries in the background after a publication, before any query', async () => {
    await ingest(test.engine, ADA, spaceId, { 'harbour.md': HARBOUR, 'archive.md': ARCHIVE })
    await idle()
    expect(indexed()).toBe(2)
  })

  it('gets entries that a crash left missing after the next start', async () => {
    await ingest(test.engine, ADA, spaceId, { 'harbour.md': HARBOUR, 'archive.md': ARCHIVE })
    await losePageIndex()
    await test.reopen()
    await idle()
    expect(indexed()).toBe(2)
  })

  it('loses the entry of a deleted document', async () => {
    const [harbour] = await ingest(test.engine, ADA, spaceId, { 'harbour.md': HARBOUR })
    await idle()
    await test.engine.documents.delete(ADA, spaceId, [harbour?.asset.id ?? ''])
    await until(() => indexed() === 0)
  })

  it('covers a newly published small document in the next research query', async () => {
    await ingest(test.engine, ADA, spaceId, { 'harbour.md': HARBOUR })
    const asked = await ask(test.engine, ADA, spaceId, 'How deep is the channel?', { mode: 'research' })
    expect(asked.done.metadata).toMatchObject({
      degraded: false,
      plan: { strategyVersion: 'research-1' },
      metrics: { pageIndexPendingDocuments: 0 },
    })
  })
})

describe('a research question with an incomplete page index', () => {
  it('runs as in mode fast and reports a degraded answer', async () => {
    await ingest(test.engine, ADA, spaceId, { 'harbour.md': HARBOUR, 'archive.md': ARCHIVE })
    await idle()
    await losePageIndex()
    // While the disk is full, no background work that writes is started, including the page index.
    const room = new DiskReserve(join(test.dataDir, 'reserve'), tmpdir())
    room.release()
    test.engine = await openEngine(engineOptions(test.dataDir, { diskReserve: room }))
    const asked = await ask(test.engine, ADA, spaceId, 'How deep is the channel of the harbour kept?', {
      mode: 'research',
    })
    expect(asked.answer).toContain('nine metres')
    expect(asked.done.metadata).toMatchObject({
      mode: 'research',
      degraded: true,
      degradations: [{ part: 'page-index', class: 'unavailable' }],
      plan: { resolvedMode: 'research', strategyVersion: 'fast-1', ftsTopK: 200 },
      metrics: { pageIndexPendingDocuments: 2 },
    })
  })
})
