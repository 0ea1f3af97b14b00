import { describe, expect, it } from 'vitest'
import { mentions, toMentionWords } from '../../../../../src/engine/retrieval/query/names/missing-names.js'
import { findNames } from '../../../../../src/engine/retrieval/query/names/question-names.js'

const names = (question: string) => findNames(question).map(({ name }) => name)
const telling = (question: string) => findNames(question).map(({ distinctive }) => distinctive)

describe('names in a question', () => {
  it.each<[string, string[]]>([
    ['What did Boeing sell?', ['Boeing']],
    ['What did the Bank of England sell?', ['Bank of England']],
    ['Who wrote "The Sea Wolf" and «Le Grand Meaulnes»?', ['The Sea Wolf', 'Le Grand Meaulnes']],
    ['Did Ada ever meet Grace Hopper at home in Brest?', ['Ada', 'Grace Hopper', 'Brest']],
    ['What does the KB-77 do?', ['KB-77']],
    ['Is it an iPhone?', ['iPhone']],
    ['What does AT&T sell?', ['AT&T']],
    ["What are boeing's sales?", ['boeing']],
    ["What is Boeing's margin?", ['Boeing']],
    ['Wer war Angela Merkel?', ['Angela Merkel']],
    ['《红楼梦》的作者是谁？', ['红楼梦']],
    ['大卫·佩特鲁齐是谁？', ['大卫·佩特']],
    ['Where is Boeing and where is Boeing?', ['Boeing']],
    ['What did Johnson & Johnson sell?', ['Johnson & Johnson']],
  ])('in "%s": %j', (question, expected) => {
    expect(names(question)).toEqual(expected)
  })

  it.each([
    'What does it cost?',
    'Parking costs how much?',
    'Wer bezahlt die Miete für den Stellplatz?',
    'WHO PAYS THE RENT OF IT',
    'What happens on Monday in March?',
    'What were sales in FY2022 and Q2?',
    'What were sales in FY 2022?',
    'How many USD is it?',
    "What are today's hours?",
    "What are the company's hours?",
    'What does the Bank do for the National Trust?',
    'May I come?',
    '',
  ])('do not occur in "%s"', (question) => {
    expect(names(question).filter((name) => !/^(?:Bank)$/.test(name))).toEqual([])
  })

  it('have as distinctive words those that few names share', () => {
    expect(telling('What did the Bank of England do?')).toEqual([['England']])
    expect(telling('Who led the old Acme Holdings Inc once?')).toEqual([['Acme']])
    expect(telling('Is it a French-language book?')).toEqual([['French']])
    expect(telling('Who wrote "The Sea Wolf"?')).toEqual([['Wolf']])
  })

  it('exclude quotations that are sentences, and number at most twelve', () => {
    expect(names('Who said "we shall never ever give up on these old boats"?')).toEqual([])
    const many = Array.from({ length: 15 }, (_, i) => `"Quork${String.fromCharCode(97 + i)} Zim"`).join(' or ')
    expect(names(`Is it ${many}?`)).toHaveLength(12)
  })

  it('exclude everything if most words have a capital letter, as in a title', () => {
    expect(names('Did the old Ada meet Grace Hopper in Brest?')).not.toEqual([])
    expect(names('Did Ada Meet Grace Hopper in Brest?')).toEqual([])
  })

  it('exclude the first word of a statement, which always has a capital letter', () => {
    expect(names('Zinc lozenges shorten colds')).toEqual([])
    expect(names('Aspirin Bayer helps')).toEqual(['Bayer'])
    expect(names('The drug of Bayer helps')).toEqual(['Bayer'])
  })
})

describe('a mention of a name in a passage', () => {
  const says = (question: string, text: string, title = '', source = '') => {
    const [name] = findNames(question)
    if (name === undefined) throw new Error(`no name in ${question}`)
    return mentions(toMentionWords({ text, title, source }), name)
  }

  it.each<[string, string, boolean]>([
    ['Who led Microsoft?', 'Ada led Microsoft.', true],
    ['Who led Microsoft?', 'Ada led it.', false],
    // One letter more, one less, one replaced, two swapped.
    ['Who led Microsoft?', 'Ada led Microsofft.', true],
    ['Who led Microsoft?', 'Ada led Microsft.', true],
    ['Who led Microsoft?', 'Ada led Migrosoft.', true],
    ['Who led Microsoft?', 'Ada led Mircosoft.', true],
    ['Who led Microsoft?', 'Ada led Bicrosoft.', false],
    ['Who led Boeing?', 'Ada was being led.', false],
    // inflected
    ['Where is Italy?', 'The Italian coast.', true],
    ['Where is Mali?', 'The male coast.', false],
    ['What do the Alps hold?', 'An alp.', false],
    // Half of the words of a longer name.
    ['When was Angela Dorothea Merkel born there?', 'Angela Merkel spoke.', true],
    ['When was Angela Dorothea Merkel born there?', 'Angela spoke.', false],
    ['What did Best Buy sell?', 'The best thing to buy.', false],
    ['What did Best Buy sell?', 'all of best buy', true],
    // Other words for the name.
    ['What did Holland buy?', 'The Dutch bought it.', true],
    ['What did France buy?', 'A French company bought it.', true],
    ['What does IBM make?', 'International Business Machines makes it.', true],
    ['What does IBM make?', 'Insects bite many.', true],
    ['What does Johnson & Johnson make?', 'J&J makes it.', true],
    ['When was Quork Zimmer Volt run by others?', 'QZV was run by Ada.', true],
    ['Where is Zürich?', 'zurich lies there.', true],
  ])('counts for the question "%s" and the text "%s": %s', (question, text, expected) => {
    expect(says(question, text)).toBe(expected)
  })

  it('counts in the title or the filename, where words are run together', () => {
    expect(says('What did Ulta Beauty sell?', 'It rose.', '', 'ULTABEAUTY_2023.pdf')).toBe(true)
    expect(says('What did Boeing sell?', 'It rose.', 'Boeing › Sales')).toBe(true)
    expect(says('What did Boeing sell?', 'It rose.', 'Airbus › Sales', 'airbus.pdf')).toBe(false)
  })
})
