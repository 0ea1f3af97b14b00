import { describe, expect, it } from 'vitest'
import { createPathMatcher, isPathPattern } from '../../../src/lib/text/path-pattern.js'

const PATHS = ['vpn.md', 'ops/vpn.md', 'ops/net/vpn.md', 'team/ops/vpn.md', 'ops/vpn.txt', 'notes [draft].md']
const matched = (pattern: string) => PATHS.filter(createPathMatcher(pattern))

describe('a pattern of paths', () => {
  it('matches within a folder with a star, and any folders with two', () => {
    expect(matched('ops/*')).toEqual(['ops/vpn.md', 'team/ops/vpn.md', 'ops/vpn.txt'])
    expect(matched('ops/**')).toEqual(['ops/vpn.md', 'ops/net/vpn.md', 'team/ops/vpn.md', 'ops/vpn.txt'])
    expect(matched('ops/**/vpn.md')).toEqual(['ops/vpn.md', 'ops/net/vpn.md', 'team/ops/vpn.md'])
    expect(matched('*.txt')).toEqual(['ops/vpn.txt'])
  })

  it('starts at the root with a slash in front, and otherwise matches the last parts', () => {
    expect(matched('/ops/*')).toEqual(['ops/vpn.md', 'ops/vpn.txt'])
    expect(matched('/vpn.md')).toEqual(['vpn.md'])
    expect(matched('./vpn.md')).toEqual(['vpn.md', 'ops/vpn.md', 'ops/net/vpn.md', 'team/ops/vpn.md'])
    expect(matched('pn.md')).toEqual([])
  })

  it('knows single characters, sets and ranges, and names with brackets', () => {
    expect(matched('/vp?.m[a-e]')).toEqual(['vpn.md'])
    expect(matched('/vp[!a-m].md')).toEqual(['vpn.md'])
    expect(matched('/vp[!n].md')).toEqual([])
    expect(matched('notes [draft].md')).toEqual(['notes [draft].md'])
  })

  it('matches many stars without trying all ways to divide the path', () => {
    const path = 'a'.repeat(1000)
    expect(createPathMatcher(`${'*a'.repeat(300)}b`)(path)).toBe(false)
    expect(createPathMatcher(`${'**/a/'.repeat(150)}b`)(Array(300).fill('a').join('/'))).toBe(false)
  })

  it('differs from a plain path by its wildcards', () => {
    expect(['ops/*', 'a?.md', '[ab].md', '**'].map(isPathPattern)).toEqual([true, true, true, true])
    expect(['ops/vpn.md', 'a[1.md', '[].md'].map(isPathPattern)).toEqual([false, false, false])
  })
})
