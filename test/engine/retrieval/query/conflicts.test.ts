import { describe, expect, it } from 'vitest'
import { findContradictions } from '../../../../src/engine/retrieval/query/conflicts/contradictions.js'
import { analyzeQuery } from '../../../../src/lib/text/analyze.js'

function find(question: string, one: string, other: string, titles = ['', '']) {
  const items = [one, other].map((text, place) => ({ text, title: titles[place] ?? '', document: String(place) }))
  return findContradictions(question, analyzeQuery(question), () => 2, items)
}

const reasonOf = (question: string, one: string, other: string): string | undefined =>
  find(question, one, other).conflicts[0]?.reason

describe('contradicting statements of two documents are found', () => {
  it.each([
    [
      'How long are invoices kept?',
      'Invoices are kept for 6 years.',
      'Invoices are retained for ten years.',
      /numbers/,
    ],
    ['How large may a mailbox be?', 'A mailbox may hold up to 5 GB.', 'The limit of a mailbox is 20 GB.', /numbers/],
    ['When does the bar close?', 'The bar closes at 11 pm.', 'The bar is open until 1 am.', /numbers/],
    ['When is the report due?', 'The report is due on 3 May.', 'The deadline of the report is 9 June.', /dates/],
    ['Do vouchers expire?', 'Vouchers expire after two years.', 'Vouchers never expire.', /negation/],
    ['Is the gate locked?', 'The gate is locked at night.', 'The gate is unlocked at night.', /negation/],
    [
      'May guests smoke?',
      'Guests may smoke on the terrace.',
      'For guests, smoking on the terrace is forbidden.',
      /opposites/,
    ],
    ['Is the concert free?', 'The concert is free.', 'The concert costs 15 euros.', /opposites/],
    ['Who built the organ?', 'The organ was built by Hans Kerr.', 'Ines Molnar built the organ.', /names/],
    ['Where is the mail hosted?', 'The mail is hosted in Oslo.', 'The mail is stored in Madrid.', /names/],
    ['Wie lange gilt der Pass?', 'Der Pass gilt 10 Jahre.', 'Der Pass gilt sechs Jahre.', /numbers/],
    ['Ist Parken erlaubt?', 'Parken ist hier erlaubt.', 'Parken ist hier verboten.', /opposites/],
    ['保修期有多长？', '保修期是12个月。', '保修期是24个月。', /numbers/],
  ])('for "%s": "%s" and "%s"', (question, one, other, reason) => {
    expect(reasonOf(question, one, other)).toMatch(reason)
  })
})

describe('two statements do not contradict each other', () => {
  it.each([
    ['another month', 'How many loans were made?', 'In May 310 loans were made.', 'In June 420 loans were made.'],
    [
      'another plan',
      'How many seats are included?',
      'The Basic plan includes 3 seats.',
      'The Premium plan includes 30 seats.',
    ],
    ['another region', 'What is the tax?', 'In Spain the tax is 21 %.', 'In Greece the tax is 24 %.'],
    ['another version', 'Which port is used?', 'Version 1 uses port 80.', 'Version 2 uses port 8080.'],
    [
      'another metal',
      'What melts when?',
      'The melting point of zinc is 419 °C.',
      'The melting point of gold is 1064 °C.',
    ],
    ['another measure', 'How big is the yard?', 'The yard is 40 metres long.', 'The yard is 25 metres wide.'],
    ['a condition', 'Is the lane open?', 'The lane is open.', 'If it rains, the lane is closed.'],
    ['an opinion', 'Is the dye safe?', 'The dye is safe.', 'Critics claim that the dye is dangerous.'],
    ['a denial of another subject', 'Is the café open?', 'The café is open.', 'The café is open, but not the kitchen.'],
  ])('if one of them concerns %s', (_, question, one, other) => {
    expect(find(question, one, other).conflicts).toEqual([])
  })

  it.each([
    ['in other units', 'How long is the talk?', 'The talk lasts 1 hour.', 'The talk lasts 60 minutes.'],
    [
      'as a rounded number',
      'How many live there?',
      'The town has 48,213 inhabitants.',
      'The town has about 48,000 inhabitants.',
    ],
    ['within a range', 'How long is the wait?', 'The wait is 2 to 6 weeks.', 'The wait is 4 weeks.'],
    ['as a bound', 'How many staff?', 'The shop has at least 30 staff.', 'The shop has 45 staff.'],
    ['in other words', 'Is fishing allowed?', 'Fishing is not allowed.', 'Fishing is prohibited.'],
  ])('if both state the same fact %s', (_, question, one, other) => {
    expect(find(question, one, other)).toEqual({ conflicts: [], differences: [] })
  })

  it('if one replaces the other, and this one is reported as newer', () => {
    const found = find('How long is the trial?', 'The trial previously lasted 14 days.', 'The trial lasts 30 days.')
    expect(found.conflicts).toEqual([])
    expect(found.differences).toMatchObject([{ kind: 'newer', reason: 'one describes an earlier time', newer: 1 }])
  })

  it('if the titles of their documents name two different things', () => {
    const one = 'Backups are kept for 30 days.'
    const other = 'Backups are kept for 90 days.'
    const titled = (titles: string[]) => find('How long are backups kept?', one, other, titles).conflicts
    expect(titled(['Manual of Atlas', 'Manual of Borealis'])).toEqual([])
    expect(titled(['Retention', 'Operations handbook'])).toHaveLength(1)
  })
})

describe('the comparison of statements of two documents', () => {
  it('covers only statements about the question, and none of the same document', () => {
    const one = 'Invoices are kept for 6 years. Tea is served at 4 pm.'
    const other = 'Invoices are kept for 6 years. Tea is served at 5 pm.'
    expect(find('How long are invoices kept?', one, other).conflicts).toEqual([])
    expect(find('When is tea served?', one, other).conflicts).toHaveLength(1)
    const items = [one, other].map((text) => ({ text, title: '', document: 'the same' }))
    expect(findContradictions('When is tea served?', ['tea', 'serv'], () => 2, items).conflicts).toEqual([])
  })

  it('resolves a pronoun and the omitted subject of a second clause', () => {
    const said = reasonOf(
      'How long are parcels stored?',
      'Parcels are weighed on arrival and stored for 7 days.',
      'Parcels come to the depot. They are stored for 14 days.',
    )
    expect(said).toMatch(/7 days and 14 days/)
  })
})
