import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { removeFolder } from '../../../../../bench/lib/removed-folder.js'
import { canonicalKey, findEntities } from '../../../../../src/engine/knowledge/derived/graph/entities.js'
import { GraphExtractor } from '../../../../../src/engine/knowledge/derived/graph/extract.js'
import { loadGraphCapacity, storeExtraction } from '../../../../../src/engine/knowledge/derived/graph/store.js'
import { Database } from '../../../../../src/engine/store/database.js'
import { sql } from '../../../../../src/engine/store/program.js'

const TEXT =
  'Project Falcon is led by Maria Keller, the head of Northern Yard Ltd. Project Falcon depends on the Data Retention Policy. The operating margin fell on 3 March 2024. See section Billing.'

function extract(text: string, key = 1) {
  const reader = new GraphExtractor('Plans')
  reader.add({ key, text, section: ['Falcon Plan'] })
  return reader.finish()
}

describe('rule-based extraction from a text', () => {
  it('finds names, organizations, people, policies, dates and metrics', () => {
    const found = Object.fromEntries(findEntities(TEXT).map(({ name, type }) => [name, type]))
    expect(found).toMatchObject({
      'Project Falcon': 'term',
      'Maria Keller': 'person',
      'Northern Yard Ltd': 'organization',
      'Data Retention Policy': 'policy',
      '3 March 2024': 'date',
      'operating margin': 'metric',
    })
  })

  it('reads a single capitalized word within a sentence as a name, except in German', () => {
    const names = (text: string) => findEntities(text).map(({ name }) => name)
    expect(names('Later the fleet went to Cyprus. Many people stayed there for years.')).toEqual(['Cyprus'])
    expect(names('Heute jagt der Hund die Katze durch den Garten, bis die Sonne hinter dem Haus versinkt.')).toEqual([])
  })

  it('gives spellings of one name the same key', () => {
    expect(canonicalKey('The Northern Yard Ltd.')).toBe(canonicalKey('NORTHERN YARD'))
    expect(canonicalKey('Café Müller’s')).toBe('cafe muller')
  })

  it('relates a section to the entities it mentions, references and depends on', () => {
    const relations = [...extract(TEXT).relations.values()].map(
      ({ subject, type, object }) => `${subject} ${type} ${object}`,
    )
    expect(relations).toContain('falcon plan mentions maria keller')
    expect(relations).toContain('falcon plan references billing')
    expect(relations).toContain('project falcon depends_on data retention policy')
  })

  // A quadratic search would take longer than the time limit.
  it('takes less than 30 seconds for long texts of repeated names, marks or numbers', { timeout: 30_000 }, () => {
    for (const noise of [
      'A '.repeat(20_000),
      'Aa '.repeat(20_000),
      '“'.repeat(40_000),
      'see section '.repeat(4000),
      '1 '.repeat(30_000),
    ])
      findEntities(noise)
  })
})

describe('the stored graph', () => {
  let folder: string
  let db: Database

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'ks-graph-'))
    db = new Database(join(folder, 'main.sqlite'), Date.now)
  })
  afterEach(async () => {
    await db.close()
    removeFolder(folder)
  })

  /** A version in a separate document; columns that the graph does not read are empty. */
  const version = (key: number): void => {
    db.now(
      sql.run(
        `INSERT OR IGNORE INTO versions (key, space_key, doc_key, version, node_count, artifact_id, artifact_hash,
         content_type, parser, outline_id, items_id, created_at, title, metadata, outline, items, artifact)
       VALUES (?, 1, ?, 1, 1, '', '', '', '', '', '', 0, '', '{}', x'', x'', x'')`,
        [key, key],
      ),
    )
  }
  const of = async (versionKey: number, text: string): Promise<void> => {
    version(versionKey)
    const room = db.now(loadGraphCapacity(1, { maxGraphEntityCount: 1000, maxGraphRelationCount: 1000 }))
    await storeExtraction(db, { spaceKey: 1, versionKey }, extract(text, versionKey), room)
  }
  const dump = (): unknown => [
    db.now(sql.all('SELECT id, name, type FROM graph_entities ORDER BY key')),
    db.now(sql.all('SELECT id, type, subject_key, object_key FROM graph_relations ORDER BY key')),
    db.now(sql.all('SELECT * FROM graph_mentions')),
    db.now(sql.all('SELECT * FROM graph_relation_nodes')),
  ]

  it('stays the same if a document is read again, and loses what its new text no longer states', async () => {
    await of(7, TEXT)
    const before = dump()
    await of(7, TEXT)
    expect(dump()).toEqual(before)
    await of(7, 'Project Falcon is over.')
    expect(
      db.now(sql.all<{ name: string }>('SELECT name FROM graph_entities ORDER BY key')).map(({ name }) => name),
    ).toEqual(['Falcon Plan', 'Project Falcon'])
    expect(db.now(sql.all('SELECT type FROM graph_relations'))).toEqual([{ type: 'mentions' }])
  })

  it('drops names, types, entities and relations with the only version that stated them', async () => {
    await of(7, 'The plan was made by Northern Yard long ago.')
    await of(8, 'In May the NORTHERN YARD Ltd took over. NORTHERN YARD Ltd depends on the Data Retention Policy.')
    const yard = () =>
      db.now(sql.get('SELECT name, type FROM graph_entities WHERE canonical_key = ?', ['northern yard']))
    expect(yard()).toEqual({ name: 'NORTHERN YARD Ltd', type: 'organization' })
    db.now(sql.run('DELETE FROM versions WHERE key = 8'))
    expect(yard()).toEqual({ name: 'Northern Yard', type: 'term' })
    expect(db.now(sql.all("SELECT 1 FROM graph_relations WHERE type = 'depends_on'"))).toEqual([])
    db.now(sql.run('DELETE FROM versions WHERE key = 7'))
    for (const table of ['entities', 'relations', 'mentions', 'relation_nodes', 'names', 'versions'])
      expect(db.now(sql.all(`SELECT 1 FROM graph_${table}`)), table).toEqual([])
  })

  it('gets nothing from a version that was purged while it was read', async () => {
    const room = db.now(loadGraphCapacity(1, { maxGraphEntityCount: 1000, maxGraphRelationCount: 1000 }))
    await storeExtraction(db, { spaceKey: 1, versionKey: 9 }, extract(TEXT), room)
    expect(db.now(sql.all('SELECT 1 FROM graph_entities'))).toEqual([])
  })

  it('stays within the quota of entities and relations', async () => {
    version(7)
    const room = db.now(loadGraphCapacity(1, { maxGraphEntityCount: 2, maxGraphRelationCount: 1 }))
    await storeExtraction(db, { spaceKey: 1, versionKey: 7 }, extract(TEXT), room)
    expect(db.now(sql.all('SELECT key FROM graph_entities'))).toHaveLength(2)
    expect(db.now(sql.all('SELECT key FROM graph_relations')).length).toBeLessThanOrEqual(1)
  })
})
