import stringWidth from 'string-width'
import { expect, it } from 'vitest'
import type { OutputColumn } from '../../src/cli/columns.js'
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

function shown(width: number | undefined, columns = COLUMNS, rows = ROWS, header = true): string {
  const paint = (text: string) => text
  const input = { columns, rows, header, width, ellipsis: '…', paintHeader: paint }
  return renderTable({ ...input, paintCell: (_, text) => text })
}

it.each([40, 60, 80, 120])('a table fits %i columns without truncating ids, slugs and numbers', (width) => {
  for (const header of [true, false]) {
    const text = shown(width, COLUMNS, ROWS, header)
    expect(text.split('\n').filter((line) => stringWidth(line) > width)).toEqual([])
    for (const whole of ['#1a2b3c4d', '#5e6f7a8b', 'team-handbook', '1,234,567', '12.5 MiB', '512 B']) {
      expect(text).toContain(whole)
    }
  }
})

it('a list becomes a table if the columns fit, else a block for each row', () => {
  expect(shown(120).trimEnd().split('\n')).toHaveLength(1 + ROWS.length)
  expect(
    shown(40)
      .split('\n\n')
      .map((block) => block.split('\n')[0]),
  ).toEqual(['ID         #1a2b3c4d', 'ID         #5e6f7a8b'])
  expect(shown(40).split('\n')[2]).toMatch(/^NAME {7}a rather long name of.*…$/)
})

it('a table truncates names before other columns', () => {
  const columns: OutputColumn[] = [{ field: 'id', kind: 'id' }, { field: 'name' }]
  expect(shown(24, columns, [['#1a2b3c4d', 'a name that is long']]).split('\n')[1]).toBe('#1a2b3c4d  a name that …')
})

it('a table truncates nothing without a width', () => {
  expect(shown(undefined)).toContain('a rather long name of a document 日本語.md')
})
