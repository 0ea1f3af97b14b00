import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { RemoteRequestWatcher } from '../../src/engine/answers/chat/gateways/turn-watch.js'
import { ResearchRunner } from '../../src/engine/answers/research/runner.js'
import type { BackgroundService } from '../../src/engine/base/background-service.js'
import { EmbeddingMigrations } from '../../src/engine/ingest/compile/embedding-migrations.js'
import { TranscriptionQueue } from '../../src/engine/ingest/compile/transcription-queue.js'
import { VectorAudits } from '../../src/engine/ingest/compile/vector-audit.js'
import { VectorFiller } from '../../src/engine/ingest/compile/vector-filler.js'
import { JobRunner } from '../../src/engine/ingest/jobs/runner.js'
import { createSourceOperations } from '../../src/engine/ingest/sources/operations.js'
import { ConflictFinder } from '../../src/engine/knowledge/conflicts/finder.js'
import { Derivations } from '../../src/engine/knowledge/derived/derivation.js'
import { PageIndexer } from '../../src/engine/knowledge/derived/page-index/indexer.js'
import { PassageCache } from '../../src/engine/knowledge/derived/passage.js'
import { PictureDescriber } from '../../src/engine/knowledge/derived/pictures/describer.js'
import { GraphReadings } from '../../src/engine/knowledge/graph/readings.js'
import type { EngineContext } from '../../src/engine/library/context.js'
import { FailedQueryClustering } from '../../src/engine/retrieval/quality/clustering.js'
import { Gateway } from '../../src/engine/upkeep/gateways/gateway.js'
import { purgeSlice } from '../../src/engine/upkeep/retention/purge.js'
import { RetentionSweeper } from '../../src/engine/upkeep/retention/sweeper.js'
import { openSmallStore, PROVIDED, type SmallStore } from '../helpers/store.js'
import { until } from '../helpers/until.js'
import { gate } from './ingest/jobs/small-runner.js'

type Service = BackgroundService<EngineContext>

const SERVICES: Record<string, (context: EngineContext) => Service> = {
  'chat requests of other gateways': (context) => new RemoteRequestWatcher(context),
  'clusters of failed queries': () => new FailedQueryClustering(),
  conflicts: () => new ConflictFinder(),
  'embedding migrations': () => new EmbeddingMigrations(),
  gateway: (context) => new Gateway(context, () => undefined),
  'graph readings': (context) => new GraphReadings(context, new Derivations(context)),
  jobs: (context) => new JobRunner(context, purgeSlice),
  'page indexes': () => new PageIndexer(),
  pictures: () => new PictureDescriber(),
  'research tasks': (context) =>
    new ResearchRunner({ context, cache: new PassageCache(), derivations: new Derivations(context) }),
  retention: (context) => new RetentionSweeper(context),
  sources: (context) => createSourceOperations(context, async () => undefined).sync,
  transcriptions: () => new TranscriptionQueue(),
  'vector audits': (context) => new VectorAudits(context, () => undefined),
  vectors: () => new VectorFiller(),
}

describe.each(Object.entries(SERVICES))('the service of %s', (_name, create) => {
  let store: SmallStore
  let service: Service
  /** called in each tick before its work */
  let before: () => unknown
  let ticks: number
  let overlapping: number

  beforeEach(async () => {
    store = await openSmallStore({ visionModel: PROVIDED })
    service = create(store.context)
    before = () => undefined
    ticks = 0
    overlapping = 0
    watchTicks()
  })
  afterEach(async () => {
    await service.stop()
    vi.restoreAllMocks()
    await store.end()
  })

  function watchTicks(): void {
    // only a service itself calls its ticks
    const inside = service as unknown as { tick(): void | Promise<void> }
    const tick = inside.tick.bind(service)
    let running = 0
    inside.tick = async () => {
      ticks++
      running++
      overlapping = Math.max(overlapping, running)
      try {
        await before()
        await tick()
      } finally {
        running--
      }
    }
  }

  it('drains when nothing is due', async () => {
    await service.start(store.context)
    await service.drain()
    expect(ticks).toBeGreaterThan(0)
    expect(service.isBusy).toBe(false)
    expect(await service.active).toBe(0)
    expect(store.logged.filter(({ level }) => level === 'warn' || level === 'error')).toEqual([])
  })

  it('ticks once for several wakes, once more for wakes during a tick, and never twice at a time', async () => {
    await service.start(store.context)
    await service.drain()
    const held = gate()
    before = () => held.opened
    const first = ticks + 1
    for (let times = 0; times < 5; times++) service.wake()
    await until(() => ticks === first)
    for (let times = 0; times < 5; times++) service.wake()
    held.open()
    await service.drain()
    expect([ticks, overlapping]).toEqual([first + 1, 1])
  })

  it('logs a failed tick, waits with the next one, and continues when woken', async () => {
    await service.start(store.context)
    await service.drain()
    const [logged, ticked] = [store.logged.length, ticks]
    before = () => {
      throw new Error('the database is locked')
    }
    await service.poll()
    expect(store.logged.slice(logged)).toMatchObject([{ fields: { error: 'Error: the database is locked' } }])
    expect(ticks).toBe(ticked + 1)
    before = () => undefined
    await service.drain()
    expect(ticks).toBe(ticked + 2)
  })

  it('stops after the running tick and starts no other tick', async () => {
    await service.start(store.context)
    await service.drain()
    const held = gate()
    before = () => held.opened
    const last = ticks + 1
    service.wake()
    await until(() => ticks === last)
    service.wake()
    const steps: string[] = []
    const stopped = service.stop().then(() => steps.push('stopped'))
    await new Promise((resolve) => setImmediate(resolve))
    steps.push('released')
    held.open()
    await stopped
    service.wake()
    await service.drain()
    expect(steps).toEqual(['released', 'stopped'])
    expect(ticks).toBe(last)
  })

  it('keeps no process alive with its timers', async () => {
    const timers = vi.spyOn(globalThis, 'setTimeout')
    await service.start(store.context)
    await service.drain()
    const held = timers.mock.results.filter(({ value }) => (value as NodeJS.Timeout).hasRef())
    expect(held).toEqual([])
  })
})
