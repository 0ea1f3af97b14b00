import { describe, expect, it } from 'vitest'
import { piecesOf } from '../../../src/engine/query/pieces.js'

const of = (text: string, asked: string[] = [], wantsList = false) => piecesOf(text, new Set(asked), wantsList)
const texts = (text: string, asked: string[] = [], wantsList = false) =>
  of(text, asked, wantsList).map((piece) => piece.text)

describe('what can be quoted', () => {
  it('of prose is its sentences, with blanks in place of line ends, and no row', () => {
    expect(of('The lamp is\n  lit. It shines.')).toEqual([
      { text: 'The lamp is lit.', isRow: false },
      { text: 'It shines.', isRow: false },
    ])
    expect(texts('First block\n\nSecond block')).toEqual(['First block', 'Second block'])
    expect(of('')).toEqual([])
  })

  it('of a table is its rows, told by the names of the columns', () => {
    expect(of('City | People\nBrest | 139000\nQuimper | 63000')).toEqual([
      { text: 'City: Brest; People: 139000', isRow: true },
      { text: 'City: Quimper; People: 63000', isRow: true },
    ])
    expect(texts('| City | People |\n|------|-----:|\n| Brest | 139000 |\n| | |')).toEqual([
      'City: Brest; People: 139000',
    ])
  })

  it('is a table only where lines have several cells, three in five at the least, the first among them', () => {
    const line = 'A sentence without cells'
    expect(of(`a | b\n1 | 2\n3 | 4\n${line}\n${line}`).every(({ isRow }) => isRow)).toBe(true)
    expect(of(`a | b\n1 | 2\n${line}\n${line}`).some(({ isRow }) => isRow)).toBe(false)
    expect(of(`${line}\na | b\n1 | 2\n3 | 4`).some(({ isRow }) => isRow)).toBe(false)
    expect(of('a | b').some(({ isRow }) => isRow)).toBe(false)
    // a bar within a word is none between cells
    expect(of('a|b\n1|2').some(({ isRow }) => isRow)).toBe(false)
  })

  it('without names of columns is the first cell and then the others', () => {
    expect(texts('Brest | 139 | 49.5\nQuimper | 63 | 84.4')).toEqual(['Brest: 139; 49.5', 'Quimper: 63; 84.4'])
    expect(texts('12 | 139\n13 |')).toEqual(['12: 139', '13'])
  })

  it('takes years for names of columns only where figures stand below', () => {
    expect(texts('Town | 2019 | 2020\nBrest | 12 | 14')).toEqual(['Town: Brest; 2019: 12; 2020: 14'])
    expect(texts('Town | 1999 | 2020\nBrest | 2001 | 2002')).toEqual(['Town: 1999; 2020', 'Brest: 2001; 2002'])
  })

  it('of a row of up to eight cells is all, of a wider one its first cell and what is asked, in their order', () => {
    const row = (count: number) =>
      `${Array.from({ length: count }, (_, i) => `name${i}`).join(' | ')}\n${Array.from({ length: count }, (_, i) => `cell${i}`).join(' | ')}`
    expect(texts(row(8))[0]?.split('; ')).toHaveLength(8)
    expect(texts(row(9))).toEqual([Array.from({ length: 8 }, (_, i) => `name${i}: cell${i}`).join('; ')])
    const asked = texts(row(12), ['cell11', 'name9'])[0]?.split('; ')
    expect(asked).toEqual([0, 1, 2, 3, 4, 5, 9, 11].map((i) => `name${i}: cell${i}`))
  })

  it('cuts a cell that is a text of its own', () => {
    const cell = (length: number) => 'x'.repeat(length)
    expect(texts(`a | b\n1 | ${cell(300)}`)).toEqual([`a: 1; b: ${cell(300)}`])
    expect(texts(`a | b\n1 | ${cell(301)}`)).toEqual([`a: 1; b: ${cell(300)}…`])
    expect(texts(`a | b\n1 | ${cell(299)} ${cell(9)}`)).toEqual([`a: 1; b: ${cell(299)}…`])
  })

  it('of a list is the whole where several things are asked for, else the entries that hold what is asked', () => {
    const list = 'You bring to the lamp:\n- a wick\n- oil for the burner\n- a match'
    const whole = [{ text: 'You bring to the lamp: a wick; oil for the burner; a match.', isRow: true, isList: true }]
    expect(of(list, ['wick'], true)).toEqual(whole)
    expect(of(list, ['wick'])).toEqual([{ text: 'You bring to the lamp: a wick', isRow: true }])
    expect(of(list, ['burner', 'match']).map(({ text }) => text)).toEqual([
      'You bring to the lamp: oil for the burner',
      'You bring to the lamp: a match',
    ])
    // what its opening holds says nothing of an entry
    expect(of(list, ['lamp'])).toEqual(whole)
    expect(of(list)).toEqual(whole)
  })
})
