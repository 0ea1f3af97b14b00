import { describe, expect, it } from 'vitest'
import { type Candidate, prepare, type TermSigns } from '../../../../src/engine/query/extractive/candidates.js'
import { choose, typedAs, WEIGHTS, type Weighed } from '../../../../src/engine/query/extractive/choose.js'

const NOTHING: TermSigns = {
  ...{ covered: 0, before: 0, titled: 0, passage: 0, adjacent: 0, rank: 0, opens: 0, near: 0, named: 1, lists: 0 },
}
let place = 0
const candidate = (text: string, signs: Partial<TermSigns> = {}, more: Partial<Candidate> = {}): Candidate => ({
  ...{ evidenceIndex: place++, order: 0, text, held: new Set<string>(), covered: 1, signs: { ...NOTHING, ...signs } },
  ...more,
})
/** A candidate of so many logits. */
const of = (logits: number, text: string, more?: Partial<Candidate>) =>
  candidate(text, { covered: logits / WEIGHTS.covered }, more)
const chosen = (query: string, ...candidates: Candidate[]) =>
  choose(
    prepare(query, () => 1),
    candidates,
  ).map(({ text }) => text)
const PLAIN = 'lamp of tower'

describe('the sentences that are chosen', () => {
  it('are none of none', () => {
    expect(chosen(PLAIN)).toEqual([])
  })

  it('are one where it is sure', () => {
    expect(chosen(PLAIN, of(1, 'weak'), of(3, 'sure'))).toEqual(['sure'])
    // shares of e^0.7 : 1, that is .668 and .332, and of e^0.5 : 1, that is .622 and .378
    expect(chosen(PLAIN, of(0.7, 'best'), of(0, 'next'))).toEqual(['best'])
    expect(chosen(PLAIN, of(0.5, 'best'), of(0, 'next'))).toEqual(['best', 'next'])
  })

  it('are three at the most, the likeliest first, and none that is unlikely', () => {
    expect(chosen(PLAIN, of(1, 'c'), of(1.2, 'a'), of(1.1, 'b'), of(0.9, 'd'))).toEqual(['a', 'b', 'c'])
    const many = Array.from({ length: 11 }, (_, n) => of(0, `same ${n}`))
    expect(chosen(PLAIN, of(1, 'a'), ...many)).toHaveLength(3)
    // eleven of e^1.6 hold .99 of it, and none of them a twentieth less than .08
    const pale = Array.from({ length: 10 }, (_, n) => of(-2.5, `pale ${n}`))
    expect(chosen(PLAIN, of(0, 'a'), of(-0.1, 'b'), ...pale)).toEqual(['a', 'b'])
  })

  it('are of the passage that ranks first where two are alike, and the same sentence once', () => {
    expect(chosen(PLAIN, of(1, 'b', { evidenceIndex: 5 }), of(1, 'a', { evidenceIndex: 2 }))).toEqual(['a', 'b'])
    expect(chosen(PLAIN, of(1, 'same'), of(1, 'same'), of(1, 'other'), of(1, 'more'))).toEqual(['same', 'other'])
  })

  it.each(['covered', 'near', 'before', 'titled', 'passage', 'adjacent', 'rank', 'opens', 'lists'] as const)(
    'are those with more of the sign %s',
    (sign) => {
      const strong = candidate('strong', { [sign]: 1 }, { evidenceIndex: 9 })
      const weak = candidate('weak', { [sign]: 0 }, { evidenceIndex: 1 })
      expect(chosen(PLAIN, weak, strong)[0]).toBe('strong')
    },
  )

  it('mention a name of the question, where any does', () => {
    const named = (share: number, text: string) => candidate(text, { named: share, covered: share === 0 ? 1 : 0 })
    expect(chosen(PLAIN, named(0, 'of others'), named(0.5, 'of it'))).toEqual(['of it'])
    expect(chosen(PLAIN, named(0, 'of others'))).toEqual(['of others'])
  })

  it('hold what is asked for', () => {
    const signs = { covered: 0.5 }
    const [year, none] = ['It was built in 1908.', 'It was built of stone.']
    expect(chosen('When was it built?', candidate(none, signs), candidate(year, signs))).toEqual([year])
    // a person or a place is mentioned more often by chance, a reason most often
    expect(chosen('Who built it there?', candidate('none', signs), candidate('and then Miller did', signs))[0]).toBe(
      'and then Miller did',
    )
  })

  it('weigh the kind of thing by how seldom it is held by chance', () => {
    const as = (query: string) => typedAs(prepare(query, () => 1))
    expect(as('When was it built?')).toBe('exact')
    expect(as('How many are there?')).toBe('exact')
    expect(as('How much does it cost?')).toBe('exact')
    expect(as('How long does it take?')).toBe('exact')
    expect(as('What percentage is it?')).toBe('exact')
    expect(as('Who built it?')).toBe('mentioned')
    expect(as('Where is it?')).toBe('mentioned')
    expect(as('Why is it so?')).toBe('loose')
    expect(as('lamp of tower')).toBe('loose')
    const rising: Weighed[] = ['loose', 'mentioned', 'exact']
    expect(rising.map((name) => WEIGHTS[name])).toEqual(rising.map((name) => WEIGHTS[name]).sort((a, b) => a - b))
  })

  it('go on from the sentence before where that one names what is asked', () => {
    const strong = candidate('It was lit at night.', { before: 1 })
    const weak = candidate('Nobody was at night.', { before: 1 })
    expect(chosen(PLAIN, weak, strong)[0]).toBe('It was lit at night.')
  })

  it('of a claim conclude, and tell no background beside a conclusion', () => {
    const query = 'Does zinc help against colds?'
    const concludes = of(1, 'We conclude that zinc helps.')
    const background = of(2.4, 'Background: zinc is known.')
    expect(chosen(query, background, concludes)).toEqual(['We conclude that zinc helps.'])
    expect(chosen(query, background, of(1, 'Zinc is a metal.'))).toEqual([
      ...['Zinc is a metal.', 'Background: zinc is known.'].slice(0, 2),
    ])
    expect(chosen(PLAIN, of(2, 'Background: zinc is known.'), of(1.9, 'We conclude that zinc helps.'))).toHaveLength(2)
  })

  it('are told apart more sharply in a script without spaces', () => {
    const between = (query: string, logits: number) => chosen(query, of(logits, '甲'), of(0, '乙')).length
    // .65 of two is a difference of .62, which is reached by .46 times 1.35
    expect(between('灯塔', 0.5)).toBe(1)
    expect(between('lamp', 0.5)).toBe(2)
  })

  it('are read only where their words are not too far behind', () => {
    const dated = of(-1, 'It was built in 1908.')
    const others = (count: number) => Array.from({ length: count }, (_, n) => of(0, `other ${n}`))
    expect(chosen('When was it built?', ...others(11), dated)[0]).toBe('It was built in 1908.')
    expect(chosen('When was it built?', ...others(12), dated)).not.toContain('It was built in 1908.')
  })
})

describe('a question of several parts', () => {
  const query = 'lamp of tower, keeper and boat'
  const held = (...terms: string[]) => ({ held: new Set(terms) })

  it('is answered for what the best sentence leaves open', () => {
    const best = of(5, 'lamp', held('lamp', 'tower'))
    const rest = of(2.5, 'boat', held('boat', 'keeper'))
    expect(chosen(query, best, rest)).toEqual(['lamp', 'boat'])
    expect(chosen(PLAIN, best, rest)).toEqual(['lamp'])
    const near = of(3, 'boat', held('boat'))
    for (const parts of ['lamp; boat', 'Lampe und boat', '灯塔和 boat', 'lamp et boat', 'lamp y boat', 'lamp、boat'])
      expect(chosen(parts, best, near)).toEqual(['lamp', 'boat'])
    expect(chosen('the lampandboat', best, rest)).toEqual(['lamp'])
  })

  it('is not answered by what is too far behind, adds too little, or speaks of something else', () => {
    const best = of(5, 'lamp', held('lamp', 'tower'))
    expect(chosen(query, best, of(1.9, 'boat', held('boat', 'keeper')))).toEqual(['lamp'])
    expect(chosen(query, best, of(2.5, 'tower', held('lamp', 'tower')))).toEqual(['lamp'])
    expect(chosen(query, best, of(2.5, 'boat', { ...held('boat', 'keeper'), covered: 0.49 }))).toEqual(['lamp'])
    expect(chosen(query, best, of(2.5, 'boat', { ...held('boat', 'keeper'), covered: 0.5 }))).toHaveLength(2)
    // one of four terms of one weight is a quarter, one of five is less
    expect(chosen(query, best, of(2.5, 'boat', held('boat')))).toHaveLength(2)
    expect(chosen(`${query} sea`, best, of(2.5, 'boat', held('boat')))).toEqual(['lamp'])
  })

  it('is answered by three sentences at the most, each for what those before it leave open', () => {
    const best = of(6, 'lamp', held('lamp'))
    const next = ['tower', 'keeper', 'boat'].map((term, n) => of(4 - n / 10, term, held(term)))
    expect(chosen(query, best, ...next)).toEqual(['lamp', 'tower', 'keeper'])
    expect(chosen(query, best, of(4, 'once', held('boat')), of(3.9, 'again', held('boat')))).toEqual(['lamp', 'once'])
  })
})
