import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { BackgroundService } from '../../../src/engine/base/background-service.js'
import { asTenant, getTenantScope } from '../../../src/engine/base/tenant-scope.js'
import { until } from '../../helpers/until.js'

const nothing = () => undefined
const log = { debug: nothing, info: nothing, warn: nothing, error: nothing }

class Example extends BackgroundService<{ log: typeof log }> {
  protected override readonly failureMessage = 'the example failed'
  ticks = 0
  interval = Number.POSITIVE_INFINITY
  onTick: () => void | Promise<void> = nothing

  protected override intervalMs(): number {
    return this.interval
  }

  protected override tick(): void | Promise<void> {
    this.ticks++
    return this.onTick()
  }

  begin(work: Promise<void>): void {
    this.track(work)
  }
}

let service: Example
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  service = new Example({ log })
})
afterEach(async () => {
  await service.stop()
  vi.useRealTimers()
})

test('a background service without a context ignores wakes until its start', async () => {
  const late = new Example()
  late.wake()
  await late.poll()
  expect(late.ticks).toBe(0)
  late.start({ log })
  await late.poll()
  expect(late.ticks).toBe(1)
})

test('a background service runs its first tick and a delayed wake after their delays, unless it stops', async () => {
  service.start(undefined, 1000)
  service.wake(3000)
  await vi.advanceTimersByTimeAsync(999)
  expect(service.ticks).toBe(0)
  await vi.advanceTimersByTimeAsync(1)
  await until(() => service.ticks === 1)
  await vi.advanceTimersByTimeAsync(2000)
  await until(() => service.ticks === 2)
  service.wake(1000)
  await service.stop()
  await vi.advanceTimersByTimeAsync(5000)
  await service.drain()
  expect(service.ticks).toBe(2)
})

test('a background service repeats a failed tick after its interval, not at once', async () => {
  service.interval = 1000
  service.onTick = () => {
    throw new Error('the disk is full')
  }
  await service.poll()
  await vi.advanceTimersByTimeAsync(999)
  expect(service.ticks).toBe(1)
  await vi.advanceTimersByTimeAsync(1)
  await until(() => service.ticks === 2)
})

test('draining a background service waits for work that a tick started and the tick that this work wakes', async () => {
  let end: () => void = nothing
  service.onTick = () => {
    service.onTick = nothing
    const work = new Promise<void>((resolve) => {
      end = resolve
    })
    service.begin(work.then(() => service.wake()))
  }
  await service.poll()
  expect(service.isBusy).toBe(true)
  const drained = service.drain()
  end()
  await drained
  expect(service.isBusy).toBe(false)
  expect(service.ticks).toBeGreaterThanOrEqual(2)
})

test('a tick of a background service runs in the scope of the deployment, whichever tenant woke it', async () => {
  let scope: unknown
  service.onTick = () => {
    scope = getTenantScope()
  }
  asTenant('a', () => service.wake())
  await service.poll()
  expect(scope).toBe('deployment')
})
