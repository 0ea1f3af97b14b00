import { describe, expect, it } from 'vitest'
import {
  type QuotationUnit,
  splitCells,
  splitUnits,
} from '../../../../../src/engine/retrieval/query/quotation/units.js'

/** Maximum length of a quoted paragraph, in characters. */
const MAX_PARAGRAPH = 800

const ofKind = (kind: QuotationUnit['kind'], passage: string): QuotationUnit[] =>
  splitUnits(passage).filter((unit) => unit.kind === kind)
const texts = (units: readonly QuotationUnit[]): string[] => units.map(({ text }) => text)
/** A sentence of 260 characters. */
const sentence = (word: string): string => `${word} ${'a'.repeat(258 - word.length)}.`

describe('the quotable units of a passage', () => {
  it('have offsets that select their text in the passage', () => {
    const passage =
      'Hours\n\n  We open at nine.  \n\n- tea\n- cake\n\nitem | price\nTea | 2\nCake | 3\n\nWe close at six.'
    const units = splitUnits(passage)
    expect(units.map(({ kind }) => kind)).toEqual(['paragraph', 'list', 'row', 'row', 'table', 'paragraph'])
    for (const { start, end, text } of units) expect(passage.slice(start, end)).toBe(text)
  })

  it('do not exist for a passage without text', () => {
    expect(splitUnits('')).toEqual([])
    expect(splitUnits(' \n\n \t\n')).toEqual([])
  })
})

describe('a quotable paragraph', () => {
  it('forms one complete unit up to the maximum length, with its line breaks', () => {
    const text = `One line\nand the next. ${'a'.repeat(MAX_PARAGRAPH - 24)}.`
    expect(text).toHaveLength(MAX_PARAGRAPH)
    expect(splitUnits(text)).toMatchObject([{ kind: 'paragraph', text, isCut: { before: false, after: false } }])
  })

  it('gives a window of complete sentences from each sentence on if it exceeds the maximum length', () => {
    const [one, two, three, four, five] = ['One', 'Two', 'Three', 'Four', 'Five'].map(sentence)
    const units = splitUnits([one, two, three, four, five].join(' '))
    expect(texts(units)).toEqual([
      [one, two, three].join(' '),
      [two, three, four].join(' '),
      [three, four, five].join(' '),
    ])
    expect(units.map(({ isCut }) => isCut)).toEqual([
      { before: false, after: true },
      { before: true, after: true },
      { before: true, after: false },
    ])
    for (const { text } of units) expect(text.length).toBeLessThanOrEqual(MAX_PARAGRAPH)
    expect(new Set(units.map(({ block }) => block)).size).toBe(1)
  })
})

describe('a quotable list', () => {
  it('forms one unit, with the line that introduces it as lead', () => {
    const passage = 'Bring these things:\n\n- a pen\n- a passport\n\nThen wait.'
    expect(ofKind('list', passage)).toMatchObject([{ text: '- a pen\n- a passport', lead: 'Bring these things:' }])
    const numbered = 'How it works\n\n1. Press the button.\n2) Wait.\n(a) Go.'
    expect(ofKind('list', numbered)).toMatchObject([{ lead: '', heading: 'How it works' }])
  })

  it('takes no lead if the line before it does not end in a colon or is long', () => {
    expect(ofKind('list', 'We sell much.\n\n- a pen\n- ink')).toMatchObject([{ lead: '' }])
    expect(ofKind('list', `${'long '.repeat(50)}:\n\n- a pen\n- ink`)).toMatchObject([{ lead: '' }])
  })

  it('needs several lines, most of them entries', () => {
    expect(ofKind('list', '- alone')).toEqual([])
    expect(ofKind('list', 'The first line.\nThe second line.\n- one entry')).toEqual([])
  })
})

describe('a quotable table', () => {
  it('gives a unit for each row, with its header as lead, and no unit for separator lines', () => {
    const rows = ofKind('row', 'The prices are these:\n\n| item | price |\n|:--|--:|\n| Tea | 2 |\n\n| Cake | 3 |')
    expect(rows).toMatchObject([{ text: '| Tea | 2 |', lead: '| item | price |' }])
  })

  it('may have a header of words and years', () => {
    const rows = ofKind('row', 'Region | 2020 | 2021\nNorth | 12.5 | 13\nSouth | 9 | 11')
    expect(rows.map(({ text, lead }) => [lead, text])).toEqual([
      ['Region | 2020 | 2021', 'North | 12.5 | 13'],
      ['Region | 2020 | 2021', 'South | 9 | 11'],
    ])
  })

  it('uses the line that introduces it as lead of each row if it has no header', () => {
    const rows = ofKind('row', 'Sales by year:\n\n1.5 | 12 | 3\n2.5 | 14 | 5')
    expect(rows).toMatchObject([{ lead: 'Sales by year:' }, { lead: 'Sales by year:' }])
  })

  it('forms one unit in addition to its rows if it is short and has several rows', () => {
    const short = 'item | price\nTea | 2\nCake | 3'
    expect(texts(ofKind('table', short))).toEqual([short])
    expect(ofKind('table', 'item | price\nTea | 2')).toEqual([])
    const long = `item | price\n${Array.from({ length: 40 }, (_, row) => `Tea ${row} | ${row}`).join('\n')}`
    expect(ofKind('table', long)).toEqual([])
    expect(ofKind('row', long)).toHaveLength(40)
  })

  it('needs more than a single line with bars, or prose with a bar in it', () => {
    expect(splitUnits('Home | About | Contact')).toMatchObject([{ kind: 'paragraph' }])
    const prose = 'The sign | separates cells.\nIt is used a lot.\nSo it is.'
    expect(splitUnits(prose)).toMatchObject([{ kind: 'paragraph', text: prose }])
  })
})

describe('a heading in a passage', () => {
  it('labels the blocks below it and forms no unit, even if it repeats the question', () => {
    const passage = 'How long is the warranty?\n\nTwo years from the date of purchase.\n\nReturns\n\nSend it back.'
    expect(splitUnits(passage).map(({ heading, text }) => [heading, text])).toEqual([
      ['How long is the warranty?', 'Two years from the date of purchase.'],
      ['Returns', 'Send it back.'],
    ])
  })

  it('joins with the heading directly above it', () => {
    expect(splitUnits('Service\n\nOpening hours\n\nFrom nine to five.')).toMatchObject([
      { heading: 'Service › Opening hours', text: 'From nine to five.' },
    ])
  })

  it('consists of a short line without a final mark or colon', () => {
    for (const line of ['We open at nine.', 'These are the rules:', 'a\nb', 'w'.repeat(120)])
      expect(splitUnits(`${line}\n\nFrom nine to five.`), line).toMatchObject([{ text: line }, { heading: '' }])
  })

  it('cannot be the last block of a passage', () => {
    expect(splitUnits('Opening hours')).toMatchObject([{ kind: 'paragraph', text: 'Opening hours', heading: '' }])
  })
})

describe('the split of a table row into cells', () => {
  it('works with and without outer bars, and keeps empty cells', () => {
    expect(splitCells('| Tea | 2 |')).toEqual(['Tea', '2'])
    expect(splitCells('Tea | 2')).toEqual(['Tea', '2'])
    expect(splitCells('Tea |  | a|b')).toEqual(['Tea', '', 'a|b'])
  })
})
