import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { asDeployment, asTenant, getTenantScope, streamAsTenant } from '../../../src/engine/base/tenant-scope.js'
import { bind } from '../../../src/engine/store/bind-operation.js'

const ADA = { tenant: 'a', subject: 'ada' }
const BOB = { tenant: 'b', subject: 'bob' }

async function* follow(_caller: typeof ADA) {
  yield getTenantScope()
  await sleep(1)
  yield getTenantScope()
}

async function all(pieces: AsyncIterable<unknown>): Promise<unknown[]> {
  const found: unknown[] = []
  for await (const piece of pieces) found.push(piece)
  return found
}

describe('operations of callers', () => {
  const now = bind((given: string, _caller: typeof ADA) => [given, getTenantScope()], 'given')
  const who = bind(async (_caller: typeof ADA) => getTenantScope())

  it('run in the scope of the tenant of the caller, even while operations of another tenant run', async () => {
    expect(now(ADA)).toEqual(['given', { tenant: 'a' }])
    expect(await Promise.all([who(ADA), who(BOB)])).toEqual([{ tenant: 'a' }, { tenant: 'b' }])
    expect(getTenantScope()).toBeUndefined()
  })
})

describe('a stream of a tenant', () => {
  it('runs in the scope of the tenant, whichever scope reads it', async () => {
    const pieces = streamAsTenant('a', () => follow(ADA))
    expect(await asTenant('b', () => all(pieces))).toEqual([{ tenant: 'a' }, { tenant: 'a' }])
    expect(await all(streamAsTenant('a', () => follow(ADA)))).toEqual([{ tenant: 'a' }, { tenant: 'a' }])
  })

  it('ends its source in the scope of the tenant when the reader stops early', async () => {
    let ended: unknown
    const source = async function* () {
      try {
        yield 1
      } finally {
        ended = getTenantScope()
      }
    }
    for await (const _ of streamAsTenant('a', source)) break
    expect(ended).toEqual({ tenant: 'a' })
  })
})

describe('a tenant scope', () => {
  it('covers what starts inside it and nothing outside', async () => {
    const later = asTenant('a', () => sleep(5).then(() => getTenantScope()))
    expect(asDeployment(() => getTenantScope())).toBe('deployment')
    expect(getTenantScope()).toBeUndefined()
    expect(await later).toEqual({ tenant: 'a' })
  })
})
