import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { bindTenantScope } from '../../../src/engine/base/bind-tenant-scope.js'
import { createPollLoop } from '../../../src/engine/base/poll-loop.js'
import { asDeployment, asTenant, getTenantScope } from '../../../src/engine/base/tenant-scope.js'

const ADA = { tenant: 'a', subject: 'ada' }
const BOB = { tenant: 'b', subject: 'bob' }

class Run {
  readonly #seen: unknown[] = []
  readonly note = () => this.#seen.push(getTenantScope())
  async *frames(): AsyncIterable<unknown> {
    yield getTenantScope()
    await sleep(1)
    yield getTenantScope()
  }
  get seen(): readonly unknown[] {
    return this.#seen
  }
}

async function all(pieces: AsyncIterable<unknown>): Promise<unknown[]> {
  const found: unknown[] = []
  for await (const piece of pieces) found.push(piece)
  return found
}

describe('operations of callers', () => {
  const operations = bindTenantScope({
    group: {
      who: async (_caller: typeof ADA) => getTenantScope(),
      now: (_caller: typeof ADA) => getTenantScope(),
      start: async (_caller: typeof ADA) => new Run(),
      async *follow(_caller: typeof ADA) {
        yield getTenantScope()
        await sleep(1)
        yield getTenantScope()
      },
      data: async (_caller: typeof ADA) => new Map([['a', 1]]),
    },
    key: async (_key: string) => getTenantScope(),
    health: () => getTenantScope(),
  })

  it('run in the scope of their tenant, also concurrently', async () => {
    expect(operations.group.now(ADA)).toEqual({ tenant: 'a' })
    expect(await Promise.all([operations.group.who(ADA), operations.group.who(BOB)])).toEqual([
      { tenant: 'a' },
      { tenant: 'b' },
    ])
    expect(getTenantScope()).toBeUndefined()
  })

  it('stay in that scope in streams, callbacks and data they return, whichever scope reads them', async () => {
    const run = await operations.group.start(ADA)
    expect(await asTenant('b', () => all(run.frames()))).toEqual([{ tenant: 'a' }, { tenant: 'a' }])
    asTenant('b', () => run.note())
    expect(run.seen).toEqual([{ tenant: 'a' }])
    expect(await all(operations.group.follow(ADA))).toEqual([{ tenant: 'a' }, { tenant: 'a' }])
    expect((await operations.group.data(ADA)).get('a')).toBe(1)
  })

  it('run without a scope when no caller is given', async () => {
    expect(await operations.key('k')).toBeUndefined()
    expect(operations.health()).toBeUndefined()
  })
})

describe('a tenant scope', () => {
  it('covers what starts inside it and nothing outside', async () => {
    const later = asTenant('a', () => sleep(5).then(() => getTenantScope()))
    expect(asDeployment(() => getTenantScope())).toBe('deployment')
    expect(getTenantScope()).toBeUndefined()
    expect(await later).toEqual({ tenant: 'a' })
  })

  it('covers the deployment in a poll loop, whichever tenant woke it', async () => {
    const seen = new Promise((resolve) => {
      const turns = createPollLoop(
        () => {
          resolve(getTenantScope())
          void turns.stop()
        },
        () => undefined,
      )
      asTenant('a', () => turns.wake())
    })
    expect(await seen).toBe('deployment')
  })
})
