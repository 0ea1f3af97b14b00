import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { KsError } from '../../../../src/contract/errors.js'
import type { EvidenceBundle, EvidenceState } from '../../../../src/contract/gateway/queries.js'
import type { EngineContext } from '../../../../src/engine/library/context.js'
import { answerQuery } from '../../../../src/engine/retrieval/query/answer.js'
import type { AnswerPart } from '../../../../src/engine/retrieval/query/model-answer.js'
import type { RetrievalResult } from '../../../../src/engine/retrieval/query/retrieval.js'
import type { SpaceRow } from '../../../../src/engine/store/rows/spaces.js'
import { openSmallStore, type SmallStore } from '../../../helpers/store.js'
import { admitted, evidenceOf, MODEL, never, type Reply, speaking } from './small-space.js'

let store: SmallStore
let space: SpaceRow
let context: EngineContext
beforeAll(async () => {
  store = await openSmallStore()
  space = store.createSpace()
})
afterAll(() => store.end())
beforeEach(() => {
  context = { ...store.context }
})

const ITEMS = [
  evidenceOf('tower', 'The tower of Brest is 40 metres high.'),
  evidenceOf('lamp', 'The lamp was lit in 1908.'),
]
const bundleOf = (state: EvidenceState, more: Partial<EvidenceBundle> = {}): EvidenceBundle => ({
  ...{ id: 'i', query: QUESTION, createdAt: '', state, items: ITEMS, missingEvidence: [] },
  ...more,
})
const QUESTION = 'How high is the tower of Brest?'
const NOTHING = 'Nothing was found for “high tower Brest”.'
const CLOSEST = 'Closest passages:\n\n'
const TOWER = '[1] tower.md\n\nThe tower of Brest is 40 metres high.'
const LIMIT = { holdsMore: false }

interface AnswerOptions {
  query?: string
  turns?: { query: string; answer: string }[]
  bundle?: EvidenceBundle
  withheld?: typeof LIMIT
  profile?: object
  signal?: AbortSignal
}

async function answered({
  query = QUESTION,
  turns = [],
  bundle = bundleOf('answerable'),
  withheld,
  profile,
  signal = never,
}: AnswerOptions = {}) {
  const parts: AnswerPart[] = []
  const retrieved = { idf: () => 3, ...(withheld && { withheld }) } as unknown as RetrievalResult
  const request = { context, admitted: admitted(store, space, { profile: profile ?? {} }), query, turns, signal }
  for await (const part of answerQuery(request, bundle, retrieved)) parts.push(part)
  const text = parts.flatMap((part) => (part.type === 'delta' ? [part.text] : [])).join('')
  const end = parts.at(-1)
  if (end?.type !== 'end') throw new Error('the answer has no end')
  return { parts, text, metadata: end.metadata, bundle: end.bundle }
}
const missing = ({ bundle }: { bundle: EvidenceBundle }) =>
  bundle.missingEvidence.map(({ reason, text }) => `${reason}: ${text}`)

describe('an extractive answer', () => {
  it('puts the filename and citation mark of a passage before its quotation', async () => {
    const { text, metadata, bundle } = await answered()
    expect(text).toBe(TOWER)
    expect(metadata).toEqual({
      ...{ generator: 'extractive', synthesis: 'extractive', decidedBy: 'rules', cited: [1] },
      quotation: { probability: expect.any(Number), blocks: [{ cited: 1, start: 14, end: TOWER.length, marks: [] }] },
    })
    expect(bundle).toEqual(bundleOf('answerable'))
  })

  it('cites each passage once', async () => {
    const items = [
      evidenceOf('one', 'The tower of Brest is high. Its lamp of Brest is bright.'),
      evidenceOf('two', 'The keeper of Brest sleeps there.'),
    ]
    const query = 'tower of Brest, lamp of Brest and keeper'
    const { text, metadata } = await answered({ query, bundle: bundleOf('answerable', { items }) })
    expect(text).toBe(
      '[1] one.md\n\nThe tower of Brest is high. Its lamp of Brest is bright.\n\n[2] two.md\n\nThe keeper of Brest sleeps there.',
    )
    expect(metadata.cited).toEqual([1, 2])
  })

  it('begins with "Closest passages" if the state is partial', async () => {
    const { text, metadata } = await answered({ bundle: bundleOf('partial') })
    expect(text).toBe(`${CLOSEST}${TOWER}`)
    const { blocks } = metadata.quotation as { blocks: { start: number; end: number }[] }
    expect(text.slice(blocks[0]?.start, blocks[0]?.end)).toBe('The tower of Brest is 40 metres high.')
  })

  it('begins with "Closest passages" if a better passage is withheld', async () => {
    expect((await answered({ bundle: bundleOf('permission-limited'), withheld: LIMIT })).text).toBe(
      `${CLOSEST}${TOWER}`,
    )
  })

  it('states that nothing was found, with the terms of the question, if no passage can be quoted', async () => {
    const ask = (state: EvidenceState, withheld?: typeof LIMIT) =>
      answered({ bundle: bundleOf(state, { items: [] }), ...(withheld && { withheld }) })
    const empty = await ask('partial')
    expect(empty.text).toBe(NOTHING)
    expect(empty.bundle.state).toBe('not-enough-evidence')
    expect(missing(empty)).toEqual([expect.stringMatching(/^not-retrieved: /)])
    expect(empty.metadata).toEqual({ generator: 'extractive', synthesis: 'none', decidedBy: 'rules', cited: [] })
    expect((await ask('partial', LIMIT)).bundle.state).toBe('permission-limited')
    expect((await ask('permission-limited')).bundle.state).toBe('permission-limited')
    const refused = await answered({ bundle: bundleOf('not-enough-evidence') })
    expect([refused.text, refused.bundle.state, refused.metadata.synthesis]).toEqual([
      NOTHING,
      'not-enough-evidence',
      'none',
    ])
  })

  it('replies to small talk with small talk, and reports not-enough-evidence', async () => {
    const thanks = await answered({ query: 'Thanks!' })
    expect(thanks.text).toMatch(/^\p{L}/u)
    expect(thanks.text).not.toContain('[1]')
    expect(thanks.text).not.toBe(NOTHING)
    expect(thanks.bundle.state).toBe('not-enough-evidence')
    expect(thanks.metadata.synthesis).toBe('none')
    expect((await answered({ query: 'Thanks!', bundle: bundleOf('permission-limited') })).bundle.state).toBe(
      'permission-limited',
    )
  })
})

describe('an answer to a follow-up question', () => {
  const turns = [{ query: QUESTION, answer: '40 metres.' }]

  it('quotes passages that add to the previous question', async () => {
    const query = 'And when was its lamp lit?'
    const items = [evidenceOf('lamp', 'The lamp of the tower of Brest was lit in 1908.')]
    const more = await answered({ query, turns, bundle: bundleOf('answerable', { items }) })
    expect(more.text).toBe('[1] lamp.md\n\nThe lamp of the tower of Brest was lit in 1908.')
  })

  it('states that no passage has more about the previous question', async () => {
    const more =
      'This question refers to the one before it, and no passage has more about that. Ask it as a complete question.'
    const known = [
      { reason: 'not-retrieved' as const, text: 'old', metadata: {} },
      { reason: 'stale' as const, text: 'old', metadata: {} },
    ]
    const found = await answered({
      query: 'And its keepers?',
      turns,
      bundle: bundleOf('partial', { missingEvidence: known }),
    })
    expect(found.text).toBe(more)
    expect(found.bundle.state).toBe('not-enough-evidence')
    expect(missing(found)).toEqual([
      'not-retrieved: the question refers to the one before it, and no passage has more about that',
      'stale: old',
    ])
    const refused = bundleOf('not-enough-evidence')
    expect((await answered({ query: 'And its keepers?', turns, bundle: refused })).text).toBe(more)
    // A longer question may be complete without the previous one.
    expect((await answered({ query: 'And which keepers painted boats?', turns, bundle: refused })).text).toBe(
      'Nothing was found for “keepers painted boats”.',
    )
  })
})

describe('an answer of a chat model', () => {
  const profile = { reasoningModel: MODEL }
  const ask = (reply: Reply, more: AnswerOptions = {}) => {
    const asked = speaking(context, reply)
    return answered({ profile, ...more }).then((found) => ({ ...found, asked }))
  }

  it('reports its model, provider, usage, context and who decided its state in the metadata', async () => {
    const { text, metadata, bundle, asked } = await ask('It is 40 metres high [1].', { bundle: bundleOf('partial') })
    expect(text).toBe('It is 40 metres high [1].')
    expect(metadata).toEqual({
      ...{ generator: 'model', synthesis: 'model', decidedBy: 'model', reasoningModel: MODEL, model: MODEL.model },
      ...{ provider: MODEL.provider, providerFinishReason: 'stop', cited: [1] },
      context: { contextTokens: 8000, passages: 2, cut: 0, leftOut: 0 },
      providerMetadata: { usage: { inputTokens: 5, outputTokens: 2 } },
    })
    expect(bundle.state).toBe('answerable')
    expect(asked).toHaveLength(1)
    const silent = await ask([
      { type: 'delta', text: 'It is 40 metres.' },
      { type: 'end', finishReason: 'stop' },
    ])
    expect(silent.metadata).not.toHaveProperty('providerMetadata')
  })

  it('gets citation marks of one form, and cites only passages that the model received', async () => {
    const { text, metadata } = await ask('It is 40 metres [1, 2], not less [7].')
    expect(text).toBe('It is 40 metres [1][2], not less.')
    expect(metadata.cited).toEqual([1, 2])
  })

  it('loses statements that no passage supports, and stays partial if the rules are not sure', async () => {
    const some = await ask('It is 40 metres high [1]. It has 77 bells [2].', { bundle: bundleOf('partial') })
    expect([some.text, some.bundle.state]).toEqual(['It is 40 metres high [1].', 'partial'])
    const limited = await ask('It is 40 metres high [1]. It has 77 bells [2].', { withheld: LIMIT })
    expect([limited.bundle.state, limited.metadata.decidedBy]).toEqual(['permission-limited', 'rules'])
    expect(missing(limited)).toEqual([
      expect.stringMatching(/^permission-filtered: a passage that answers was omitted/),
    ])
  })

  it('yields to the quotation if no passage supports the answer', async () => {
    const invented = await ask('It is 99 metres high [1].')
    expect(invented.text).toBe(TOWER)
    expect(invented.metadata).toMatchObject({ generator: 'extractive', modelAnswer: 'unsupported' })
    const unsure = await ask('It is 99 metres high [1].', { bundle: bundleOf('partial') })
    expect([unsure.text, unsure.bundle.state]).toEqual([`${CLOSEST}${TOWER}`, 'partial'])
  })

  it.each(['The sources do not answer the question.', 'Das steht dort nicht [1].'])(
    'that declines is sent, unless the quotation is sure: %s',
    async (said) => {
      const declined = await ask(said, { bundle: bundleOf('partial') })
      expect([declined.text, declined.bundle.state]).toEqual([said.replace(' [1]', ''), 'not-enough-evidence'])
      expect(declined.metadata).toMatchObject({ generator: 'model', decidedBy: 'model', cited: [] })
      expect(missing(declined)).toEqual([expect.stringMatching(/^not-retrieved: /)])
      const sure = await ask(said)
      expect([sure.text, sure.bundle.state]).toEqual([TOWER, 'answerable'])
      expect(sure.metadata).toMatchObject({ generator: 'extractive', modelAnswer: 'declined' })
    },
  )

  it('yields to a sure quotation if the answer states something else', async () => {
    const other = await ask('The lamp was lit in 1908 [2].')
    expect(other.text).toBe(TOWER)
    expect(other.metadata).toMatchObject({ generator: 'extractive', modelAnswer: 'unsupported' })
  })

  it('stays partial if it quotes something else than the quotation and the rules are not sure', async () => {
    const other = await ask('The lamp was lit in 1908 [2].', { bundle: bundleOf('partial') })
    expect([other.text, other.bundle.state]).toEqual(['The lamp was lit in 1908 [2].', 'partial'])
  })

  it('stays partial if it lacks the requested type of answer and the rules are not sure', async () => {
    const items = [evidenceOf('tower', 'The tower of Brest is white.')]
    const { text, bundle } = await ask('It is white [1].', { bundle: bundleOf('partial', { items }) })
    expect([text, bundle.state]).toEqual(['It is white [1].', 'partial'])
  })

  it('keeps the state permission-limited of the rules, whatever the model cites', async () => {
    const { bundle, metadata } = await ask('It is 40 metres high [1].', {
      bundle: bundleOf('permission-limited'),
      withheld: LIMIT,
    })
    expect([bundle.state, metadata.decidedBy]).toEqual(['permission-limited', 'rules'])
  })

  it('comes from the model even if passages share no terms with the question', async () => {
    const found = await ask('It is 40 metres [1].', { bundle: bundleOf('not-enough-evidence') })
    expect([found.text, found.bundle.state]).toEqual(['It is 40 metres [1].', 'partial'])
    const talk = await ask('You are welcome.', { query: 'Thanks!' })
    expect(talk.text).toBe('You are welcome.')
  })

  it('passes unchecked if the question is longer than 300 characters, since it may contain the answer', async () => {
    const query = `${'We met the mayor of Cork. '.repeat(700)}Whom did we meet?`
    const found = await ask('The mayor of Cork.', { query })
    expect([found.text, found.bundle.state]).toEqual(['The mayor of Cork.', 'partial'])
  })

  it('yields to built-in small talk if the reply to a greeting is no sentence or claims a name', async () => {
    for (const said of ['Hello!', 'Hello, I am Gregor Samsa.']) {
      const talk = await ask(said, { query: 'Hi' })
      expect([talk.text, talk.bundle.state]).toEqual(['Hello! What would you like to know?', 'not-enough-evidence'])
      expect(talk.metadata).toMatchObject({ synthesis: 'none', modelAnswer: 'unsupported', cited: [] })
    }
  })

  it('requires evidence: the model is not called if no passage was found', async () => {
    const found = await ask('It is [1].', { bundle: bundleOf('not-enough-evidence', { items: [] }) })
    expect([found.text, found.asked]).toEqual([NOTHING, []])
  })

  it('comes from the default model of the daemon if the profile names no model', async () => {
    context.options = { ...context.options, defaultGenerator: MODEL }
    expect((await ask('It is 40 metres [1].', { profile: {} })).metadata.generator).toBe('model')
  })

  it('comes from a request with the earlier turns of the conversation', async () => {
    const turns = [{ query: 'First?', answer: 'One.' }]
    const { asked } = await ask('It is [1].', { turns })
    expect(asked[0]?.messages.map(({ content }) => content).slice(1, 3)).toEqual(['First?', 'One.'])
  })

  it('yields to a quotation if the model fails before its first text', async () => {
    const failed = await ask(new KsError('provider-failed', 'the provider is off'))
    expect(failed.text).toBe(TOWER)
    expect(failed.parts[0]).toMatchObject({
      type: 'failed-attempt',
      metadata: {
        synthesis: 'model',
        model: MODEL.model,
        provider: MODEL.provider,
        errorClass: 'provider-failed',
        degraded: true,
      },
      degraded: { part: 'answer', class: 'unavailable', reason: expect.stringContaining('the provider is off') },
    })
    expect((await ask(new Error('off'))).parts[0]).toMatchObject({ metadata: { errorClass: 'internal' } })
    expect((await ask(new Error('off'), { query: 'Thanks!' })).text).not.toContain('Thanks')
  })

  it('fails if the model fails after the first complete statement, or if the query was aborted', async () => {
    await expect(ask([{ type: 'delta', text: 'It is 40 metres. It' }, new Error('off')])).rejects.toThrow('off')
    const gone = new AbortController()
    gone.abort(new Error('gone'))
    await expect(ask(new Error('off'), { signal: gone.signal })).rejects.toThrow('off')
    // An incomplete statement is not sent.
    expect((await ask([{ type: 'delta', text: 'It is 40 ' }, new Error('off')])).metadata).toMatchObject({
      ...{ generator: 'extractive', modelAnswer: 'failed' },
    })
  })
})
