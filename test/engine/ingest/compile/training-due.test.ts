import { describe, expect, it } from 'vitest'
import { computeRetryDelayMs } from '../../../../src/engine/base/provider-problem.js'
import { isTrainingDue } from '../../../../src/engine/ingest/compile/training.js'
import { LSA_MAX_DOCUMENTS, LSA_MIN_DOCUMENTS } from '../../../../src/engine/models/builtin/lsa-corpus.js'

const MINUTE_MS = 60_000

describe('the pause before a failed provider is called again', () => {
  const pauses = (attempts: number, retryAfterMs?: number, isPermanent = false) =>
    Array.from({ length: 50 }, () =>
      computeRetryDelayMs(
        { class: 'timeout', message: '', isPermanent, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) },
        attempts,
      ),
    )

  it('doubles with each failure and varies randomly', () => {
    const [first, second] = [pauses(0), pauses(1)]
    expect(new Set(first).size).toBeGreaterThan(10)
    const longest = Math.max(...first)
    expect(Math.min(...first)).toBeGreaterThanOrEqual(longest / 2 - 1)
    expect(Math.max(...second) / longest).toBeGreaterThan(1.5)
    expect(Math.max(...second) / longest).toBeLessThan(2.5)
  })

  it('stays below an upper bound, however many failures there were', () => {
    expect(Math.max(...pauses(60))).toBeLessThanOrEqual(Math.max(...pauses(20)) * 2)
    expect(Math.max(...pauses(60))).toBeLessThan(60 * MINUTE_MS)
  })

  it('lasts at least as long as the provider asked, up to a bound', () => {
    expect(Math.min(...pauses(0, 2 * MINUTE_MS))).toBeGreaterThanOrEqual(2 * MINUTE_MS)
    expect(Math.max(...pauses(0, 1e12))).toBeLessThan(1e12)
    expect(Math.min(...pauses(10, 1))).toBeGreaterThan(1)
  })

  it('stays long and constant for failures that only a person can fix', () => {
    const permanent = pauses(0, undefined, true)
    expect(new Set(permanent).size).toBe(1)
    expect(permanent[0]).toBeGreaterThan(Math.max(...pauses(0)))
    expect(pauses(9, 5, true)).toEqual(permanent)
  })
})

describe('training of an embedding model', () => {
  /** Whether training is due with the given number of passages and of passages of the current model. */
  function isDue(nodes: number, trained: number | undefined, busy = false, plugin = 'builtin'): boolean {
    const space = { key: 1, embedding_plugin: plugin, vector_space: 'v' }
    const program = isTrainingDue({} as never, space as never, busy)
    const active = trained === undefined ? undefined : { key: 1, id: 'v', dimension: 8, trained_nodes: trained }
    let step = program.next()
    while (step.done !== true)
      step = program.next(/FROM space_usage/.test(JSON.stringify(step.value)) ? { live: nodes, building: 0 } : active)
    return step.value
  }

  it('starts when a space has enough text for its first model', () => {
    expect(isDue(LSA_MIN_DOCUMENTS - 1, undefined)).toBe(false)
    expect(isDue(LSA_MIN_DOCUMENTS, undefined)).toBe(true)
    expect(isDue(LSA_MIN_DOCUMENTS, undefined, true)).toBe(true)
  })

  it('repeats when the space has grown by a tenth, or sixteenfold while documents still arrive', () => {
    expect(isDue(109, 100)).toBe(false)
    expect(isDue(111, 100)).toBe(true)
    expect(isDue(1599, 100, true)).toBe(false)
    expect(isDue(1600, 100, true)).toBe(true)
    expect(isDue(100, 0)).toBe(true)
  })

  it('repeats in a large space when it has grown by half', () => {
    expect(isDue(LSA_MAX_DOCUMENTS * 1.4, LSA_MAX_DOCUMENTS)).toBe(false)
    expect(isDue(LSA_MAX_DOCUMENTS * 1.5, LSA_MAX_DOCUMENTS)).toBe(true)
    expect(isDue(LSA_MAX_DOCUMENTS * 1.4, LSA_MAX_DOCUMENTS - 1)).toBe(true)
  })

  it('never happens when a provider supplies the vectors', () => {
    expect(isDue(1000, undefined, false, 'openai')).toBe(false)
  })
})
