import { describe, expect, it } from 'vitest'
import { relationOf } from '../../../../src/engine/query/conflicts/compare.js'
import {
  readStatements,
  type Statement,
  stemOf,
  vocabulary,
} from '../../../../src/engine/query/conflicts/statements.js'

function statement(sentence: string): Statement {
  const [found] = readStatements([sentence], [true])
  if (found === undefined) throw new Error(`no statement: ${sentence}`)
  return found
}

interface Asked {
  asked?: string
  asksWhen?: boolean
  asksWho?: boolean
  titles?: [string, string]
}

const concepts = (words: string) => new Set(words.split(' ').map((word) => vocabulary().concept(stemOf(word))))

/** What two sentences are to each other for a question about `asked`; by default for one about all of the first. */
function between(
  one: string,
  other: string,
  { asked, asksWhen = false, asksWho = false, titles = ['', ''] }: Asked = {},
) {
  const [left, right] = [statement(one), statement(other)]
  const about =
    asked === undefined ? new Set([...left.concepts].filter((word) => right.concepts.has(word))) : concepts(asked)
  return relationOf(left, right, {
    asked: { concepts: about, asksWhen, asksWho },
    titles: [concepts(titles[0]), concepts(titles[1])],
  })
}

/** Pairs that contradict each other, and in what; the order of the two changes nothing but the order of the values. */
const CONFLICTS: [string, string, string, Asked?][] = [
  ['number', 'The tower is 40 metres tall.', 'The tower is 50 metres tall.'],
  ['number', 'The fee is 5 euros.', 'The fee is 7 euros.'],
  ['number', 'The crew has 12 boats.', 'The crew has 15 boats.'],
  ['number', 'Repairs take 3 days.', 'Repairs take 2 weeks.'],
  ['scale', 'Dogs are allowed in the hall.', 'Dogs are forbidden in the hall.'],
  ['scale', 'Dogs are allowed in the hall.', 'Dogs are not allowed in the hall.'],
  ['scale', 'Entry to the hall is free.', 'Entry to the hall costs 5 euros.'],
  ['denial', 'The lamp of the tower is electric.', 'The lamp of the tower is not electric.'],
  ['denial', 'The lamp of the tower is electric.', 'The lamp of the tower was never electric.'],
  ['turned', 'The hall is suitable for wheelchairs.', 'The hall is unsuitable for wheelchairs.'],
  ['date', 'The tower was built in 1908.', 'The tower was built in 1912.'],
  ['date', 'The course is held on Mondays.', 'The course is held on Fridays.'],
  ['name', 'The data is hosted in Frankfurt.', 'The data is hosted in Dublin.'],
  ['name', 'The institute was founded by Miller.', 'The institute was founded by Sanchez.'],
  ['name', 'Miller founded the institute.', 'Sanchez founded the institute.'],
]

describe('statements that contradict each other', () => {
  it.each(CONFLICTS)('by %s: %s | %s', (by, one, other, asked) => {
    expect(between(one, other, asked)).toMatchObject({ kind: 'conflict', by })
    expect(between(other, one, asked)).toMatchObject({ kind: 'conflict', by })
  })

  it('say by what', () => {
    expect(between('The tower is 40 metres tall.', 'The tower is 50 metres tall.')?.reason).toBe(
      'different numbers: 40 metres and 50 metres',
    )
    expect(between('Dogs are allowed in the hall.', 'Dogs are forbidden in the hall.')).toMatchObject({
      ...{ reason: 'opposites: allowed and forbidden', values: ['allowed', 'forbidden'] },
    })
    expect(between('Dogs are allowed in the hall.', 'Dogs are not allowed in the hall.')?.reason).toBe('negation')
    expect(between('Entry to the hall is free.', 'Entry to the hall costs 5 euros.')?.reason).toBe(
      'opposites: free and 5 euros',
    )
    expect(between('The tower was built in 1908.', 'The tower was built in 1912.')?.reason).toBe(
      'different dates: 1908 and 1912',
    )
    expect(between('The data is hosted in Frankfurt.', 'The data is hosted in Dublin.')).toMatchObject({
      ...{ reason: 'different names: Frankfurt and Dublin', values: ['frankfurt', 'dublin'] },
    })
  })
})

describe('statements that do not', () => {
  it.each<[string, string, string, Asked?]>([
    ['the same sentence', 'The tower is 40 metres tall.', 'The tower is 40 metres tall.'],
    ['agree', 'The tower is 40 metres tall.', 'The tower is 4,000 centimetres tall.'],
    ['one is a range that holds the other', 'The tower is 40 to 50 metres tall.', 'The tower is 45 metres tall.'],
    ['no word in common', 'The tower is 40 metres tall.', 'A lamp costs 50 euros.'],
    ['nothing of what is asked', 'The tower is 40 metres tall.', 'The tower is 50 metres tall.', { asked: 'lamp' }],
    ['other measures', 'The tower is 40 metres tall.', 'The tower is 50 years old.'],
    ['other things counted', 'The crew has 12 boats.', 'The crew has 15 cooks.'],
    ['another thing', 'The tower of Brest is 40 metres tall.', 'The tower of Lyon is 50 metres tall.'],
    ['both are allowed', 'Dogs are allowed in the hall.', 'Dogs are permitted in the hall.'],
    [
      'allowed in one place, forbidden in another',
      'Dogs are allowed in the garden.',
      'Dogs are forbidden in the kitchen.',
    ],
    ['free, and free', 'Entry to the hall is free.', 'Entry to the hall costs nothing.'],
    ['both denied', 'The lamp is not red.', 'The lamp is not blue.'],
    ['the same date', 'The tower was built in 1908.', 'The tower was built in May 1908.'],
    [
      'names that the question names',
      'Miller founded the institute.',
      'Sanchez founded the institute.',
      { asked: 'institute miller' },
    ],
    ['a town and its country', 'The data is hosted in Frankfurt.', 'The data is hosted in Germany.'],
    ['one is denied', 'The data is hosted in Frankfurt.', 'The data is not hosted in Dublin.'],
    ['several may do it', 'Miller visited the institute.', 'Sanchez visited the institute.'],
  ])('%s: %s | %s', (_, one, other, asked) => {
    expect(between(one, other, asked)).toBeUndefined()
    expect(between(other, one, asked)).toBeUndefined()
  })

  it('but differ are told apart by what each is of', () => {
    expect(between('In 2021 the tax was 5 euros.', 'In 2022 the tax was 7 euros.')).toMatchObject({
      ...{ kind: 'newer', reason: 'another time: 2021, 2022' },
    })
    expect(between('The tax is 5 euros.', 'In 2022 the tax was 7 euros.')).toMatchObject({
      ...{ kind: 'other', reason: 'one speaks of 2022 alone' },
    })
  })
})
