import { expect, test } from 'vitest'
import { filesBelow, readFile } from './tree.js'

const PAGES = ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'bench/README.md', ...filesBelow('docs')]
/** The generated pages repeat descriptions of flags and columns, and other pages quote definitions of the glossary. */
const EXCEPTIONS = new Set(['docs/cli.md', 'docs/data-model.md', 'docs/glossary.md'])
const MIN_LENGTH = 80

/** Paragraphs and table rows outside code fences: the pages have each of them on one line. */
function linesOf(page: string): { location: string; text: string }[] {
  const text = readFile(page).replaceAll(/^ *```.*?^ *```$/gms, (fence) => fence.replaceAll(/[^\n]/g, ''))
  return text.split('\n').map((line, index) => ({ location: `${page}:${index + 1}`, text: line.trim() }))
}

test('no two paragraphs or table rows of the documentation are equal or begin alike', () => {
  const locations = new Map<string, string[]>()
  for (const page of PAGES.filter((path) => /^(?:docs\/|bench\/)?[^/]+\.md$/.test(path) && !EXCEPTIONS.has(path))) {
    for (const { location, text } of linesOf(page)) {
      if (text.length < MIN_LENGTH) continue
      const beginning = text.slice(0, MIN_LENGTH)
      locations.set(beginning, [...(locations.get(beginning) ?? []), location])
    }
  }
  const repeated = [...locations].filter(([, list]) => list.length > 1)
  expect(repeated.map(([beginning, list]) => `${list.join(', ')}: ${beginning}`)).toEqual([])
})
