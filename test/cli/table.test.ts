import stringWidth from 'string-width'
import { expect, it } from 'vitest'
import type { OutputColumn } from '../../src/cli/columns.js'
import { SEARCH_COLUMNS } from '../../src/cli/query/search-rows.js'
import { renderTable } from '../../src/cli/table.js'

const COLUMNS: OutputColumn[] = [
  { field: 'id', kind: 'id' },
  { field: 'slug' },
  { field: 'filename', title: 'NAME', kind: 'name' },
  { field: 'state', kind: 'state' },
  { field: 'documents', kind: 'count' },
  { field: 'bytes', kind: 'bytes' },
  { field: 'updatedAt', title: 'CHANGED', kind: 'time' },
]
const ROWS = [
  [
    '#1a2b3c4d',
    'team-handbook',
    'a rather long name of a document 日本語.md',
    'published',
    '1,234,567',
    '12.5 MiB',
    '3 minutes ago',
  ],
  ['#5e6f7a8b', 'notes', 'short.md', 'failed', '7', '512 B', '12 Mar 2026'],
]

function shown(width: number | undefined, columns = COLUMNS, rows = ROWS, options = {}): string {
  const paint = (text: string) => text
  const input = { columns, rows, header: true, canOmitColumns: true, width, ellipsis: '…', paintHeader: paint }
  return renderTable({ ...input, ...options, paintCell: (_, text) => text })
}

it.each([40, 60, 80, 120])(
  'a table of %i columns has one line for each row and truncates no id, slug or number',
  (width) => {
    for (const header of [true, false]) {
      const lines = shown(width, COLUMNS, ROWS, { header }).trimEnd().split('\n')
      expect(lines).toHaveLength(ROWS.length + (header ? 1 : 0))
      expect(lines.filter((line) => stringWidth(line) > width)).toEqual([])
      for (const complete of ['#1a2b3c4d', '#5e6f7a8b', 'team-handbook']) expect(lines.join('\n')).toContain(complete)
    }
  },
)

it('a narrow table omits empty columns, further ids and details, then times and numbers', () => {
  const columns: OutputColumn[] = [
    { field: 'id', kind: 'id' },
    { field: 'mode', isDetail: true },
    { field: 'document', kind: 'id' },
    { field: 'question' },
    { field: 'error' },
    { field: 'score', kind: 'score' },
    { field: 'asked', kind: 'time' },
  ]
  const row = ['#1a2b3c4d', 'fast', '#5e6f7a8b', 'how often is the restore tested?', '', '0.91', 'yesterday']
  const header = (width: number) => shown(width, columns, [row]).split('\n')[0]?.split(/ +/)
  expect(header(120)).toEqual(['ID', 'MODE', 'DOCUMENT', 'QUESTION', 'ERROR', 'SCORE', 'ASKED'])
  expect(header(70)).toEqual(['ID', 'MODE', 'DOCUMENT', 'QUESTION', 'SCORE', 'ASKED'])
  expect(header(60)).toEqual(['ID', 'MODE', 'QUESTION', 'SCORE', 'ASKED'])
  expect(header(50)).toEqual(['ID', 'QUESTION', 'SCORE', 'ASKED'])
  expect(header(40)).toEqual(['ID', 'QUESTION', 'SCORE'])
  expect(shown(40, columns, [row]).split('\n')[1]).toBe('#1a2b3c4d  how often is the rest…   0.91')
})

it('a search gives at least half of a terminal to the text of the passages', () => {
  const text = 'The mooring fee is four euros a night in summer, and two euros a night from October to March.'
  const path = 'handbook/harbour/mooring and anchoring.md'
  const row = ['0.91', path, 'Harbour › Fees › Nights', '#1a2b3c4d', '#5e6f7a8b', text]
  const lines = (width: number) => shown(width, SEARCH_COLUMNS, [row]).trimEnd().split('\n')
  const [wideHeader, wideRow = ''] = lines(80)
  expect(wideHeader?.split(/ +/)).toEqual(['SCORE', 'FILE', 'DOCUMENT', 'TEXT'])
  expect(wideRow.slice(wideHeader?.indexOf('TEXT'))).toBe('The mooring fee is four euros a night in…')
  expect(stringWidth(wideRow)).toBeLessThanOrEqual(80)
  expect(lines(40)).toEqual(['DOCUMENT   TEXT', '#1a2b3c4d  The mooring fee is four euro…'])
  expect(lines(120)[0]?.split(/ +/)).toEqual(['SCORE', 'FILE', 'PLACE', 'DOCUMENT', 'TEXT'])
})

it('a table shows every column that the user has selected', () => {
  expect(shown(60, COLUMNS, ROWS, { canOmitColumns: false }).split('\n')[0]).toMatch(/^ID .* CHANGED$/)
})

it('a table truncates a file name in its middle, since its end distinguishes it', () => {
  const columns: OutputColumn[] = [
    { field: 'id', kind: 'id' },
    { field: 'file', kind: 'name' },
  ]
  expect(shown(31, columns, [['#1a2b3c4d', 'handbook/operations/backup.md']]).split('\n')[1]).toBe(
    '#1a2b3c4d  handbo…ons/backup.md',
  )
})

it('a table aligns wide characters and never splits one', () => {
  const columns: OutputColumn[] = [{ field: 'name' }, { field: 'state' }]
  const lines = shown(30, columns, [
    ['日本語の長い文書の名前です', 'ready'],
    ['👩‍👩‍👧 the family picture', 'ready'],
    ['plain', 'ready'],
  ])
  const starts = lines
    .trimEnd()
    .split('\n')
    .slice(1)
    .map((line) => stringWidth(line.slice(0, line.indexOf('ready'))))
  expect(new Set(starts).size).toBe(1)
  expect(lines).toContain('👩‍👩‍👧 the family')
  expect(shown(20, columns, [['👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧', 'ready']])).toMatch(/^(👩‍👩‍👧)+… +ready$/mu)
})

it('a table truncates names before other columns', () => {
  const columns: OutputColumn[] = [{ field: 'id', kind: 'id' }, { field: 'name' }]
  expect(shown(31, columns, [['#1a2b3c4d', 'a name that is too long']]).split('\n')[1]).toBe(
    '#1a2b3c4d  a name that is too …',
  )
})

it('a table truncates nothing without a width', () => {
  expect(shown(undefined)).toContain('a rather long name of a document 日本語.md')
})
