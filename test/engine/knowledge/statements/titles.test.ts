import { describe, expect, it } from 'vitest'
import { areTitlesOfThings } from '../../../../src/engine/knowledge/statements/titles.js'

describe('titles of two documents', () => {
  const topics = new Set(['park', 'branch'])
  it.each([
    ['Manual of Atlas', 'Manual of Borealis', true],
    ['branch-harlow', 'branch-stroud', true],
    ['manual-kitchen', 'manual-shifts', false],
    ['Handbook: kiln', 'Handbook: studio', false],
    ['Handbook parking', 'Handbook visitors', false],
    ['parcels-1', 'parcels-2', false],
    ['Retention', 'Operations handbook', false],
    ['Handbook', 'Manual', false],
  ])('%s and %s name two different things of one kind: %s', (one, two, expected) => {
    expect(areTitlesOfThings(one, two, (stem) => topics.has(stem))).toBe(expected)
  })
})
