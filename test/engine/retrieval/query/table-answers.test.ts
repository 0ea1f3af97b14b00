import { utils, write } from '@e965/xlsx'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { EvidenceBundle } from '../../../../src/contract/gateway/queries.js'
import { ADA, ask, ingest, startEngine, type TestEngine } from '../../../helpers/engine.js'

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

  it.each(Object.keys(FILES))('quotes the requested row of %s below the table header', async (name) => {
    const { id } = await test.engine.spaces.create(ADA, { name: 'Shop', slug: `shop-${name.split('.')[1]}` })
    await ingest(test.engine, ADA, id, { [name]: FILES[name] ?? '', 'note.md': 'The shop is closed in August.\n' })
    const { answer, done } = await ask(test.engine, ADA, id, 'What is the price of the blue kettle?')
    const table = answer
      .split('\n\n')[1]
      ?.replace(/^\| | \|$/gm, '')
      .split('\n')
    expect(table?.slice(0, 2), answer).toEqual([HEAD.join(' | '), 'Blue kettle | 40 | 12 | Nordic Wares'])
    const { evidenceBundle } = done.metadata as { evidenceBundle: EvidenceBundle }
    const [, number = ''] = /^\[(\d)\] /m.exec(answer) ?? []
    const cited = evidenceBundle.items[Number(number) - 1]
    expect(cited?.metadata.filename).toBe(name)
    expect(cited?.text).toContain('Blue kettle')
  })
})
