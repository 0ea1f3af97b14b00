import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { claimBatch, findNextBatch, isSuspect } from '../../../../src/engine/ingest/jobs/batch.js'
import { recoverJobs } from '../../../../src/engine/ingest/jobs/recovery.js'
import { releaseJobs } from '../../../../src/engine/ingest/jobs/release.js'
import { DEFAULT_POLICIES } from '../../../../src/engine/library/spaces/manifest.js'
import { insertNodes, reserveNodeKeys } from '../../../../src/engine/store/rows/nodes.js'
import type { SpaceRow } from '../../../../src/engine/store/rows/spaces.js'
import { insertVersionRows } from '../../../../src/engine/store/rows/versions.js'
import { openSmallStore, preparedDocument, type SmallStore } from '../../../helpers/store.js'

const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS
const MIB = 1024 * 1024

let store: SmallStore
beforeEach(async () => {
  store = await openSmallStore()
})
afterEach(() => store.end())

const files = (count: number, name = 'f') =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`${name}${n}.md`, `${name} ${n}`]))
const spaceOf = (maxActiveJobCount = 64): SpaceRow =>
  store.createSpace({ policies: { quotaPolicy: { ...DEFAULT_POLICIES.quotaPolicy, maxActiveJobCount } } })
const next = (last = 0) => store.db.now(findNextBatch(store.context, last))
const names = (found: ReturnType<typeof next>) => found?.work.map(({ document }) => document.filename)
const jobOf = (name: string) =>
  `(SELECT jobs.key FROM jobs JOIN documents ON documents.key = doc_key WHERE filename = '${name}')`
const setJob = (name: string, what: string) => store.run(`UPDATE jobs SET ${what} WHERE key = ${jobOf(name)}`)
const setSize = (name: string, bytes: number) =>
  store.run('UPDATE documents SET size_bytes = ? WHERE filename = ?', bytes, name)

describe('the next compilation batch', () => {
  it('does not exist when no job is due', async () => {
    expect(next()).toBeUndefined()
    const space = spaceOf()
    await store.upload(space, files(1))
    setJob('f0.md', `run_after = ${Date.now() + MINUTE_MS}`)
    expect(next()).toBeUndefined()
    setJob('f0.md', 'run_after = 0, completed_at = 1')
    expect(next()).toBeUndefined()
  })

  it('starts with the longest due job, and includes jobs postponed too far by a clock that was set back', async () => {
    const space = spaceOf()
    await store.upload(space, files(4))
    setJob('f0.md', 'run_after = 9')
    setJob('f2.md', 'run_after = 5')
    setJob('f3.md', `run_after = ${Date.now() + DAY_MS}`)
    expect(names(next())).toEqual(['f1.md', 'f2.md', 'f0.md', 'f3.md'])
  })

  it('rotates through the spaces', async () => {
    const spaces = [spaceOf(), spaceOf(), spaceOf()]
    for (const [n, space] of spaces.entries()) await store.upload(space, files(1, `s${n}-`))
    const [a, b, c] = spaces.map(({ key }) => key)
    expect([next(0), next(a), next(b), next(c)].map((found) => found?.spaceKey)).toEqual([a, b, c, a])
  })

  it('contains at most 32 jobs, so that a new space can have two batches', async () => {
    const space = spaceOf()
    await store.upload(space, files(40))
    expect(next()?.work).toHaveLength(32)
  })

  it('contains files of at most eight megabytes together', async () => {
    await store.upload(spaceOf(), files(12))
    store.run('UPDATE documents SET size_bytes = ?', MIB)
    expect(next()?.work).toHaveLength(8)
    setSize('f7.md', MIB - 1)
    setSize('f8.md', 1)
    expect(next()?.work).toHaveLength(9)
  })

  it('contains a file above one megabyte alone, in its order', async () => {
    await store.upload(spaceOf(), files(4))
    setSize('f1.md', MIB + 1)
    expect(names(next())).toEqual(['f0.md'])
    setSize('f0.md', MIB + 1)
    expect(names(next())).toEqual(['f0.md'])
    setSize('f0.md', 40 * MIB)
    expect(names(next())).toEqual(['f0.md'])
    setSize('f0.md', MIB)
    setSize('f1.md', MIB)
    expect(names(next())).toHaveLength(4)
  })

  it('contains a job alone that ran at two deaths of its process or failed twice', async () => {
    await store.upload(spaceOf(), files(3))
    setJob('f0.md', 'unclean_ends = 1, attempts = 1')
    expect(names(next())).toHaveLength(3)
    setJob('f0.md', 'unclean_ends = 2, attempts = 0')
    expect(names(next())).toEqual(['f0.md'])
    setJob('f0.md', 'unclean_ends = 0, attempts = 2')
    expect(names(next())).toEqual(['f0.md'])
    expect(next()?.work.map(({ job }) => isSuspect(job))).toEqual([true])
  })

  it('skips a space whose quota of active jobs is used up, and takes no more jobs than the quota allows', async () => {
    const [full, other] = [spaceOf(3), spaceOf()]
    await store.upload(full, files(5))
    expect(names(next())).toEqual(['f0.md', 'f1.md', 'f2.md'])
    setJob('f0.md', "claimed_by = 'a'")
    setJob('f1.md', "claimed_by = 'b'")
    expect(names(next())).toEqual(['f2.md'])
    setJob('f2.md', "claimed_by = 'c'")
    expect(next()).toBeUndefined()
    await store.upload(other, files(1, 'o'))
    expect(names(next())).toEqual(['o0.md'])
  })
})

describe('a job whose version is stored', () => {
  it('does not count for the quota of active jobs while it only waits for publication', async () => {
    const space = spaceOf(2)
    await store.upload(space, files(4))
    setJob('f0.md', "claimed_by = 'a', stage = 'nodes_generated'")
    expect(names(next())).toEqual(['f1.md', 'f2.md'])
    const beside = new Map([[space.key, 1]])
    expect(store.db.now(findNextBatch(store.context, 0, beside))?.work).toHaveLength(1)
    const found = next()?.work ?? []
    expect(store.write(() => claimBatch(store.context, space.key, found, beside))).toHaveLength(1)
    expect(store.db.now(findNextBatch(store.context, 0, beside))).toBeUndefined()
  })
})

describe('a claim on a batch', () => {
  it('covers only jobs that no other gateway has claimed', async () => {
    const space = spaceOf()
    await store.upload(space, files(3))
    const found = next()
    setJob('f1.md', "claimed_by = 'another'")
    const held = store.write(() => claimBatch(store.context, space.key, found?.work ?? []))
    expect(held.map(({ document, job }) => [document.filename, job.claimed_by, job.fence])).toEqual([
      ['f0.md', store.context.instance, 1],
      ['f2.md', store.context.instance, 1],
    ])
  })

  it('covers no more jobs than the quota of active jobs currently allows', async () => {
    const space = spaceOf(3)
    await store.upload(space, files(5))
    const found = next()
    setJob('f3.md', "claimed_by = 'another'")
    const held = store.write(() => claimBatch(store.context, space.key, found?.work ?? []))
    expect(held.map(({ document }) => document.filename)).toEqual(['f0.md', 'f1.md'])
    expect(store.write(() => claimBatch(store.context, space.key, found?.work.slice(2) ?? []))).toEqual([])
    setJob('f4.md', "claimed_by = 'another'")
    // A quota lowered meanwhile leaves zero, not a negative number.
    expect(store.write(() => claimBatch(store.context, space.key, found?.work.slice(2) ?? []))).toEqual([])
  })
})

describe('a released batch', () => {
  const failure = { code: 'internal', message: 'it broke' }

  it('becomes free at once and counts as no attempt when nothing failed', async () => {
    const [work] = await store.uploadAndClaim(spaceOf(), files(1))
    expect(store.write(() => releaseJobs(work === undefined ? [] : [work], 77))).toBe(0)
    expect(store.job(work?.job.id ?? '')).toMatchObject({ claimed_by: null, run_after: 0, attempts: 0, error: null })
    expect(store.rows('SELECT status FROM staged_commits')).toEqual([{ status: 'metadata-prepared' }])
  })

  it('waits and counts as an attempt when it failed', async () => {
    const works = await store.uploadAndClaim(spaceOf(), files(2))
    const before = Date.now()
    store.write(() => releaseJobs(works, 77, { failure, isTemporary: false, startsOver: false }))
    for (const { job } of works) {
      const now = store.job(job.id)
      expect(now).toMatchObject({ claimed_by: null, attempts: 1, waits: 0, waiting_since: null, error: 'it broke' })
      expect(now.run_after).toBeGreaterThanOrEqual(before + 400)
      expect(now.run_after).toBeLessThan(before + MINUTE_MS)
    }
    expect(store.rows('SELECT status, error_code, attempts FROM staged_commits')).toEqual(
      works.map(() => ({ status: 'failed-retryable', error_code: 'internal', attempts: 1 })),
    )
  })

  it('waits longer with each failure, at most half a minute for temporary failures', async () => {
    const [work] = await store.uploadAndClaim(spaceOf(), files(1))
    if (work === undefined) throw new Error('nothing was claimed')
    const pause = (changes: object, passes: boolean) => {
      store.run('UPDATE jobs SET claimed_by = ?', store.context.instance)
      const before = Date.now()
      store.write(() =>
        releaseJobs([{ ...work, job: { ...work.job, ...changes } }], 77, {
          failure,
          isTemporary: passes,
          startsOver: false,
        }),
      )
      return store.job(work.job.id).run_after - before
    }
    expect(pause({ attempts: 8, waits: 0 }, false)).toBeGreaterThan(2 * MINUTE_MS)
    expect(pause({ attempts: 8, waits: 0 }, true)).toBeLessThan(5000)
    expect(pause({ attempts: 0, waits: 8 }, true)).toBeGreaterThan(14_000)
    expect(pause({ attempts: 0, waits: 8 }, true)).toBeLessThan(35_000)
  })

  it('counts as no attempt for a temporary failure, and records since when it waits', async () => {
    const works = await store.uploadAndClaim(spaceOf(), files(1))
    store.write(() => releaseJobs(works, 77, { failure, isTemporary: true, startsOver: false }))
    expect(store.job(works[0]?.job.id ?? '')).toMatchObject({ attempts: 0, waits: 1, waiting_since: 77 })
    expect(store.rows('SELECT attempts FROM staged_commits')).toEqual([{ attempts: 0 }])
  })

  it('stays unchanged when another gateway has claimed it', async () => {
    const works = await store.uploadAndClaim(spaceOf(), files(1))
    store.run("UPDATE jobs SET claimed_by = 'another', fence = 2")
    store.write(() => releaseJobs(works, 77, { failure, isTemporary: false, startsOver: true }))
    expect(store.job(works[0]?.job.id ?? '')).toMatchObject({ claimed_by: 'another', attempts: 0, error: null })
    expect(store.rows('SELECT status FROM staged_commits')).toEqual([{ status: 'metadata-prepared' }])
  })

  it('starts over when its stored content may crash processes: its passages are removed from the index', async () => {
    const works = await store.uploadAndClaim(spaceOf(), files(2))
    for (const { job, document } of works) await stored(job.space_key, document.key)
    const again = { failure, isTemporary: false, startsOver: false }
    expect(store.write(() => releaseJobs(works.slice(0, 1), 77, again))).toBe(0)
    expect(store.job(works[0]?.job.id ?? '').stage).toBe('nodes_generated')
    store.run('UPDATE jobs SET claimed_by = ?', store.context.instance)
    const seq = store.write(() => releaseJobs(works, 77, { ...again, startsOver: true }))
    expect(store.rows('SELECT max(seq) seq, count(*) n FROM projection_log WHERE op < 0')).toEqual([{ seq, n: 2 }])
    expect(store.rows('SELECT key FROM nodes')).toEqual([])
    expect(store.rows('SELECT stage FROM jobs')).toEqual([{ stage: 'queued' }, { stage: 'queued' }])
  })
})

/** A version of one passage, as a compilation stores it before publication. */
async function stored(spaceKey: number, docKey: number): Promise<void> {
  const document = await preparedDocument('t', 'text')
  store.write(function* () {
    const versions = yield* insertVersionRows([{ owner: { spaceKey, docKey, version: 1 }, document }])
    const versionKey = versions[0]?.versionKey ?? 0
    const firstNode = yield* reserveNodeKeys(1)
    yield* insertNodes({ spaceKey, docKey, versionKey, firstNode }, document.nodes)
  })
  store.run("UPDATE jobs SET stage = 'nodes_generated' WHERE doc_key = ?", docKey)
}

describe('claims of a dead gateway', () => {
  it('become free with one more unclean end; claims of live gateways stay', async () => {
    const works = await store.uploadAndClaim(spaceOf(), files(2))
    setJob('f0.md', "claimed_by = 'gone', unclean_ends = 3")
    expect(store.write(() => recoverJobs())).toBe(1)
    expect(store.job(works[0]?.job.id ?? '')).toMatchObject({ claimed_by: null, unclean_ends: 4, completed_at: null })
    expect(store.job(works[1]?.job.id ?? '')).toMatchObject({ claimed_by: store.context.instance, unclean_ends: 0 })
  })

  it('fail their job permanently at the fifth death, with the reason, and leave nothing of its version', async () => {
    const works = await store.uploadAndClaim(spaceOf(), files(2))
    for (const { job, document } of works) await stored(job.space_key, document.key)
    setJob('f0.md', "claimed_by = 'gone', unclean_ends = 4")
    setJob('f1.md', "claimed_by = 'gone', unclean_ends = 3")
    expect(store.write(() => recoverJobs())).toBe(2)
    expect(store.rows('SELECT stage, unclean_ends FROM jobs ORDER BY key')).toEqual([
      { stage: 'failed', unclean_ends: 5 },
      { stage: 'nodes_generated', unclean_ends: 4 },
    ])
    expect(store.rows('SELECT parser_status, error_code FROM documents ORDER BY key')).toEqual([
      { parser_status: 'failed', error_code: 'crash-loop' },
      { parser_status: 'pending', error_code: null },
    ])
    expect(store.rows('SELECT doc_key FROM versions')).toEqual([{ doc_key: works[1]?.document.key }])
    const [ended] = store.rows<{ status: string; days: number }>(
      `SELECT status, round((expires_at - ${Date.now()}) / ${DAY_MS}.0) days FROM staged_commits WHERE error_code = 'crash-loop'`,
    )
    expect(ended).toEqual({ status: 'failed-terminal', days: 7 })
  })
})
