import { expect, it } from 'vitest'
import { KsError } from '../../../../src/contract/errors.js'
import { ProviderFailure } from '../../../../src/engine/base/provider-failure.js'
import { toExpectedCounts } from '../../../../src/engine/ingest/compile/expected-counts.js'
import { embedPassages } from '../../../../src/engine/ingest/compile/passage-vectors.js'

const failed = (kind: 'status' | 'malformed' | 'context-too-long' | 'network', status?: number) =>
  new KsError('provider-failed', `it answered ${status ?? kind}`, {
    cause: new ProviderFailure(kind as 'status', 'x', status === undefined ? {} : { status }),
  })

/** A model that returns the length of each text, and fails on demand. */
function model(fail: (texts: string[], call: number) => unknown) {
  const calls: string[][] = []
  return {
    calls,
    reference: { pluginId: 'p', provider: 'p', model: 'm' },
    maxBatch: 8,
    async embed(texts: string[], purpose: 'query' | 'document') {
      expect(purpose).toBe('document')
      calls.push(texts)
      const error = fail(texts, calls.length)
      if (error !== undefined) throw error
      return texts.map((text) => Float32Array.of(text.length))
    },
  }
}
const signal = new AbortController().signal
const vector = (text: string) => Float32Array.of(text.length)

it('embedding sends several texts in one request, and none again if the model accepts them', async () => {
  const embedder = model(() => undefined)
  expect(await embedPassages(embedder, ['a', 'bb'], signal)).toEqual([vector('a'), vector('bb')])
  expect(embedder.calls).toEqual([['a', 'bb']])
})

it('when a model rejects one of several texts, the other texts get their vectors, in order', async () => {
  for (const error of [
    failed('status', 400),
    failed('status', 413),
    failed('status', 422),
    failed('context-too-long'),
  ]) {
    const embedder = model((texts) => (texts.includes('bad') ? error : undefined))
    const texts = ['a', 'bb', 'bad', 'cccc', 'ddddd']
    expect(await embedPassages(embedder, texts, signal)).toEqual([
      ...[vector('a'), vector('bb'), { refused: error.message }, vector('cccc'), vector('ddddd')],
    ])
    // Bisection, and no text is sent again that has its vector.
    expect(embedder.calls).toEqual([texts, ['text'], ['a', 'bb', 'bad'], ['a', 'bb'], ['bad'], ['cccc', 'ddddd']])
  }
})

it('embedding fails for all texts when the model rejects even a plain test word', async () => {
  const embedder = model(() => failed('status', 400))
  await expect(embedPassages(embedder, ['a', 'b'], signal)).rejects.toMatchObject({ code: 'provider-failed' })
  expect(embedder.calls).toEqual([['a', 'b'], ['text']])
})

it('embedding ends at once when the model fails for other reasons than the texts, even during bisection', async () => {
  const first = model(() => failed('status', 500))
  await expect(embedPassages(first, ['a', 'b'], signal)).rejects.toThrow('it answered 500')
  expect(first.calls).toHaveLength(1)
  const later = model((texts, call) =>
    call === 1 ? failed('status', 400) : texts[0] === 'b' ? failed('status', 503) : undefined,
  )
  await expect(embedPassages(later, ['a', 'b'], signal)).rejects.toThrow('it answered 503')
})

it('after an unusable response of a model its text is sent again, four times in total at most', async () => {
  const always = model((texts) => (texts[0] === 'odd' ? failed('malformed') : undefined))
  expect(await embedPassages(always, ['odd'], signal)).toEqual([{ refused: 'it answered malformed' }])
  expect(always.calls.filter(([text]) => text === 'odd')).toHaveLength(4)
  const twice = model((texts, call) => (texts[0] === 'odd' && call < 4 ? failed('malformed') : undefined))
  expect(await embedPassages(twice, ['odd'], signal)).toEqual([vector('odd')])
  const thenRefused = model((texts, call) =>
    texts[0] === 'odd' ? failed(call > 2 ? 'status' : 'malformed', 400) : undefined,
  )
  expect(await embedPassages(thenRefused, ['odd'], signal)).toEqual([{ refused: 'it answered 400' }])
  expect(thenRefused.calls).toEqual([['odd'], ['text'], ['odd']])
  const thenGone = model((texts, call) =>
    texts[0] === 'odd' ? (call > 2 ? failed('status', 503) : failed('malformed')) : undefined,
  )
  await expect(embedPassages(thenGone, ['odd'], signal)).rejects.toThrow('it answered 503')
})

it('the expected counts of an index equal the counters of its space, and zero without counters', () => {
  const head = { key: 1, seq: 7, nodes: 5, vector_space: 'v', vector_key: 2, dimension: 3, vectors: 4 }
  expect(toExpectedCounts(head)).toEqual({ seq: 7, nodes: 5, vectors: 4, vectorSpace: 'v' })
  const bare = { ...head, seq: null, nodes: null, vectors: null, vector_space: null }
  for (const none of [bare, undefined]) expect(toExpectedCounts(none)).toEqual({ seq: 0, nodes: 0, vectors: 0 })
})
