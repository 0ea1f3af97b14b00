import { describe, expect, it } from 'vitest'
import { formatAge, formatBytes, formatDuration, parseSize, parseSpan } from '../../src/cli/units.js'
import { computeEditDistance, findNearest } from '../../src/lib/text/nearest.js'
import { formatCount, pluralize } from '../../src/lib/text/pluralize.js'

describe('units in output', () => {
  it('format sizes in powers of 1024 with one digit below a hundred', () => {
    expect([0, 999, 1024, 1_500_000, 1024 ** 2 - 1, 512 * 1024 ** 2].map(formatBytes)).toEqual([
      '0 B',
      '999 B',
      '1.0 KiB',
      '1.4 MiB',
      '1.0 MiB',
      '512 MiB',
    ])
  })

  it('group thousands and use singular and plural', () => {
    expect(formatCount(1_234_567)).toBe('1,234,567')
    expect(formatCount(-1234)).toBe('-1,234')
    expect([pluralize(1, 'file'), pluralize(0, 'file')]).toEqual(['1 file', '0 files'])
  })

  it('format the age of an event', () => {
    const now = Date.parse('2026-11-21T12:00:00Z')
    const cases: [string, string][] = [
      ['2026-11-21T11:59:55Z', 'just now'],
      ['2026-11-21T11:57:00Z', '3 min ago'],
      ['2026-11-21T07:00:00Z', '5 h ago'],
      ['2026-11-20T11:00:00Z', 'yesterday'],
      ['2026-11-16T11:00:00Z', '5 days ago'],
      ['2025-01-02T11:00:00Z', '2025-01-02'],
      ['2026-11-22T08:30:00Z', '2026-11-22 08:30'],
      ['nonsense', 'nonsense'],
    ]
    for (const [iso, expected] of cases) expect(formatAge(iso, now)).toBe(expected)
  })

  it('format durations in a fitting unit', () => {
    expect([312, 4200, 59_000, 600_000, 11_520_000, 864_000_000].map(formatDuration)).toEqual([
      '312 ms',
      '4.2 s',
      '59 s',
      '10 min',
      '3 h 12 min',
      '10 days',
    ])
  })
})

describe('units in arguments', () => {
  it('parse durations and sizes', () => {
    expect(['500ms', '30s', '90m', '12h', '7d'].map((text) => parseSpan(text, '--x'))).toEqual([
      500, 30_000, 5_400_000, 43_200_000, 604_800_000,
    ])
    expect(['512', '20K', '1.5MiB', '2 GB'].map((text) => parseSize(text, '--x'))).toEqual([
      512, 20_480, 1_572_864, 2_147_483_648,
    ])
  })

  it('cause an error with the rule and the value if they are invalid', () => {
    expect(() => parseSpan('soon', '--expires')).toThrow(
      '--expires must be a time such as 30s, 90m, 12h or 7d, received "soon"',
    )
    expect(() => parseSize('-1', '--max-size')).toThrow(
      '--max-size must be a size such as 20M or 1.5GiB, received "-1"',
    )
  })
})

describe('the suggested name for an unknown name', () => {
  it('tolerates a typo and an incomplete name', () => {
    expect(findNearest('spces', ['spaces', 'docs'])).toBe('spaces')
    expect(findNearest('qurey', ['query', 'quickstart'])).toBe('query')
    expect(findNearest('quick', ['query', 'quickstart'])).toBe('quickstart')
    expect(findNearest('zzz', ['spaces', 'docs'])).toBeUndefined()
  })

  it('counts a swap of adjacent letters as one edit', () => {
    expect(computeEditDistance('ab', 'ba')).toBe(1)
    expect(computeEditDistance('kitten', 'sitting')).toBe(3)
    expect(computeEditDistance('', 'abc')).toBe(3)
  })
})
