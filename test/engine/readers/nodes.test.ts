import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { splitLines, splitText } from '../../../src/engine/readers/split.js'
import { countWords } from '../../../src/engine/readers/words.js'
import type { CompiledDocument } from '../../../src/engine/store/compiled.js'
import { read, words } from './read.js'

/** Removes control characters that make a file binary, or UTF-16 without a byte order mark; other tests cover those. */
function asText(text: string): string {
  return [...text].filter((character) => character >= ' ' || '\t\n\f\r'.includes(character)).join('')
}

function checkOffsets(document: CompiledDocument): void {
  for (const element of document.elements) {
    if (element.text === undefined) continue
    const { startOffset, endOffset } = element.metadata
    expect(document.text.slice(Number(startOffset), Number(endOffset))).toBe(element.text)
  }
  const ids = new Set(document.elements.map((element) => element.id))
  const sections = new Set<string>()
  const walk = (nodes: CompiledDocument['outline']): void => {
    for (const node of nodes) {
      sections.add(node.id)
      walk(node.children)
    }
  }
  walk(document.outline)
  let covered = 0
  for (const [ordinal, node] of document.nodes.entries()) {
    expect(node.ordinal).toBe(ordinal)
    const source = document.text.slice(node.startOffset, node.endOffset)
    if (node.kind === 'table') expect(node.text.endsWith(source)).toBe(true)
    else expect(node.text).toBe(source)
    expect(sections.has(node.outlineNodeId)).toBe(true)
    expect(node.sourceElementIds.every((id) => ids.has(id))).toBe(true)
    // Only white space lies between two nodes, or headings that the next node has in its title. A heading that differs
    // from the document's name only in case is the same title.
    const gap = document.text.slice(covered, Math.max(covered, node.startOffset)).trim()
    for (const line of gap.split('\n'))
      if (line.trim() !== '') expect(plain(node.title)).toContain(plain(line.trim()).slice(0, 200))
    covered = Math.max(covered, node.endOffset)
  }
  expect(document.text.slice(covered).trim()).toBe('')
}

const plain = (title: string): string => title.replace(/\s+/g, ' ').toLowerCase()

describe('the splitting of a document into nodes', () => {
  it('makes one node of a short document, with the title of the document', async () => {
    const document = await read('a.md', `# Whales\n\n${words(270)}`)
    expect(document.nodes).toHaveLength(1)
    expect(document.nodes[0]).toMatchObject({
      title: 'Whales',
      text: words(270),
      outlineNodeId: 's1',
      sectionPath: ['Whales'],
    })
  })

  it.each([281, 300, 350])('makes one or two nodes of %i words, each with the title of the document', async (count) => {
    const document = await read('a.md', `# Whales\n\n${words(count)}`)
    expect([1, 2]).toContain(document.nodes.length)
    expect(document.nodes.every((node) => node.title === 'Whales')).toBe(true)
  })

  it('leaves no tiny last node if sentences end before the size limit', async () => {
    const sentences = Array.from({ length: 13 }, (_, index) => `Finding ${index} ${words(25, `f${index}w`)}.`)
    const document = await read('a.md', `# Abstract\n\n${sentences.join(' ')}`)
    expect(document.nodes).toHaveLength(2)
  })

  it('splits a long paragraph evenly, with an overlap of about 40 words', async () => {
    const sentence = (index: number): string => `Sentence ${index} ${words(10, `s${index}w`)}.`
    const document = await read('a.md', Array.from({ length: 80 }, (_, index) => sentence(index)).join(' '))
    const sizes = document.nodes.map((node) => countWords(node.text))
    expect(Math.max(...sizes)).toBeLessThanOrEqual(280)
    expect(Math.min(...sizes)).toBeGreaterThan(140)
    for (let i = 1; i < document.nodes.length; i++) {
      const shared = document.text.slice(document.nodes[i]!.startOffset, document.nodes[i - 1]!.endOffset)
      expect(Math.abs(countWords(shared) - 40)).toBeLessThan(15)
      expect(document.nodes[i]!.text.startsWith('Sentence')).toBe(true)
    }
  })

  it('merges small subsections into their section, and takes the heading path as node title', async () => {
    const sections = Array.from(
      { length: 4 },
      (_, index) => `## Part ${index}\n\n${words(60)}\n\n### Deep\n\n${words(50)}`,
    )
    const document = await read('a.md', `# Book\n\n${sections.join('\n\n')}`)
    expect(document.nodes.map((node) => node.title)).toEqual([
      'Book › Part 0',
      'Book › Part 1',
      'Book › Part 2',
      'Book › Part 3',
    ])
    expect(document.nodes[1]?.text.startsWith('word0')).toBe(true)
    expect(document.nodes[1]?.text).toContain('\n\nDeep\n\n')
  })

  it('keeps code of up to 400 words in one node, and repeats the header in each node of a long table', async () => {
    const rows = Array.from({ length: 300 }, (_, index) => `| r${index} | some value ${index} |`)
    const document = await read(
      'a.md',
      `# T\n\n${words(50)}\n\n| key | value |\n|---|---|\n${rows.join('\n')}\n\n\`\`\`\n${words(380)}\n\`\`\`\n`,
    )
    const tables = document.nodes.filter((node) => node.kind === 'table')
    expect(tables.length).toBeGreaterThan(1)
    expect(tables.every((node) => node.text.startsWith('key | value\nr'))).toBe(true)
    expect(document.nodes.filter((node) => node.kind === 'code')).toHaveLength(1)
    checkOffsets(document)
  })

  it('counts a Han or Kana character as 0.6 words', async () => {
    expect(countWords('战国无双')).toBeCloseTo(2.4)
    expect(countWords('two words')).toBe(2)
    expect(countWords('x'.repeat(240))).toBe(10)
    const document = await read('a.md', `# 战国\n\n${'本作以三大故事为主轴，分别是以武田信玄等人为主。'.repeat(40)}`)
    expect(document.language).toBe('zh')
    expect(document.nodes.length).toBeGreaterThanOrEqual(2)
    expect(document.nodes.length).toBeLessThanOrEqual(4)
    expect(document.nodes.every((node) => node.text.endsWith('。'))).toBe(true)
  })

  it('makes one node for each of 20,000 headings without text', async () => {
    const document = await read(
      'a.md',
      Array.from({ length: 20_000 }, (_, index) => `## H${index % 7} ${index}`).join('\n'),
    )
    expect(document.nodes).toHaveLength(20_000)
    expect(document.text).toContain('H1 1')
  })

  const piece = fc.oneof(
    fc
      .tuple(fc.integer({ min: 1, max: 6 }), fc.string({ maxLength: 30 }))
      .map(([level, text]) => `${'#'.repeat(level)} ${text}`),
    fc.integer({ min: 0, max: 700 }).map((count) => words(count)),
    fc.integer({ min: 1, max: 60 }).map((count) => words(count).replaceAll(' ', '. ')),
    fc.integer({ min: 1, max: 60 }).map((count) => words(count).replace(/(^| )/g, '$1\n- ')),
    fc.integer({ min: 1, max: 200 }).map((count) => `| a | b |\n|---|---|\n${'| one two | three |\n'.repeat(count)}`),
    fc.integer({ min: 1, max: 200 }).map((count) => `\`\`\`\n${'let a = b + c\n'.repeat(count)}\`\`\``),
    fc.string({ unit: 'binary', maxLength: 200 }),
    fc.string({ unit: 'grapheme', maxLength: 400 }),
  )

  it('gives nodes and elements exact offsets and loses no text, for any Markdown', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 12 }), async (pieces) => {
        const source = asText(`x\n\n${pieces.join('\n\n')}`)
        checkOffsets(await read('a.md', source))
      }),
      { numRuns: 150 },
    )
  })

  it('gives nodes and elements exact offsets in HTML, CSV, YAML, XML, JSON, source code and plain text', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.string({ unit: 'grapheme', maxLength: 2000 }),
        fc.constantFrom('a.txt', 'a.html', 'a.csv', 'a.yaml', 'a.rst', 'a.org', 'a.ts', 'a.xml'),
        async (text, name) => {
          checkOffsets(await read(name, asText(`x ${text}\nend`)))
        },
      ),
      { numRuns: 200 },
    )
    await fc.assert(
      fc.asyncProperty(fc.json({ maxDepth: 5 }), async (json) => {
        const document = await read('a.json', `[1,${json}]`)
        checkOffsets(document)
      }),
      { numRuns: 100 },
    )
  })

  it('covers every word of a text once or twice, in order', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme', maxLength: 3000 }),
        fc.integer({ min: 10, max: 60 }),
        (text, largest) => {
          for (const ranges of [splitText(text, { maxWords: largest, overlapWords: 5 }), splitLines(text, largest)]) {
            let end = 0
            let endBefore = 0
            for (const range of ranges) {
              expect(range.end).toBeGreaterThan(range.start)
              expect(
                text
                  .slice(end, Math.max(end, range.start))
                  .trim()
                  .replace(/[\u200b\u0000-\u0020]/g, ''),
              ).toBe('')
              expect(range.end).toBeGreaterThan(end)
              expect(range.start).toBeGreaterThanOrEqual(endBefore)
              endBefore = end
              end = range.end
            }
          }
        },
      ),
    )
  })
})
