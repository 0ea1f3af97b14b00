import { describe, expect, it } from 'vitest'
import { findCitedSources, formatSource, toSources } from '../../src/kchat/sources.js'

const resource = (position: number, more: object = {}) => ({ position, document_name: `${position}.md`, ...more })
const citedIn = (answer: string, resources: object[]) =>
  findCitedSources(answer, toSources({ metadata: { retriever_resources: resources } })).map(({ position }) => position)

describe('the sources of an answer in kchat', () => {
  it('include passages that the service labels as cited, whatever citation marks the text contains', () => {
    const resources = [resource(1, { cited: true }), resource(2, { cited: false }), resource(3, { cited: true })]
    expect(citedIn('[1] a.md\n\nSee [2].', resources)).toEqual([1, 3])
  })

  it('include passages with a citation mark in the text if the service does not label passages', () => {
    expect(citedIn('It is so [2].', [resource(1), resource(2)])).toEqual([2])
  })

  it('show section, page, score and address of a passage, as far as they are known', () => {
    const fields = { section_path: ['Setup', 'Linux'], page: 3, score: 0.914, source_url: 'https://example.com/vpn' }
    const lines = toSources({ metadata: { retriever_resources: [resource(1, fields), resource(2)] } }).map(formatSource)
    expect(lines).toEqual([
      expect.stringMatching(/^\[1\] 1\.md [›>] Setup [›>] Linux {2}p\. 3 {2}0\.91 {2}https:\/\/example\.com\/vpn$/),
      '[2] 2.md',
    ])
  })
})
