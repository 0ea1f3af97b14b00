import { describe, expect, it } from 'vitest'
import { type DaemonReading, formatDaemonStatus } from '../../src/cli/daemon-status.js'
import { formatSpaceStatus, type SpaceReading } from '../../src/cli/space-status.js'

const reading: DaemonReading = {
  file: {
    url: 'http://127.0.0.1:7733',
    instance: 'i',
    pid: 42,
    version: '0.1.0',
    startedAt: '2026-11-29T08:00:00.000Z',
    dataDir: '/data',
    mode: 'auto',
  },
  status: {
    instance: 'i',
    version: '0.1.0',
    mode: 'auto',
    startedAt: '2026-11-29T08:00:00.000Z',
    uptimeMs: 60_000,
    limits: { uploadBytes: 1, bulkFiles: 1, bulkBytes: 1 },
    activity: { activeJobs: 0, waitingJobs: 0 },
  },
  health: { ok: true, runtime: 'container-runtime', components: { database: true, jobs: true } },
  content: { spaces: 1, documents: 3293, documentBytes: 2048 },
  size: { bytes: 4096, isComplete: true },
}
const daemonLines = (changes: Partial<DaemonReading>, isAll = false) =>
  formatDaemonStatus({ ...reading, ...changes }, { isAll }).slice(2)

describe('the status of a daemon', () => {
  it('names documents, disk and work', () => {
    expect(daemonLines({})).toEqual([
      'documents 3,293 in 1 space · 2.0 KiB',
      'disk      4.0 KiB used',
      'work      nothing to do',
    ])
  })

  it('counts running work with its nouns', () => {
    const activity = { activeJobs: 1, waitingJobs: 1200, runningQueries: 1, backgroundTasks: 2 }
    expect(daemonLines({ status: { ...reading.status, activity } })).toContain(
      'work      reading 1 document · 1,200 waiting · answering 1 question · improving the search (2 tasks)',
    )
  })

  it('names parts that do not work, and all parts only with `--all`', () => {
    const health = { ...reading.health, components: { database: true, jobs: false } }
    expect(daemonLines({ health }).at(-1)).toBe('problems  not working: jobs; `ks doctor` checks why')
    expect(daemonLines({ health }, true).at(-1)).toBe('parts     database ok · jobs failed')
  })
})

const summary = { total: 53, ready: 53, building: 0, stale: 0, failed: 0 }
const none = { count: 0, truncated: false, items: [] }
const space: SpaceReading = {
  status: {
    knowledgeSpaceId: 's',
    tenantId: 'local',
    generatedAt: '2026-11-29T08:00:00.000Z',
    activeLeases: none,
    activeSessions: none,
    failedCommits: none,
    index: {
      nodeSchemaVersion: 1,
      projectionVersion: 1,
      projectionSetVersion: '1',
      summaries: { denseVector: summary, fts: summary, graph: { ...summary, total: 0, ready: 0 }, metadata: summary },
    },
    manifest: {
      manifestVersion: 1,
      metadataDialect: 'd',
      storageProvider: 'p',
      objectKeyPrefix: 'k',
      consistencyClass: 'path-consistent',
    },
    parser: { kind: 'k', policyVersion: '1' },
    storage: { healthy: true, provider: 'p', objectStorageKind: 'k' },
  },
  stats: {
    knowledgeSpaceId: 's',
    tenantId: 'local',
    generatedAt: '2026-11-29T08:00:00.000Z',
    window: { start: '2026-11-29T07:00:00.000Z', end: '2026-11-29T08:00:00.000Z', minutes: 60 },
    storage: { documentCount: 1, rawDocumentBytes: 1024 },
    projections: { denseVector: summary, fts: summary, graph: summary, metadata: summary, projectionVersion: 1 },
    commits: { failedRetryable: 0, failedTerminal: 0, sampled: 0, truncated: false },
    cache: { available: false, entries: 0, totalBytes: 0 },
    metrics: { available: false },
    runtime: { activeLeaseSampleCount: 0, activeSessionSampleCount: 0, truncated: false },
  },
  openJobs: 0,
  maxOpenJobs: 100,
}
const spaceLines = (changes: Partial<SpaceReading>, isAll = false) =>
  formatSpaceStatus({ ...space, ...changes }, { isAll, paint: (_, text) => text })

describe('the status of a space', () => {
  it('names documents, reading, search and problems', () => {
    expect(spaceLines({})).toEqual([
      'documents    1 · 1.0 KiB',
      'reading      nothing to read',
      'search       53 passages, all found by search',
      'problems     none',
    ])
  })

  it('counts what is pending or has failed', () => {
    const fts = { ...summary, ready: 40, building: 12, failed: 1 }
    const index = { ...space.status.index, summaries: { ...space.status.index.summaries, fts } }
    const commits = { ...space.stats.commits, failedTerminal: 1 }
    const lines = spaceLines({
      status: { ...space.status, index, storage: { ...space.status.storage, healthy: false } },
      stats: { ...space.stats, commits },
      openJobs: 1,
    })
    expect(lines).toContain('reading      1 document in progress')
    expect(lines).toContain('search       40 of 53 passages found by search, 12 pending, 1 failed')
    expect(lines).toContain('problems     the storage does not work; `ks doctor` checks why')
    expect(lines).toContain('problems     1 change failed; `ks jobs --state failed` shows why')
  })

  it('names leases, sessions and commits only with `--all`', () => {
    expect(spaceLines({}).join('\n')).not.toMatch(/lease|session|commit/)
    expect(spaceLines({}, true).join('\n')).toMatch(/leases +0 active\nsessions +0 active\ncommits +0 failed$/)
  })
})
