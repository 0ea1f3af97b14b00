import { describe, expect, it } from 'vitest'
import {
  candidatesOf,
  prepare,
  type Quotable,
  readSigns,
  weightOf,
} from '../../../../src/engine/query/extractive/candidates.js'

const WEIGHTS: Record<string, number> = { tower: 4, brest: 3, height: 2, lamp: 1, keeper: -5 }
const idf = (term: string) => WEIGHTS[term] ?? 0
const QUESTION = 'tower Brest height lamp'

/** Sentences that may answer, with what their words say for them. */
function found(text: string, { title = '', query = QUESTION, place = 0, source = '' } = {}) {
  const passage: Quotable = { text, title, source }
  return candidatesOf(prepare(query, idf), passage, place)
}
const signs = (text: string, more?: Parameters<typeof found>[1]) => found(text, more).map((one) => one.signs)
const texts = (text: string, more?: Parameters<typeof found>[1]) => found(text, more).map((one) => one.text)

describe('a question as sentences are compared with it', () => {
  it('is its distinct terms, each with its weight and none below nothing', () => {
    const { weights, total, asked, pairs } = prepare('tower keepers of the tower', idf)
    expect([...weights]).toEqual([
      ['tower', 4],
      ['keeper', 0],
    ])
    expect(total).toBe(4)
    expect(asked).toEqual(new Set(['tower', 'keeper']))
    expect(pairs).toEqual(new Set(['tower keeper', 'keeper tower']))
    expect(weightOf(weights, ['tower', 'keeper', 'unknown'])).toBe(4)
  })

  it('is read in small letters, with what it asks for', () => {
    expect(prepare('How many Boats?', idf)).toMatchObject({ text: 'how many boats?', type: 'number', wantsList: false })
    expect(prepare('Which are the boats of Brest?', idf)).toMatchObject({ wantsList: true })
    expect(prepare('Which boats did Boeing sell?', idf).names.map(({ name }) => name)).toEqual(['Boeing'])
    expect(prepare('灯塔有多高？', idf).isUnspaced).toBe(true)
    expect(prepare('How high?', idf).isUnspaced).toBe(false)
  })

  it('wants a judgement where it asks for yes or no, or claims something in more than three terms', () => {
    const judges = (query: string) => prepare(query, idf).judges
    expect(judges('Is the tower high?')).toBe(true)
    expect(judges('zinc lozenges shorten usual colds')).toBe(true)
    expect(judges('zinc lozenges shorten')).toBe(false)
    expect(judges('How many zinc lozenges shorten usual colds?')).toBe(false)
  })
})

describe('what of a passage may answer', () => {
  it('are the sentences that hold a word of the question', () => {
    const text = 'The tower stands in Brest today. Nobody goes there any more. Its lamp is lit at night.'
    expect(texts(text)).toEqual(['The tower stands in Brest today.', 'Its lamp is lit at night.'])
    expect(found(text).map(({ order }) => order)).toEqual([0, 2])
    expect(found(text).map(({ held }) => [...held])).toEqual([['tower', 'brest'], ['lamp']])
    expect(found(text, { place: 3 }).map(({ evidenceIndex }) => evidenceIndex)).toEqual([3, 3])
    expect(texts('Nobody goes there any more.')).toEqual([])
  })

  it('are all sentences under a title that holds one', () => {
    expect(texts('Nobody goes there any more.', { title: 'The tower' })).toHaveLength(1)
    const [title] = found('Nobody goes there any more.', { title: 'The tower' })
    expect(title).toMatchObject({ covered: 0.4, signs: { covered: 0, titled: 0.4, passage: 0.4 } })
    expect([...(title?.held ?? [])]).toEqual([])
  })

  it('are no scraps, but a scrap that is all there is, or a row of a table', () => {
    expect(texts('Tower. The tower stands high there.')).toEqual(['The tower stands high there.'])
    expect(texts('Tower Brest. Nobody goes there any more.')).toEqual([])
    expect(texts('Tower Brest lamp. Nobody goes there any more.')).toHaveLength(1)
    expect(texts('Tower.')).toEqual(['Tower.'])
    expect(texts('| Name | Height |\n|---|---|\n| Tower | 40 |\n| Lamp | 50 |').length).toBeGreaterThan(0)
  })

  it('count by the share of the question that they, their title and their passage hold', () => {
    const [first, second] = signs('The tower of Brest is white. The lamp of the tower burns.', { title: 'Height' })
    expect(first).toMatchObject({ covered: 0.7, titled: 0.2, passage: 1, opens: 1, before: 0 })
    expect(second).toMatchObject({ covered: 0.5, titled: 0.2, passage: 1, opens: 0, before: 0.3 })
    // what the sentence says itself the title does not add
    expect(signs('The tower is very white.', { title: 'Tower height' })[0]).toMatchObject({ covered: 0.4, titled: 0.2 })
    expect(found('The tower is very white.', { title: 'Tower height' })[0]?.covered).toBeCloseTo(0.6, 10)
  })

  it('count by terms that stand side by side as in the question, two at the most', () => {
    const adjacent = (text: string) => signs(text)[0]?.adjacent
    expect(adjacent('The height of the tower there.')).toBe(0)
    expect(adjacent('The Brest height is known.')).toBe(0.5)
    expect(adjacent('The tower Brest height is known.')).toBe(1)
    expect(adjacent('The tower Brest height lamp is known.')).toBe(1)
  })

  it('count by the place of their passage', () => {
    const ranks = [0, 1, 3].map((place) => signs('The tower is very white.', { place })[0]?.rank)
    expect(ranks).toEqual([1, 1 / 2, 1 / 4])
  })

  it('count by the share of the names that their passage mentions', () => {
    const named = (text: string, query: string, title?: string) =>
      signs(text, { query, ...(title ? { title } : {}) })[0]?.named
    expect(named('The tower is white.', 'Which tower did Boeing and Airbus build?')).toBe(0)
    expect(named('The tower of Airbus is white.', 'Which tower did Boeing and Airbus build?')).toBe(0.5)
    expect(named('The tower is white.', 'Which tower did Boeing and Airbus build?', 'Boeing, Airbus')).toBe(1)
    expect(named('The tower is white.', 'which tower is white')).toBe(1)
  })

  it('come near to what they do not hold by words of one family', () => {
    const near = (text: string, query = QUESTION) => signs(text, { query })[0]?.near
    expect(near('The tower is heightened today.')).toBeCloseTo(0.2, 10)
    expect(near('The tower is heigh today.')).toBeCloseTo(0.2, 10)
    expect(near('The tower is heig today.')).toBe(0)
    expect(near('The tower is in Brestois today.')).toBeCloseTo(0.3, 10)
    // of short words nothing follows
    expect(near('The tower has lamps and lampion.', 'tower lampe')).toBe(0)
    expect(near('The tower has its height.', 'tower height')).toBe(0)
  })

  it('come near to a Chinese question by its characters', () => {
    const of = (text: string) =>
      candidatesOf(
        prepare('灯塔', () => 1),
        { text, title: '灯塔' },
        0,
      )[0]?.signs.near
    expect(of('灯塔很高。')).toBe(0)
    expect(of('灯很亮，很美。')).toBe(0.5)
    expect(of('塔里有灯光吗。')).toBe(1)
    expect(of('大海很美丽。')).toBe(0)
  })

  it('are a list where one is asked for', () => {
    const text = 'The tower has these lamps:\n- the red lamp\n- the white lamp\n- the green lamp'
    const lists = (query: string) => Math.max(0, ...signs(text, { query }).map((one) => one.lists))
    expect(lists('which are the lamps of the tower')).toBe(1)
    expect(lists('lamp of the tower')).toBe(0)
  })

  it('say a word of the question in another word of the space', () => {
    const rewordings = [{ asked: ['tower', 'height'], told: ['towerheight'] }]
    const question = prepare(QUESTION, idf, rewordings as never)
    const [one] = candidatesOf(question, { text: 'The towerheight is known there.', title: '' }, 0)
    expect([...(one?.held ?? [])].sort()).toEqual(['height', 'tower'])
    expect(one?.signs.covered).toBeCloseTo(0.6, 10)
    const [titled] = candidatesOf(question, { text: 'It is known there today.', title: 'Towerheight' }, 0)
    expect(titled?.signs.titled).toBeCloseTo(0.6, 10)
  })
})

describe('what reading a sentence says for it', () => {
  const read = (text: string, query: string, place = -1) => {
    const question = prepare(query, () => 1)
    const all = candidatesOf(question, { text, title: 'tower' }, 0)
    const one = all.at(place)
    if (one === undefined) throw new Error('no sentence')
    return readSigns(question, one)
  }

  it('is whether it holds what is asked for', () => {
    expect(read('The tower was built in 1908.', 'When was the tower built?').typed).toBe(1)
    expect(read('The tower was built of granite.', 'When was the tower built?').typed).toBe(0)
  })

  it('is whether it goes on from a sentence that names what it does not', () => {
    const query = 'lamp of Brest tower'
    expect(read('The lamp of Brest is old. It burned oil all night in 1908.', query).follows).toBeCloseTo(2 / 3, 10)
    expect(read('The lamp of Brest is old. The old glass was cleaned each winter night.', query).follows).toBeCloseTo(
      2 / 3,
      10,
    )
    expect(read('The lamp of Brest is old. Nobody burned oil all night in 1908.', query).follows).toBe(0)
    expect(read('The sea is deep there. It burned oil all night in 1908.', query).follows).toBe(0)
  })

  it('is whether it concludes, where a judgement is wanted', () => {
    const both = 'We conclude that zinc helps against colds.'
    expect(read(both, 'Does zinc help against colds?').concludes).toBe(1)
    expect(read('Background: zinc and colds are known.', 'Does zinc help against colds?').concludes).toBe(-1)
    expect(read(both, 'How much zinc helps against colds?').concludes).toBe(0)
  })
})
