import { utils, write } from '@e965/xlsx'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { EvidenceBundle } from '../../../src/contract/gateway/queries.js'
import { piecesOf } from '../../../src/engine/query/pieces.js'
import { ADA, ask, ingest, startEngine, type TestEngine } from '../../helpers/engine.js'

const HEAD = ['item', 'price', 'stock', 'supplier']
const ROWS = [
  ['Blue kettle', '40', '12', 'Nordic Wares'],
  ['Red kettle', '35', '0', 'Harbour Goods'],
  ['Copper pan', '90', '3', 'Nordic Wares'],
  ['Oak spoon', '4', '250', 'Forest Works'],
]
const ALL = [HEAD, ...ROWS]

describe('an answer from a table', () => {
  let test: TestEngine
  beforeAll(async () => {
    test = await startEngine()
  })
  afterAll(() => test.end())

  const sheet = () => {
    const book = utils.book_new()
    utils.book_append_sheet(book, utils.aoa_to_sheet(ALL), 'Stock')
    return new Uint8Array(write(book, { type: 'buffer', bookType: 'xlsx' }))
  }
  const cells = (tag: string, row: string[]) => `<tr>${row.map((cell) => `<${tag}>${cell}</${tag}>`).join('')}</tr>`
  const FILES: Record<string, string | Uint8Array> = {
    'stock.csv': ALL.map((row) => row.join(',')).join('\n'),
    'stock.md': `# Stock\n\nWhat is on the shelves.\n\n| ${HEAD.join(' | ')} |\n|---|---|---|---|\n${ROWS.map((row) => `| ${row.join(' | ')} |`).join('\n')}\n\nThe list is made anew every week.\n`,
    'stock.html': `<h1>Stock</h1><table>${cells('th', HEAD)}${ROWS.map((row) => cells('td', row)).join('')}</table>`,
    'stock.txt': `Stock\n\n${ALL.map((row) => `| ${row.join(' | ')} |`).join('\n')}\n`,
    'stock.xlsx': sheet(),
  }

  it.each(Object.keys(FILES))(
    'of %s is the row that was asked for, column by column, with its passage',
    async (name) => {
      const { id } = await test.engine.spaces.create(ADA, { name: 'Shop', slug: `shop-${name.split('.')[1]}` })
      await ingest(test.engine, ADA, id, { [name]: FILES[name] ?? '', 'note.md': 'The shop is closed in August.\n' })
      const { answer, done } = await ask(test.engine, ADA, id, 'What is the price of the blue kettle?')
      expect(answer).toMatch(/^item: Blue kettle; price: 40; stock: 12; supplier: Nordic Wares \[\d\]/)
      expect(answer).not.toContain('|')
      const { evidenceBundle } = done.metadata as { evidenceBundle: EvidenceBundle }
      const [, number = ''] = /\[(\d)\]/.exec(answer) ?? []
      const cited = evidenceBundle.items[Number(number) - 1]
      expect(cited?.metadata.filename).toBe(name)
      expect(cited?.text).toContain('Blue kettle')
    },
  )
})

describe('the pieces of a passage', () => {
  const texts = (text: string, ...asked: string[]) => piecesOf(text, new Set(asked)).map((piece) => piece.text)

  it('are sentences and rows; rules and holes of a table are left out', () => {
    expect(texts('Before it. So.\n\nname | age\nAda |\n | 36\nTotal\n\nAfter it.')).toEqual([
      'Before it.',
      'So.',
      'name: Ada',
      'age: 36',
      'name: Total',
      'After it.',
    ])
    expect(texts('| a | b |\n|:--|--:|\n| x | 1 |')).toEqual(['a: x; b: 1'])
  })

  it('are told without columns where nothing names them', () => {
    expect(texts('1994 | 12 | 3\n1995 | 14 | 5')).toEqual(['1994: 12; 3', '1995: 14; 5'])
  })

  it('know years that name columns from years that are figures', () => {
    expect(texts('Region | 2020 | 2021\nNorth | 12.5 | 13\nSouth | 9 | 11')).toEqual([
      'Region: North; 2020: 12.5; 2021: 13',
      'Region: South; 2020: 9; 2021: 11',
    ])
  })

  it('of a wide row are what it is about and what was asked first', () => {
    const names = Array.from({ length: 30 }, (_, i) => `field${i}`)
    const [row = ''] = texts(`${names.join(' | ')}\n${names.map((_, i) => `v${i}`).join(' | ')}`, 'field27')
    expect(row.split('; ')).toHaveLength(8)
    expect(row).toMatch(/^field0: v0; .*field27: v27$/)
  })

  it('of a line with bars, or of prose, stay sentences', () => {
    expect(texts('Home | About | Contact')).toEqual(['Home | About | Contact'])
    expect(texts('The sign | stands for or.\nIt is used a lot.\nSo it is.')).toEqual([
      'The sign | stands for or.',
      'It is used a lot.',
      'So it is.',
    ])
  })
})
