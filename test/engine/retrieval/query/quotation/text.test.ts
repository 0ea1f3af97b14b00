import { describe, expect, it } from 'vitest'
import type { EvidenceItem } from '../../../../../src/contract/gateway/queries.js'
import {
  buildCandidates,
  type QuotationCandidate,
} from '../../../../../src/engine/retrieval/query/quotation/candidates.js'
import { prepareQuestion } from '../../../../../src/engine/retrieval/query/quotation/question.js'
import { formatQuotation } from '../../../../../src/engine/retrieval/query/quotation/text.js'
import { evidenceOf } from '../small-space.js'

interface Source {
  text: string
  filename?: string
  sectionPath?: string[]
  pageNumber?: number
  documentDate?: string
  author?: string
}

function itemOf({ text, filename = 'a.md', sectionPath = [], pageNumber, documentDate, author }: Source): EvidenceItem {
  const citation = { documentAssetId: 'd', documentVersion: 1, sectionPath }
  return evidenceOf('a', text, {
    citations: [{ ...citation, ...(pageNumber !== undefined && { pageNumber }) }],
    metadata: {
      filename,
      ...(documentDate !== undefined && { documentDate }),
      ...(author !== undefined && { author }),
    },
  })
}

/** Quotes the units of some sources that a test wants, all of them by default. */
function quoted(query: string, sources: Source[], isWanted: (candidate: QuotationCandidate) => boolean = () => true) {
  const question = prepareQuestion(query, () => 1)
  const passages = sources.map(({ text }) => ({ text, title: '', source: '', score: 1 }))
  const units = buildCandidates(question, passages).filter(isWanted)
  const quotation = formatQuotation({ question, units, probability: 1, versions: [] }, sources.map(itemOf))
  const marked = quotation.blocks.flatMap(({ marks }) =>
    marks.map(({ start, end }) => quotation.text.slice(start, end)),
  )
  return { ...quotation, marked }
}

describe('the location line of a quotation', () => {
  const lineOf = (source: Source) => quoted('tower', [source]).text.split('\n')[0]

  it('contains file, section, page and date of the document', () => {
    expect(lineOf({ text: 'The tower.' })).toBe('[1] a.md')
    expect(
      lineOf({
        ...{ text: 'The tower.', filename: 'guide.pdf', sectionPath: ['Harbour', 'Lights'], pageNumber: 3 },
        documentDate: '2024-05-06T10:00:00.000Z',
      }),
    ).toBe('[1] guide.pdf › Harbour › Lights, p. 3, 2024-05-06')
  })

  it('ends with the authors of the document, with complete names up to 60 characters', () => {
    expect(lineOf({ text: 'The tower.', author: 'Ida Keller' })).toBe('[1] a.md, Ida Keller')
    const many = Array.from({ length: 9 }, (_, index) => `Author Number${index}`).join(', ')
    expect(lineOf({ text: 'The tower.', author: many })).toBe(
      '[1] a.md, Author Number0, Author Number1, Author Number2 …',
    )
  })

  it('contains each heading once, from the section path and from the text', () => {
    expect(lineOf({ text: 'Lights\n\nThe tower.', sectionPath: ['Harbour', 'Lights'] })).toBe(
      '[1] a.md › Harbour › Lights',
    )
    expect(lineOf({ text: 'Harbour\n\nLights\n\nThe tower.', sectionPath: ['Harbour', 'Lights'] })).toBe(
      '[1] a.md › Harbour › Lights',
    )
    expect(lineOf({ text: 'Lights\n\nThe tower.', sectionPath: ['Harbour'] })).toBe('[1] a.md › Harbour › Lights')
  })

  it('appears for each quoted passage, with the number of the passage in the evidence', () => {
    const { text, blocks } = quoted(
      'tower',
      [
        { text: 'The tower is old.' },
        { text: 'The mast.', filename: 'b.md' },
        { text: 'A tower is new.', filename: 'c.md' },
      ],
      ({ passage }) => passage !== 1,
    )
    expect(text).toBe('[1] a.md\n\nThe tower is old.\n\n[3] c.md\n\nA tower is new.')
    expect(blocks.map(({ cited, start, end }) => [cited, text.slice(start, end)])).toEqual([
      [1, 'The tower is old.'],
      [3, 'A tower is new.'],
    ])
  })
})

describe('the blocks of a quotation', () => {
  it('keep the layout of the document, with the line that introduces a list', () => {
    const list = 'Bring to the tower:\n\n- a lamp\n- a rope'
    const isList = ({ unit }: QuotationCandidate) => unit.kind === 'list'
    expect(quoted('lamp', [{ text: list }], isList).text).toBe('[1] a.md\n\nBring to the tower:\n- a lamp\n- a rope')
  })

  it('show different headings above them instead of in the location line', () => {
    const text = 'Lamps\n\nThe lamp is bright.\n\nRopes\n\nThe rope is long.'
    expect(quoted('lamp', [{ text }]).text).toBe(
      '[1] a.md\n\nLamps\n\nThe lamp is bright.\n\nRopes\n\nThe rope is long.',
    )
  })

  it('get an ellipsis where they omit a part of a paragraph', () => {
    const filler = (word: string) => `${word} ${'of the sea and the wind '.repeat(16)}.`
    const text = [filler('First'), filler('Second'), filler('Third'), filler('Fourth'), filler('Fifth')].join(' ')
    const quotedWindow = (index: number) => {
      let seen = 0
      return quoted('tower', [{ text }], () => seen++ === index).text.split('\n\n')[1] ?? ''
    }
    expect(quotedWindow(0)).toMatch(/^First [\s\S]*\. …$/)
    expect(quotedWindow(1)).toMatch(/^… Second [\s\S]*\. …$/)
    expect(quoted('tower', [{ text: 'The tower.' }]).text).not.toContain('…')
  })

  it('show the header of a table once for several of its rows', () => {
    const text = 'boat | masts\nGull | 2\nTern | 3\nSkua | 1'
    const rows = ({ unit }: QuotationCandidate) => unit.kind === 'row' && !unit.text.startsWith('Tern')
    expect(quoted('masts', [{ text }], rows).text).toBe('[1] a.md\n\nboat | masts\nGull | 2\nSkua | 1')
  })
})

describe('the highlighted parts of a quotation', () => {
  it.each([
    ['When was the tower lit?', 'The tower was lit in 1908 by two keepers.', '1908'],
    ['How much does the tower cost?', 'The tower costs 300 euros a year.', '300 euros'],
    ['How long did the tower burn?', 'The tower did burn for nine days.', 'nine days'],
  ])('cover the requested value: %s', (query, text, value) => {
    expect(quoted(query, [{ text }]).marked).toEqual([value])
  })

  it('cover the sentence that matches the question best if the question requests no value', () => {
    const text = 'The sea is near. The keeper of the tower is Ida Keller. Boats are rare.'
    expect(quoted('Who is the keeper of the tower?', [{ text }]).marked).toEqual([
      'The keeper of the tower is Ida Keller.',
    ])
  })

  it('cover the line of a list or table that matches the question best', () => {
    const list = '- The Gull is in Brest.\n- The Tern is in Cork.'
    expect(quoted('Where is the Tern?', [{ text: list }]).marked).toEqual(['- The Tern is in Cork.'])
    const table = 'boat | port\nGull | Brest\nTern | Cork'
    const isTable = ({ unit }: QuotationCandidate) => unit.kind === 'table'
    expect(quoted('List the port of Gull, Gull of Brest and Tern', [{ text: table }], isTable).marked).toEqual([
      'Gull | Brest',
    ])
  })

  it('do not exist if the block is a single sentence', () => {
    expect(quoted('Who is the keeper?', [{ text: 'The keeper is Ida Keller.' }]).marked).toEqual([])
  })

  it('count offsets in the complete text, after headings, leads and other passages', () => {
    const { marked } = quoted(
      'When was the tower lit?',
      [
        { text: 'Lamps\n\nThe tower was lit in 1908 by two.' },
        { text: 'These are the dates:\n\n- The tower was lit in 1911.\n- The boat sank in 1950.' },
      ],
      ({ unit }) => unit.kind === 'list' || unit.heading === 'Lamps',
    )
    expect(marked).toEqual(['1908', '1911'])
  })
})
