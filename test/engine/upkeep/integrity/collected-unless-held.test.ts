import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { GcCandidate } from '../../../../src/contract/gateway/integrity.js'
import type { SpaceRow } from '../../../../src/engine/store/rows/spaces.js'
import { ADA } from '../../../helpers/engine.js'
import { passages } from '../../../helpers/store.js'
import { DAY_MS, forged, openSmallSpaces, type SmallSpaces, uuid } from './small-space.js'

const EVE = { tenant: ADA.tenant, subject: 'eve' }

let small: SmallSpaces
let space: SpaceRow
beforeEach(async () => {
  small = await openSmallSpaces()
  space = small.store.createSpace()
})
afterEach(() => small.store.end())

const collect = (candidates: GcCandidate[], caller = ADA) => small.integrity.gcExecute(caller, space.id, candidates)

describe('garbage under a lease', () => {
  it.each([
    ['by its id', (key: string) => ({ id: 'held', objectKey: key })],
    ['by its path', (key: string) => ({ virtualPath: '/held', objectKey: key })],
    ['by its document', (key: string) => ({ documentAssetId: 'held', objectKey: key })],
    ['by its key', (key: string) => ({ objectKey: key })],
  ])('stays until the lease that names it %s is released', async (_, names) => {
    const key = small.object('a')
    const lease = small.store.context.leases.acquire({
      ...{ spaceKey: space.key, sessionId: 's', type: 'delete', targetType: 'path' },
      ...('virtualPath' in names(key) || Object.keys(names(key)).length > 1
        ? { targetId: 'held', virtualPath: '/held' }
        : { targetId: key, virtualPath: '/other' }),
    })
    const asked = forged('staged-object', { type: 'raw-object', ...names(key) })
    expect(await collect([asked])).toMatchObject({ items: [{ status: 'skipped-active-lease' }] })
    expect(small.isThere(key)).toBe(true)
    lease.release()
    expect(await collect([asked])).toMatchObject({ items: [{ status: 'deleted' }] })
  })

  it('stays while any gateway compiles its document', async () => {
    const [work] = await small.store.uploadAndClaim(space, { 'a.md': 'one' })
    const document = work?.document.id ?? ''
    const asked = [
      { documentAssetId: document },
      { virtualPath: `/knowledge/documents/${document}` },
      { id: document },
    ].map((names, place) =>
      forged('staged-object', { type: 'raw-object', objectKey: small.object(`${place}`), ...names }, `gc-${place}`),
    )
    expect(await collect(asked)).toMatchObject({ deleted: 0 })
    small.store.run('UPDATE jobs SET claimed_by = NULL')
    expect(await collect(asked)).toMatchObject({ deleted: 3 })
  })
})

describe('a caller who may not read a source', () => {
  it('sees no garbage of that source among the candidates, and cannot collect it', async () => {
    small.restrict(space, 'secret', 'ada')
    await small.publish(space, { 'a.md': passages('one', 'two'), 'b.md': 'three' })
    small.store.run("UPDATE documents SET source_id = 'secret' WHERE filename = 'a.md'")
    small.store.run('UPDATE versions SET from_revision = NULL WHERE doc_key = 1')
    const key = small.object('a')
    const later = { expires_at: small.clock.now + DAY_MS }
    small.commit(space, uuid(1), { source_id: 'secret' })
    small.commit(space, uuid(2), { source_id: 'secret', published_object_key: key, ...later })
    small.temporary(uuid(2))
    small.commit(space, uuid(3))
    const all = await small.candidates(space)
    expect(all.map(({ candidateType }) => candidateType)).toEqual([
      ...['staged-object', 'staged-object', 'failed-commit', 'failed-commit', 'parse-artifact'],
    ])
    const theirs = await small.candidates(space, EVE)
    expect(theirs.map(({ target }) => target.id)).toEqual([uuid(3)])
    const done = await collect(all, EVE)
    expect(done.items.filter(({ status }) => status === 'deleted').map(({ objectKey }) => objectKey)).toEqual([uuid(3)])
    expect(await collect(all)).toMatchObject({ deleted: 5 })
  })
})
