import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { Database } from '../../../../src/engine/store/database.js'
import { pack } from '../../../../src/engine/store/packed.js'
import { sql } from '../../../../src/engine/store/program.js'
import { newId } from '../../../../src/lib/ids.js'
import { countTurnsDuring } from '../../../helpers/event-loop.js'
import { TestSpace } from './space.js'

const DOCUMENTS = 20_000

let space: TestSpace

/** Half of the documents in one folder, half in separate folders, and as many that wait for compilation. */
beforeAll(async () => {
  space = new TestSpace()
  const empty = await pack([])
  const revision = space.publish()
  const insert = (filename: string): number =>
    space.db.now(
      sql.inserted(
        `INSERT INTO documents (tenant, id, space_key, filename, mime_type, object_key, sha256, size_bytes, parser_status,
         created_at, updated_at) VALUES ((SELECT tenant FROM spaces WHERE key = ?), ?, ?, ?, 'text/plain', 'o', 's', 7, 'pending', 0, 0) RETURNING key`,
        [space.key, newId(), space.key, filename],
      ),
    )
  space.db.writeNow(() => {
    for (let index = 0; index < DOCUMENTS; index++) {
      const key = insert(index % 2 === 0 ? `flat/${index}.md` : `deep/${index}/file.md`)
      space.db.now(
        sql.run(
          `INSERT INTO versions (doc_key, space_key, version, from_revision, node_count, artifact_id, artifact_hash,
           content_type, parser, outline_id, items_id, created_at, title, metadata, outline, items, artifact)
         VALUES (?, ?, 1, ?, 0, 'a', 'h', 'text', 'native-markdown', 'o', 'i', 0, 'T', '{}', ?, ?, ?)`,
          [key, space.key, revision, empty, empty, empty],
        ),
      )
      insert(`aaa/${index}.md`)
    }
  })
})
afterAll(() => space.close())

describe('a space of 20,000 documents', () => {
  it.each(['flat', 'deep'])(
    'lists the first page of %s without reading the other pages, and all pages in order',
    async (folder) => {
      const path = `/sources/uploads/${folder}`
      const executed = vi.spyOn(Database.prototype, 'execute')
      const first = await space.fs.ls(space.caller, space.id, { path, limit: 100 })
      const results = executed.mock.results.map(({ value }) => value as unknown)
      executed.mockRestore()
      // At most one statement for each entry, and some for the folder.
      expect([results.length < 110, results.flat().length < 110]).toEqual([true, true])
      expect(first.items).toHaveLength(100)
      const names: string[] = []
      let cursor: string | undefined
      do {
        const page = await space.fs.ls(space.caller, space.id, { path, limit: 5000, cursor })
        expect(page.items.length).toBeLessThanOrEqual(1000)
        names.push(...page.items.map(({ name }) => name))
        cursor = page.nextCursor
      } while (cursor !== undefined)
      expect(names).toHaveLength(DOCUMENTS / 2)
      expect(names).toEqual([...names].sort())
    },
  )

  it('skips unpublished documents in a listing without blocking other work', async () => {
    let names: string[] = []
    const turns = await countTurnsDuring(async () => {
      const { items } = await space.fs.ls(space.caller, space.id, { path: '/sources/uploads', limit: 10 })
      names = items.map(({ name }) => name)
    })
    expect(names).toEqual(['deep', 'flat'])
    expect(turns).toBeGreaterThan(1)
  })
})
