import { expect, test } from 'vitest'
import { formatConflict } from '../../src/cli/conflicts-view.js'
import type { SpaceConflict } from '../../src/contract/gateway/conflicts.js'

const ID = '01a20862-2c78-7657-a370-04a438ecd374'
const SIDE = { documentId: ID, documentVersion: 1, nodeId: ID, storedAt: '2026-11-23T12:29:38.206Z' }
const CONFLICT: SpaceConflict = {
  id: ID,
  knowledgeSpaceId: ID,
  kind: 'number',
  relation: 'contradiction',
  decidedBy: 'rules',
  reason: 'different numbers: 90 days and 30 days',
  foundAt: '2026-11-23T12:29:41.368Z',
  sides: [
    {
      ...SIDE,
      filename: 'guide.md',
      title: 'Guide',
      sectionPath: ['Guide', 'Retention'],
      quote: 'Stored\nfor 90 days.',
    },
    { ...SIDE, filename: 'plan.pdf', title: 'Plan', pageNumber: 4, sectionPath: ['Plan'], quote: 'Kept for 30 days.' },
  ],
}
const MARKS = { unicode: false, paint: (_: string, text: string) => text }

test('the conflict view shows document, page or heading, date and sentence of both claims below each other', () => {
  expect(formatConflict(CONFLICT, MARKS)).toEqual([
    'number  different numbers: 90 days and 30 days',
    '  guide.md, Retention - 2026-11-23',
    '      Stored for 90 days.',
    '  plan.pdf, page 4 - 2026-11-23',
    '      Kept for 30 days.',
  ])
})

test('the conflict view labels a claim that supersedes an earlier claim as newer, not as a contradiction', () => {
  const [line] = formatConflict({ ...CONFLICT, relation: 'newer', reason: 'of an earlier time' }, MARKS)
  expect(line).toBe('number  newer: of an earlier time')
})
