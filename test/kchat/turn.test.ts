import { describe, expect, it } from 'vitest'
import { findCitedSources, toSources } from '../../src/kchat/turn.js'

const resource = (position: number, more: object = {}) => ({ position, document_name: `${position}.md`, ...more })
const citedIn = (answer: string, resources: object[]) =>
  findCitedSources(answer, toSources({ metadata: { retriever_resources: resources } })).map(({ position }) => position)

describe('the sources of an answer', () => {
  it('include those that the service marks as cited, whatever marks a quoted document contains', () => {
    const resources = [resource(1, { cited: true }), resource(2, { cited: false }), resource(3, { cited: true })]
    expect(citedIn('[1] a.md\n\nSee [2].', resources)).toEqual([1, 3])
  })

  it('include those with a mark in the text if the service marks none', () => {
    expect(citedIn('It is so [2].', [resource(1), resource(2)])).toEqual([2])
  })
})
