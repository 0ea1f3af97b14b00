import { describe, expect, it } from 'vitest'
import { relationOf } from '../../../../src/engine/query/conflicts/compare.js'
import { contradictions } from '../../../../src/engine/query/conflicts/contradictions.js'
import { readStatements, stemOf, vocabulary } from '../../../../src/engine/query/conflicts/statements.js'
import { analyzeQuery } from '../../../../src/lib/text/analyze.js'

interface Asked {
  asked?: string
  asksWhen?: boolean
  asksWho?: boolean
  titles?: [string, string]
}
const concepts = (words: string) =>
  new Set(words.split(' ').map((word) => vocabulary().concept(stemOf(word.toLowerCase()))))

function statement(sentence: string) {
  const [found] = readStatements([sentence], [true])
  if (found === undefined) throw new Error(`no statement: ${sentence}`)
  return found
}

/** What two sentences are to each other, in a word or two; by default for a question about what both speak of. */
function between(one: string, other: string, { asked, titles = ['', ''], ...asks }: Asked = {}): string {
  const [left, right] = [statement(one), statement(other)]
  const shared = new Set([...left.concepts].filter((concept) => right.concepts.has(concept)))
  const found = relationOf(left, right, {
    asked: { concepts: asked === undefined ? shared : concepts(asked), asksWhen: false, asksWho: false, ...asks },
    titles: [concepts(titles[0]), concepts(titles[1])],
  })
  if (found === undefined) return 'nothing'
  return `${found.kind} by ${found.by}: ${found.reason}`
}

describe('two statements are', () => {
  it.each<[string, string, string, Asked?]>([
    ['nothing', 'The pass costs 1 euro, 2 euros, 3 euros, 4 euros or 5 euros.', 'The pass costs 9 euros.'],
    ['conflict by number', 'The pass costs 1 euro, 2 euros, 3 euros or 4 euros.', 'The pass costs 9 euros.'],
    ['nothing', 'The pass costs 5 euros and 6 euros.', 'The pass costs 6 euros and 7 euros.'],
    ['conflict by number', 'The pass costs 5 euros and 6 euros.', 'The pass costs 8 euros and 9 euros.'],
    ['nothing', 'The fine is 50 euros at 10 km/h.', 'The fine is 80 euros at 20 km/h.'],
    ['nothing', 'The crew has 12 members.', 'The crew has 15.'],
    ['conflict by number: different numbers: 12 and 15', 'The crew has 12.', 'The crew has 15.'],
    ['nothing', 'The crew has 12 boats and 3 cooks.', 'The crew has 15.'],
    ['nothing', 'The crew has 12 boats and 3 cooks.', 'The crew of boats has 15.'],
    ['conflict by number', 'The crew is 12 people.', 'The crew is 15.'],
    ['conflict by scale: opposites: open and closed', 'The hall is open.', 'The hall is closed.'],
    ['conflict by denial: negation', 'Visitors may enter the hall.', 'Visitors can not enter the hall.'],
    ['conflict by scale', 'Visitors may enter the hall.', 'Visitors are forbidden in the hall.'],
    ['nothing', 'After six dogs are allowed in the hall.', 'Dogs are forbidden in the hall.'],
    ['nothing', 'The allowed dogs run in the hall.', 'The forbidden dogs run in the hall.'],
    ['nothing', 'The entry costs 0 euros.', 'The entry is free.'],
    ['nothing', 'The free entry costs 4 euros.', 'The entry costs 4 euros.'],
    ['nothing', 'The lamp is suitable for boats of Brest.', 'The lamp is unsuitable for towers of Lyon.'],
    ['nothing', 'The lamp is not red after six.', 'The lamp is red.'],
    ['conflict by denial', 'The lamp is never red after six.', 'The lamp is red.'],
    ['nothing', 'The lamp is not red on 4 boats.', 'The lamp is red.'],
    ['nothing', 'The lamp is not red in 1908.', 'The lamp is red.'],
    ['nothing', 'The lamp of the old keeper boat is not red.', 'The lamp is red.'],
    ['nothing', 'The lamp is not red.', 'The lamp is blue.'],
    ['other by denial: one speaks of 1908 alone', 'The lamp was never red.', 'The lamp was red after 1908.'],
    ['nothing', 'The tower was built in 1908.', 'The tower was opened in 1912.'],
    ['nothing', 'The tower was built in 1908.', 'The tower was built.'],
    ['nothing', 'The tower was painted in 1908.', 'The tower was painted in 1912.'],
    [
      'conflict by date: different dates: 1908 and 1912',
      'The tower was painted in 1908.',
      'The tower was painted in 1912.',
      { asksWhen: true },
    ],
    ['conflict by date', 'The course starts on 5 May 2020.', 'The course starts on 6 May 2020.'],
    [
      'conflict by date: different dates: monday and tuesday',
      'The meeting is on Monday.',
      'The meeting is on Tuesday.',
    ],
    ['nothing', 'The meeting is on Monday.', 'The meeting is on 5 May.'],
    ['nothing', 'The tower was built from 1908 to 1910.', 'The tower was built in 1910.'],
    ['other by number: one speaks of 2021 alone', 'In 2021 the fee was 5 euros.', 'The fee was 7 euros.'],
    ['other by number: one speaks of may alone', 'By May the fee was 5 euros.', 'The fee was 7 euros.'],
    ['conflict by number', 'On Monday the fee is 5 euros.', 'The fee is 7 euros.'],
    ['other by number: another time: ', 'On Monday the fee is 5 euros.', 'On Tuesday the fee is 7 euros.'],
    ['conflict by number', 'In 2021 the fee was 5 euros.', 'In 2021 the fee was 7 euros.'],
    ['nothing', 'The melting point of tin is 232 °C.', 'The melting point of lead is 327 °C.'],
    ['nothing', 'The premium plan costs 5 euros.', 'The basic plan costs 7 euros.'],
    ['other by number: one speaks of premium alone', 'The premium plan costs 5 euros.', 'The plan costs 7 euros.'],
    [
      'conflict by number',
      'The premium plan costs 5 euros.',
      'The plan costs 7 euros.',
      { asked: 'premium plan cost' },
    ],
    ['other by number: under a condition', 'If it rains the fee is 5 euros.', 'The fee is 7 euros.'],
    ['other by number: an opinion', 'Critics say the fee is 5 euros.', 'The fee is 7 euros.'],
    ['newer by number: of an earlier time', 'The fee was formerly 5 euros.', 'The fee is 7 euros.'],
    ['newer by number: takes the place of the other', 'The fee is now 5 euros.', 'The fee is 7 euros.'],
    ['conflict by name', 'Ada Keller founded the institute.', 'Grace Miller founded the institute.'],
    ['conflict by name: different names: ', 'The tower is written in Rust.', 'The tower is written in Java.'],
    ['conflict by name', 'The hall is in Hamburg.', 'The hall is in Bremen.'],
    ['nothing', 'The hall in Hamburg is old.', 'The hall in Bremen is old.'],
    ['nothing', 'Ada repairs the lamp.', 'Grace repairs the lamp.'],
    ['conflict by name', 'Ada repairs the lamp.', 'Grace repairs the lamp.', { asksWho: true }],
    ['conflict by name', 'The lamp is red.', 'The lamp is blue.'],
    ['conflict by name', 'The lamp is made of brass.', 'The lamp is made of iron.'],
    ['conflict by name', 'The capital of the country is Brest.', 'The capital of the country is Lyon.'],
    ['conflict by name', 'The largest tower is Brest.', 'The largest tower is Lyon.'],
    ['conflict by name', 'The author of the novel is Ada.', 'The author of the novel is Grace.'],
    ['nothing', 'The keeper likes Ada Keller.', 'The keeper likes Grace Miller.'],
  ])('%s: %s | %s', (expected, one, other, asked) => {
    const found = between(one, other, asked)
    expect(found.startsWith(expected)).toBe(true)
    // neither is first
    expect(between(other, one, asked).split(':')[0]).toBe(found.split(':')[0])
  })

  it('told of by what each of them names first', () => {
    const [one, other] = ['The entry costs 4 euros.', 'The entry is free.']
    expect(between(one, other)).toBe('conflict by scale: opposites: free and 4 euros')
    expect(between(other, one)).toBe('conflict by scale: opposites: free and 4 euros')
    expect(between('The tower is 40 metres high.', 'The tower is 50 metres high.')).toBe(
      'conflict by number: different numbers: 40 metres and 50 metres',
    )
    expect(between('The tower is 50 metres high.', 'The tower is 40 metres high.')).toBe(
      'conflict by number: different numbers: 50 metres and 40 metres',
    )
  })
})

describe('items contradict each other', () => {
  const QUESTION = 'How high is the tower of Brest?'
  type Item = [text: string, title?: string, document?: string]
  const found = (items: Item[], query = QUESTION) =>
    contradictions(
      ...([query, analyzeQuery(query), () => 3] as const),
      items.map(([text, title = '', document]) => ({ text, title, ...(document === undefined ? {} : { document }) })),
    )
  const high = (metres: number) => `The tower of Brest is ${metres} metres high.`
  const told = (items: Item[], query?: string) => {
    const { conflicts, differences } = found(items, query)
    const of = ({ item, other, reason }: { item: number; other: number; reason: string }) =>
      `${item}-${other} ${reason}`
    return [...conflicts.map(of), ...differences.map((one) => `${one.kind} ${of(one)}`)]
  }

  it('in what their sentences say of what is asked', () => {
    expect(found([[high(40)], [high(50)]])).toEqual({
      conflicts: [
        { item: 0, other: 1, says: [high(40), high(50)], reason: 'different numbers: 40 metres and 50 metres' },
      ],
      differences: [],
    })
    expect(told([[high(40)], [high(50)], [high(60)]])).toEqual([
      '0-1 different numbers: 40 metres and 50 metres',
      '0-2 different numbers: 40 metres and 60 metres',
      '1-2 different numbers: 50 metres and 60 metres',
    ])
    expect(told([[high(40)], ['The sea is deep there.'], [high(50)]])).toEqual([
      '0-2 different numbers: 40 metres and 50 metres',
    ])
  })

  it('but not where there is one alone, they agree, or both are of one document', () => {
    expect(told([[high(40)]])).toEqual([])
    expect(told([[high(40)], [high(40)]])).toEqual([])
    expect(
      told([
        [high(40), '', 'd'],
        [high(50), '', 'd'],
      ]),
    ).toEqual([])
    expect(
      told([
        [high(40), '', 'd'],
        [high(50), '', 'e'],
      ]),
    ).toHaveLength(1)
    expect(told([[high(40), '', 'd'], [high(50)]])).toHaveLength(1)
  })

  it('by what their titles or the sentences before say that they speak of', () => {
    const [forty, fifty] = ['It is 40 metres high.', 'It is 50 metres high.']
    expect(told([[forty], [fifty]])).toEqual([])
    expect(
      told([
        [forty, 'Tower of Brest'],
        [fifty, 'Tower of Brest'],
      ]),
    ).toHaveLength(1)
    expect(told([[`The tower of Brest is old. ${forty}`], [high(50)]])).toHaveLength(1)
    expect(told([[`The tower of Brest is old. So what? ${forty}`], [high(50)]])).toEqual([])
  })

  it('and are told apart where they are of another time or thing', () => {
    const at = (year: number, metres: number): Item => [`In ${year} the tower of Brest was ${metres} metres high.`]
    expect(told([at(2020, 40), at(2021, 50)])).toEqual(['newer 0-1 another time: 2020, 2021'])
    expect(
      told([
        ['The height is 40 metres.', 'Tower Brest A'],
        ['The height is 50 metres.', 'Tower Brest B'],
      ]),
    ).toEqual(['other 0-1 documents of the same kind on different things'])
    // a contradiction goes before what only differs
    const [both] = at(2020, 40)
    expect(told([[`${both} ${high(30)}`], at(2021, 50)]).join()).not.toMatch(/^0-1/)
    expect(told([[`${both} ${high(30)}`], [high(50)]])).toEqual(['0-1 different numbers: 30 metres and 50 metres'])
  })

  it('in scripts without spaces too', () => {
    expect(found([['灯塔高40米。'], ['灯塔高50米。']], '灯塔有多高？').conflicts).toMatchObject([
      { item: 0, other: 1, says: ['灯塔高40米。', '灯塔高50米。'], reason: 'different numbers: 40米, 50米' },
    ])
    expect(told([['灯塔高40米。'], ['大海深50米。']], '灯塔有多高？')).toEqual([])
  })
})
