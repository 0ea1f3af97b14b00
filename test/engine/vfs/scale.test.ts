import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { pack } from '../../../src/engine/storage/packed.js'
import { sql } from '../../../src/engine/storage/program.js'
import { newId } from '../../../src/lib/ids.js'
import { longestHold, processorMsSince } from '../../helpers/processor-time.js'
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
  // Limits are ten times what a quiet machine needs.
  it.each(['flat', 'deep'])('lists the first page of %s quickly, and all pages in order', async (folder) => {
    const path = `/sources/uploads/${folder}`
    const before = process.cpuUsage()
    const first = await space.fs.ls(space.caller, space.id, { path, limit: 100 })
    expect(processorMsSince(before)).toBeLessThan(200)
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
  })

  it('skips unpublished documents without blocking other work', async () => {
    let names: string[] = []
    const longest = await longestHold(async () => {
      const { items } = await space.fs.ls(space.caller, space.id, { path: '/sources/uploads', limit: 10 })
      names = items.map(({ name }) => name)
    })
    expect(names).toEqual(['deep', 'flat'])
    expect(longest).toBeLessThan(200)
  })
})
