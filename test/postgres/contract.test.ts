import { setImmediate } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { asTenant } from '../../src/engine/base/tenant-scope.js'
import { claimKey, findIdempotencyRow, storeAnswer } from '../../src/engine/library/rows/idempotency.js'
import type { Driver } from '../../src/engine/store/driver.js'
import { sql, type Write } from '../../src/engine/store/program.js'
import {
  claimJobs,
  countValidClaims,
  listDueJobs,
  releaseClaims,
  releaseJob,
} from '../../src/engine/store/rows/job-claims.js'
import { isClaimValid, type JobRow } from '../../src/engine/store/rows/jobs.js'
import { reserveNodeKeys } from '../../src/engine/store/rows/nodes.js'
import { getLastSequence, listLogEntries, logAdded } from '../../src/engine/store/rows/projection-log.js'
import { publishNextRevision } from '../../src/engine/store/rows/publications.js'
import { getSpaceUsage } from '../../src/engine/store/rows/space-usage.js'
import type { SpaceRow } from '../../src/engine/store/rows/spaces.js'
import { insertTrace } from '../../src/engine/store/rows/traces.js'
import { removeTrace } from '../../src/engine/upkeep/rows/purge/parts.js'
import { newId } from '../../src/lib/ids.js'
import { BACKENDS, type Backend, newDocument, newSpace } from './backends.js'

/** the maximal timestamp of a row */
const LAST = 8_640_000_000_000_000
const LATEST = { now: 10, latest: 20 }

/** Runs `work` this number of times concurrently. */
const together = <T>(count: number, work: (place: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, place) => work(place)))

describe.each(BACKENDS)('database programs on %s', (_, open) => {
  let backend: Backend
  let driver: Driver
  let space: SpaceRow

  beforeAll(async () => {
    backend = await open()
    driver = backend.driver
    space = await newSpace(driver)
  })

  afterAll(async () => {
    await backend.close()
  })

  const publications = async ({ key }: SpaceRow) =>
    await driver.read(
      sql.all<{ revision: number }>('SELECT revision FROM publications WHERE space_key = ? ORDER BY revision', [key]),
    )

  it('store U+FFFD for characters that the database cannot store, and find the text by its original', async () => {
    const named = async (name: string) => {
      const { id } = await newSpace(driver)
      await driver.write(() => sql.run('UPDATE spaces SET description = ? WHERE id = ?', [name, id]))
      const found = await driver.read(
        sql.all<{ description: string }>('SELECT description FROM spaces WHERE id = ? AND description = ?', [id, name]),
      )
      return found.map(({ description }) => description)
    }
    expect(await named('a\0b\0')).toEqual(['a\uFFFDb\uFFFD'])
    expect(await named('half \ud83d of a pair')).toEqual(['half \uFFFD of a pair'])
  })

  it('read JSON with escapes that the database cannot store', async () => {
    const document = JSON.stringify({ 'a\0': 'x\0\0y', half: '\ud83d', said: '\\u0000', kept: 'as it is', tide: 5 })
    const one = async (expression: string) =>
      (await driver.read(sql.get<{ one: unknown }>(`SELECT ${expression} one FROM (SELECT ? body)`, [document])))?.one
    expect(await one("body ->> '$.kept'")).toBe('as it is')
    expect(await one("body ->> '$.said'")).toBe('\\u0000')
    expect(await one("CAST(body ->> '$.tide' AS INTEGER)")).toBe(5)
    expect(JSON.parse(String(await one("json_set(body, '$.kept', 'anew')")))).toMatchObject({ kept: 'anew', tide: 5 })
    const listed = sql.all('SELECT id FROM documents WHERE id IN (SELECT value FROM json_each(?))', [
      JSON.stringify(['\0', '\ud83d']),
    ])
    expect(await driver.read(listed)).toEqual([])
  })

  it('pass on their own errors, whatever the code', async () => {
    const thrown = Object.assign(new Error('of a slice'), { code: 'not_found' })
    function* failing(): Write<void> {
      yield* sql.get('SELECT 1')
      throw thrown
    }
    await expect(driver.read(failing() as never)).rejects.toBe(thrown)
    await expect(driver.write(failing)).rejects.toBe(thrown)
  })

  it('run a statement with many parameter lists in order, and fail with the first that fails', async () => {
    const token = (n: number) => [`token ${n}`, n]
    const all = Array.from({ length: 1201 }, (_, n) => token(n))
    const insert = 'INSERT INTO revoked_tokens (jti, expires_at) VALUES (?, ?) ON CONFLICT (jti) DO NOTHING'
    const find = 'SELECT jti, expires_at FROM revoked_tokens WHERE jti = ?'
    expect(await driver.write(() => sql.runEach(insert, [...all, token(7)]))).toEqual([...all.map(() => 1), 0])
    expect(await driver.read(sql.getEach(find, [['token 1200'], ['none'], ['token 3']]))).toEqual([
      { jti: 'token 1200', expires_at: 1200 },
      undefined,
      { jti: 'token 3', expires_at: 3 },
    ])
    expect(await driver.read(sql.allEach(find, []))).toEqual([])
    const deleting = 'DELETE FROM revoked_tokens WHERE expires_at >= ? AND expires_at < ? RETURNING expires_at'
    const deleted = await driver.write(() =>
      sql.returningEach<{ expires_at: number }>(deleting, [
        [0, 2],
        [0, 3],
      ]),
    )
    expect(deleted.map((rows) => rows.length)).toEqual([2, 1])
    const late = driver.write(function* () {
      yield* sql.runEach('INSERT INTO revoked_tokens (jti, expires_at) VALUES (?, ?)', [token(-1), token(3), token(-2)])
    })
    await expect(late).rejects.toThrow()
    expect(await driver.read(sql.getEach(find, [['token -1'], ['token -2']]))).toEqual([undefined, undefined])
  })

  it('publish revisions without gaps, with eight writers of two processes', async () => {
    const published = await newSpace(driver)
    const other = await backend.another()
    await together(8, async (writer) => {
      for (let i = 0; i < 25; i++)
        await (writer % 2 === 0 ? driver : other).write(() => publishNextRevision(published.key, `${writer} ${i}`), {
          lock: published.key,
        })
    })
    const revisions = (await publications(published)).map(({ revision }) => revision)
    expect(revisions).toEqual(Array.from({ length: 201 }, (_, revision) => revision))
  })

  it('publish revisions without gaps even without a lock, by running again after a conflict', async () => {
    const published = await newSpace(driver)
    await together(3, async (writer) => {
      for (let i = 0; i < 10; i++) await driver.write(() => publishNextRevision(published.key, `${writer} ${i}`))
    })
    expect(await publications(published)).toHaveLength(31)
  })

  it('insert a key once when five of them check for it concurrently, and the other four find it taken', async () => {
    const take = (jti: string) =>
      driver.write(function* (): Write<string> {
        if ((yield* sql.get('SELECT 1 FROM revoked_tokens WHERE jti = ?', [jti])) !== undefined) return 'taken'
        yield* sql.run('INSERT INTO revoked_tokens (jti, expires_at) VALUES (?, 1)', [jti])
        return 'inserted'
      })
    for (const jti of ['race 1', 'race 2', 'race 3'])
      expect((await together(5, () => take(jti))).sort()).toEqual(['inserted', ...Array(4).fill('taken')])
  })

  it('fail after a limited number of runs for a taken key that they do not check', async () => {
    let runs = 0
    const insert = () => {
      runs++
      return sql.run("INSERT INTO revoked_tokens (jti, expires_at) VALUES ('twice', 1)")
    }
    await driver.write(insert)
    await expect(driver.write(insert)).rejects.toThrow(/duplicate key|UNIQUE/)
    expect(runs).toBeLessThan(6)
  })

  it('claim each of 6,000 jobs once, with six workers', async () => {
    const claimed = await newSpace(driver)
    const document = await driver.write(() => newDocument(claimed, 'claimed.md'))
    await driver.write(() =>
      sql.run(
        `INSERT INTO jobs (id, queue_id, tenant, space_key, doc_key, version, stage, created_at, updated_at)
         SELECT value, value, 'acme', CAST(? AS INTEGER), CAST(? AS INTEGER), 1, 'queued', 1, 1 FROM json_each(?)`,
        [claimed.key, document.key, JSON.stringify(Array.from({ length: 6000 }, newId))],
      ),
    )
    function* claim(gateway: string): Write<JobRow[]> {
      return yield* claimJobs(yield* listDueJobs(claimed.key, LATEST, 64), gateway)
    }
    const claims = await together(6, async (claimer) => {
      const held: JobRow[] = []
      for (;;) {
        const jobs = await driver.write(() => claim(`g${claimer}`), { lock: claimed.key })
        if (jobs.length === 0) return held
        held.push(...jobs)
      }
    })
    const all = claims.flat()
    expect(all).toHaveLength(6000)
    expect(new Set(all.map(({ key }) => key)).size).toBe(6000)
    expect(new Set(all.map(({ fence }) => fence))).toEqual(new Set([1]))

    const [mine = []] = claims
    const [first, second] = mine
    if (first === undefined || second === undefined) throw new Error('nothing was claimed')
    expect(await driver.read(countValidClaims('g0', mine))).toBe(mine.length)
    expect(await driver.write(() => releaseJob(first, 5))).toBe(true)
    expect(await driver.read(isClaimValid(first))).toBe(false)
    expect(await driver.read(isClaimValid(second))).toBe(true)
    await driver.write(() => releaseClaims('g0', mine))
    expect(await driver.read(countValidClaims('g0', mine))).toBe(0)
  })

  it('number entries of the index log without gaps, and a reader that follows the log misses none', async () => {
    const logged = await newSpace(driver)
    const other = await backend.another()
    const seen: number[] = []
    let isOver = false
    const follower = (async () => {
      for (let last = false; !last; ) {
        last = isOver
        const to = await driver.read(getLastSequence(logged.key))
        const entries = await driver.read(listLogEntries(logged.id, seen.at(-1) ?? 0, to, 1000))
        seen.push(...entries.map(({ seq }) => seq))
        // SQLite answers synchronously.
        await setImmediate()
      }
    })()
    await together(6, async (writer) => {
      for (let i = 0; i < 30; i++)
        await (writer % 2 === 0 ? driver : other).write(() => logAdded(logged.key, i, i), { lock: logged.key })
    })
    isOver = true
    await follower
    expect(seen).toEqual(Array.from({ length: 180 }, (_, place) => place + 1))
  })

  it('reserve consecutive keys for the passages of one document', async () => {
    const firsts = await together(4, async () => {
      const own: number[] = []
      for (let i = 0; i < 10; i++) own.push(await driver.write(() => reserveNodeKeys(3)))
      return own
    })
    const sorted = firsts.flat().sort((a, b) => a - b)
    expect(sorted.every((first, place) => place === 0 || first - (sorted[place - 1] ?? 0) === 3)).toBe(true)
  })

  it('store the response of the one request that has claimed an idempotency key', async () => {
    const owner = { tenant: 'acme', subject: 's' }
    const answer = { status: 201, headers: '{}', body: '{"a":1}' }
    await driver.write(() => claimKey(owner, 'k', { fingerprint: 'f', instance: 'g1', created_at: 1 }))
    expect(await driver.write(() => storeAnswer(owner, 'k', 'g2', answer))).toBe(false)
    expect(await driver.write(() => storeAnswer(owner, 'k', 'g1', { ...answer, content: 'digest' }))).toBe(true)
    expect(await driver.read(findIdempotencyRow(owner, 'k'))).toMatchObject({ ...answer, fingerprint: 'f digest' })
    await driver.write(() => claimKey(owner, 'k', { fingerprint: 'g', instance: 'g2', created_at: 2 }))
    expect(await driver.read(findIdempotencyRow(owner, 'k'))).toMatchObject({
      ...{ fingerprint: 'g', instance: 'g2', status: null, headers: null, body: null, created_at: 2 },
    })
    expect(await driver.read(findIdempotencyRow({ ...owner, tenant: 'other' }, 'k'))).toBeUndefined()
  })

  it('count the usage of a space as rows are added and removed', async () => {
    const counted = await newSpace(driver)
    const usage = () => driver.read(getSpaceUsage(counted.key))
    const none = { documents: 0, rawBytes: 0, artifactBytes: 0, segments: 0, nodes: 0, traceBytes: 0 }
    expect(await usage()).toEqual(none)
    const document = await driver.write(function* () {
      yield* newDocument(counted, 'a.md', 5)
      return yield* newDocument(counted, 'b.md', 6)
    })
    const version = await driver.write(() =>
      sql.inserted(
        `INSERT INTO versions (doc_key, space_key, version, node_count, artifact_id, artifact_hash, content_type, parser,
           outline_id, items_id, created_at, title, metadata, outline, items, artifact, segment_count)
         VALUES (?, ?, 1, 4, 'a', 'h', 't', 'p', 'o', 'i', 1, 'T', '{}', ?, ?, ?, 3) RETURNING key`,
        [document.key, counted.key, new Uint8Array(10), new Uint8Array(20), new Uint8Array(30)],
      ),
    )
    const picture =
      "INSERT INTO item_assets (version_key, item_id, content_type, sha256, bytes) VALUES (?, 'i', 't', 's', ?)"
    const part = "INSERT INTO version_parts (version_key, part, place, space_key, bytes) VALUES (?, 'items', 0, ?, ?)"
    // In SQLite, no column says which space a picture belongs to.
    const added = function* (): Write<void> {
      yield* sql.run(picture, [version, new Uint8Array(7)])
      yield* sql.run(part, [version, counted.key, new Uint8Array(2)])
      yield* sql.run('UPDATE versions SET node_count = 6 WHERE key = ?', [version])
    }
    await asTenant('acme', () => driver.write(added))
    const trace = { id: newId(), tenant: 'acme' }
    await driver.write(() =>
      insertTrace({
        ...{ ...trace, spaceKey: counted.key, subject: 's', query: 'häh', mode: 'fast', requestedMode: 'auto' },
        ...{ completed: true, steps: [] },
      }),
    )
    expect(await usage()).toEqual({
      ...{ documents: 2, rawBytes: 11, artifactBytes: 69, segments: 3, nodes: 6, traceBytes: 4 + 2 },
    })
    await driver.write(function* () {
      yield* sql.run('UPDATE documents SET deleted_at = 2 WHERE key = ?', [document.key])
      yield* sql.run('UPDATE versions SET until_revision = 1 WHERE key = ?', [version])
      yield* removeTrace(trace)
    })
    expect(await usage()).toEqual({ ...none, documents: 1, rawBytes: 5, artifactBytes: 69, segments: 3 })
    await driver.write(function* () {
      yield* sql.run('DELETE FROM item_assets WHERE version_key = ?', [version])
      yield* sql.run('DELETE FROM versions WHERE key = ?', [version])
    })
    expect(await usage()).toEqual({ ...none, documents: 1, rawBytes: 5 })
  })

  it('leave nothing of a failed transaction', async () => {
    const before = await driver.read(getLastSequence(space.key))
    const failed = driver.write(function* () {
      yield* logAdded(space.key, 1, 2)
      throw new Error('on the way')
    })
    await expect(failed).rejects.toThrow('on the way')
    await expect(driver.write(() => sql.run('INSERT INTO store (id) VALUES (?)', ['x']))).rejects.toThrow()
    expect(await driver.read(getLastSequence(space.key))).toBe(before)
    expect(await driver.write(() => 5)).toBe(5)
  })

  it('count correctly when they read, compute and write concurrently', async () => {
    const at = await newSpace(driver)
    await driver.write(() => sql.run('INSERT INTO workspace_changes (space_key, seq) VALUES (?, 0)', [at.key]))
    function* more(): Write<void> {
      const row = yield* sql.get<{ seq: number }>('SELECT seq FROM workspace_changes WHERE space_key = ?', [at.key])
      yield* sql.run('UPDATE workspace_changes SET seq = ? WHERE space_key = ?', [(row?.seq ?? 0) + 1, at.key])
    }
    await together(4, async () => {
      for (let i = 0; i < 10; i++) await driver.write(more)
    })
    expect(await driver.read(sql.get('SELECT seq FROM workspace_changes WHERE space_key = ?', [at.key]))).toEqual({
      seq: 40,
    })
  })

  it('sort documents into folders by name', async () => {
    const placed = await newSpace(driver)
    const names = ['a.md', 'b/ä.md', 'b/c/d.md', '/x', 'B/z', 'b/', 'Über/é', '//']
    for (const name of names) await driver.write(() => newDocument(placed, name))
    const rows = await driver.read(
      sql.all<{ folder: string; base: string }>(
        'SELECT folder, base FROM documents WHERE space_key = ? ORDER BY folder, base, id',
        [placed.key],
      ),
    )
    expect(rows.map(({ folder, base }) => `${folder.replaceAll('\u0001', '|')} ${base}`)).toEqual([
      ...[' a.md', '| x', '|| ', 'B| z', 'b| ', 'b| ä.md', 'b|c| d.md', 'Über| é'],
    ])
  })
})

describe.each(BACKENDS)('values on %s', (_, open) => {
  let backend: Backend

  beforeAll(async () => {
    backend = await open()
  })

  afterAll(async () => {
    await backend.close()
  })

  const one = async (text: string, ...values: (string | number | null)[]) =>
    Object.values((await backend.driver.read(sql.get<object>(`SELECT ${text} AS one`, values))) ?? {})[0]

  it.each([
    ['json_extract(\'{"a":"x","b":3}\', \'$.a\')', 'x'],
    ['CAST(json_extract(\'{"a":"x","b":3}\', \'$.b\') AS INTEGER)', 3],
    ["json_extract('{\"a\":1}', '$.b')", null],
    ["json_valid('{')", 0],
    ['json_valid(\'{"a":[1,2]}\')', 1],
    ['json_set(\'{"b":1,"a":"y"}\', \'$.c\', \'é"\')', '{"b":1,"a":"y","c":"é\\""}'],
    ["json_set('{\"b\":1}', '$.b', json('[true,null]'))", '{"b":[true,null]}'],
    ['json_remove(\'{"b":1,"a":2}\', \'$.b\')', '{"a":2}'],
    ["json_remove('{\"b\":1}', '$.b')", '{}'],
    ["json_array_length('{\"a\":[1,2]}', '$.a')", 2],
    ["'[4,5]' ->> 1", '5', 5],
    ['\'{"a":"b"}\' ->> \'$.a\'', 'b'],
    ["instr('häh', 'h')", 1],
    ["octet_length('häh')", 4],
    ["length('häh')", 3],
    ["substr('häh', 2, 1)", 'ä'],
    ["CAST('12 apples' AS INTEGER)", 12],
    ["CAST('apples' AS INTEGER)", 0],
    ['CAST(NULL AS INTEGER)', null],
    ['max(1, 2)', 2],
    ['7 / 2', 3],
    ['1 = 1', 1],
    ['NOT EXISTS (SELECT 1 FROM spaces)', 1],
    ["'a' < 'B'", 0],
    ["char(1) || 'a'", '\u0001a'],
    ['(SELECT json_group_array(value) FROM json_each(\'["a","b"]\'))', '["a","b"]'],
    ['(SELECT json_group_array(key) FROM spaces)', '[]'],
    ['(SELECT count(*) FROM spaces)', 0],
    ['(SELECT avg(value) FROM (SELECT 1 value UNION ALL SELECT 2) two)', 1.5],
    ['(SELECT coalesce(sum(key), 0) FROM spaces)', 0],
  ])('%s evaluates to %s', async (text, value, ofSqlite: unknown = value) => {
    expect([value, ofSqlite]).toContain(await one(text))
  })

  it('return as they were written', async () => {
    const { driver } = backend
    const bytes = Uint8Array.from({ length: 32 }, (_, place) => 255 - place)
    bytes[0] = 0
    const hash = Buffer.from(bytes)
    const [app, key] = [newId(), newId()]
    const text = 'é\u0001 "\' \\x00 😀 $1 ?'
    await driver.write(function* () {
      yield* sql.run(
        'INSERT INTO chat_apps (tenant, id, owner, body, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?)',
        [...['t', app, text, '{}', LAST, 1]],
      )
      yield* sql.run('INSERT INTO chat_keys (tenant, id, app_id, hash, hint, created_at) VALUES (?, ?, ?, ?, ?, ?)', [
        ...['t', key, app, bytes, 'h', 0],
      ])
      yield* sql.run(
        'INSERT INTO chat_annotation_replies (tenant, app_id, enabled, score_threshold) VALUES (?, ?, ?, ?)',
        [...['t', app, 1, 0.1]],
      )
    })
    expect(await driver.read(sql.get('SELECT * FROM chat_apps'))).toEqual({
      ...{ tenant: 't', id: app, owner: text, body: '{}', created_at: LAST, updated_at: 1 },
    })
    expect(await driver.read(sql.get('SELECT hash, revoked_at FROM chat_keys WHERE hash = ?', [bytes]))).toEqual({
      ...{ hash, revoked_at: null },
    })
    expect(await driver.read(sql.get('SELECT enabled, score_threshold FROM chat_annotation_replies'))).toEqual({
      ...{ enabled: 1, score_threshold: 0.1 },
    })
    expect(await driver.write(() => sql.run('DELETE FROM chat_apps'))).toEqual({ changes: 1 })
    expect(await driver.read(sql.all('SELECT * FROM chat_keys'))).toEqual([])
  })
})
