import { describe, expect, it } from 'vitest'
import type { RankedPassage } from '../../../../src/engine/retrieval/query/evidence.js'
import { preferDays } from '../../../../src/engine/retrieval/query/prefer.js'

const passage = (
  filename: string,
  final: number,
  day: string | null,
  containedTerms = ['deposit', 'tool'],
): RankedPassage => ({
  passage: {
    ...{
      key: 1,
      doc_key: 1,
      id: filename,
      title: '',
      body: '',
      section: '[]',
      start_offset: 0,
      end_offset: 9,
      page: null,
    },
    ...{ kind: 'text', shows: null, ocr_pages: null, transcript_by: null, ordinal: 0, document_id: filename, filename },
    ...{ document_title: '', version: 1, artifact_hash: 'h', published_at: 0, author: null, document_date: day },
    ...{ source_id: null, source_url: null, external: 0 },
  },
  ...{ final, retrieval: final, containedTerms },
})
const order = (question: string, passages: ReturnType<typeof passage>[]) =>
  preferDays(question, passages).map(({ passage: { filename }, final }) => `${filename} ${final}`)

const OLD = passage('old', 0.9, '2022-01-01T00:00:00.000Z')
const NEW = passage('new', 0.5, '2024-01-01T00:00:00.000Z')
const UNDATED = passage('undated', 0.7, null)
const OTHER = passage('other', 0.4, '2025-01-01T00:00:00.000Z', ['deposit'])

describe('the passages for a question', () => {
  it('appear newest first if the question asks for the current value, and scores stay with their ranks', () => {
    expect(order('What is the current deposit for a tool?', [OLD, UNDATED, NEW, OTHER])).toEqual([
      'new 0.9',
      'undated 0.7',
      'old 0.5',
      'other 0.4',
    ])
  })

  it('begin with the passages of the year in the question', () => {
    expect(order('What was the deposit for a tool in 2024?', [OLD, NEW])).toEqual(['new 0.9', 'old 0.5'])
    expect(order('What was the deposit for a tool in 2022?', [OLD, NEW])).toEqual(['old 0.9', 'new 0.5'])
  })

  it('keep their order if the question names no time', () => {
    expect(order('What is the deposit for a tool?', [OLD, NEW])).toEqual(['old 0.9', 'new 0.5'])
  })
})
