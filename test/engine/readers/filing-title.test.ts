import { describe, expect, it } from 'vitest'
import { buildFilingTitle } from '../../../src/engine/readers/filing-title.js'
import type { Block } from '../../../src/engine/readers/parsed.js'
import { read } from './read.js'

const COVER = [
  'UNITED STATES SECURITIES AND EXCHANGE COMMISSION',
  'Washington, D.C. 20549',
  'FORM 10-K',
  '☒ ANNUAL REPORT PURSUANT TO SECTION 13 OR 15(d). For the fiscal year ended June 30, 2023',
  'Commission File Number 1-2345',
  'LANTERN WORKS PLC',
  '__________________',
  '(Exact name of registrant as specified in its charter)',
]
const blocks = (texts: readonly string[]): Block[] => texts.map((text) => ({ type: 'paragraph', text }))

describe('the title of an SEC filing', () => {
  it('contains company, form and period', () => {
    expect(buildFilingTitle(blocks(COVER))).toBe('LANTERN WORKS PLC · Form 10-K · June 30, 2023')
  })

  it.each([
    [
      'contains company and form if name and label are in one block',
      ['Form 10-Q', 'Lantern, Inc.\n(Exact name of the issuer as specified)'],
      'Lantern, Inc. · Form 10-Q',
    ],
    [
      'contains company, form and date for a report of an event',
      [
        'FORM 8-K',
        'Date of Report (Date of earliest event reported): March 9, 2023',
        'Lantern Co.',
        '(Exact name of registrant)',
      ],
      'Lantern Co. · Form 8-K · March 9, 2023',
    ],
    ['stays undefined without a form', ['Lantern Co.', '(Exact name of registrant)'], undefined],
    [
      'stays undefined without a company name above its label',
      ['FORM 10-K', 'Commission File Number 1-2', '(Exact name of registrant)'],
      undefined,
    ],
    [
      'stays undefined for a text that only mentions forms',
      ['How to read a form 10-K', 'The exact name of a registrant stands on it.'],
      undefined,
    ],
  ])('%s', (_what, texts, title) => {
    expect(buildFilingTitle(blocks(texts))).toBe(title)
  })

  it('stays undefined for a hostile cover of only line ends and brackets', () => {
    const hostile = blocks(Array.from({ length: 60 }, (_, i) => (i % 2 === 0 ? '\n'.repeat(5000) : '(\n'.repeat(3000))))
    expect(buildFilingTitle(hostile)).toBeUndefined()
  })

  it('appears in the title of every passage instead of the name of the authority', async () => {
    const text = [`# ${COVER[0]}`, ...COVER.slice(1), '## Risks', 'The lamp may go out.'].join('\n\n')
    const document = await read('filing.md', text)
    expect(document.title).toBe('LANTERN WORKS PLC · Form 10-K · June 30, 2023')
    for (const node of document.nodes) expect(node.title).toContain('LANTERN WORKS PLC')
  })

  it('falls back to the file name if the cover names only the authority', async () => {
    const cover = '# United States\n\nSecurities and Exchange Commission\n\nSome text below it.'
    expect((await read('Lantern 2023.md', cover)).title).toBe('Lantern 2023')
    expect((await read('country.md', '# United States\n\nA country of lamps.')).title).toBe('United States')
  })
})
