import { expect, it } from 'vitest'
import { unpack } from '../../../../src/engine/store/packed.js'
import { rebuildFromPassages } from '../../../../src/engine/upkeep/integrity/rebuild-from-passages.js'

type Passage = Parameters<typeof rebuildFromPassages>[1][number]

let key = 0
const passage = (start: number, text: string, rest: Partial<Passage> = {}): Passage => ({
  ...{ key: ++key, id: `id-${key}`, ordinal: key, title: 'T', text, section: '["Doc"]', outline_node: '1' },
  ...{ elements: '[]', start_offset: start, end_offset: start + text.length, page: null, kind: 'text' },
  row_hash: new Uint8Array(16),
  ...rest,
})

it('text rebuilt from passages has each passage at its offset, blanks in between, and no repeated header', async () => {
  const { artifact } = await rebuildFromPassages(
    'Doc',
    [passage(0, 'first'), passage(8, 'second'), passage(20, '| head |\n| row |', { kind: 'table', end_offset: 27 })],
    {},
  )
  expect(artifact.value.text).toBe('first   second      | row |')
  expect(await unpack(artifact.packed)).toEqual(artifact.value)
})

it('elements rebuilt from passages keep their ids; the first of a passage gets its text, kind and page', async () => {
  const { artifact } = await rebuildFromPassages(
    'Doc',
    [
      passage(3, 'words', { elements: '["a","b",7]', section: '["Doc","Part",1]', page: 4 }),
      ...(['table', 'code', 'list'] as const).map((kind) => passage(10, kind, { kind, elements: `["${kind}"]` })),
      passage(20, 'damaged', { elements: '["c"', section: '{}' }),
      passage(30, 'no list', { elements: '{"a":1}' }),
    ],
    {},
  )
  const element = (id: string, type: string, text: string, startOffset: number, endOffset: number) => ({
    ...{ id, type, text, sectionPath: ['Doc'], metadata: { startOffset, endOffset } },
  })
  expect(artifact.value.elements).toEqual([
    { ...element('a', 'paragraph', 'words', 3, 8), sectionPath: ['Doc', 'Part'], pageNumber: 4 },
    { ...element('b', 'paragraph', '', 3, 3), sectionPath: ['Doc', 'Part'], pageNumber: 4 },
    element('table', 'table', 'table', 10, 15),
    element('code', 'code', 'code', 10, 14),
    element('list', 'list', 'list', 10, 14),
  ])
})

it('sections rebuilt from passages regain their parents, elements (each once) and offsets', async () => {
  const { outline } = await rebuildFromPassages(
    'Doc',
    [
      passage(40, 'deep', { outline_node: '1.2.1', section: '["Doc","Two","Deep"]', elements: '["c","d"]' }),
      passage(10, 'one', { outline_node: '1.1', section: '["Doc","One"]', elements: '["a"]' }),
      passage(0, 'before', { outline_node: '1.1', section: '["Doc","One"]', elements: '["a","b"]' }),
      passage(90, 'other', { outline_node: '2', section: '[]' }),
    ],
    {},
  )
  const section = (id: string, title: string, sectionPath: string[], rest: object = {}) => ({
    ...{ id, title, level: sectionPath.length, tocSource: 'heading', sectionPath, children: [], sourceElementIds: [] },
    ...rest,
  })
  expect(outline.value).toEqual([
    section('1', 'Doc', ['Doc'], {
      tocSource: 'document',
      children: [
        section('1.2', 'Two', ['Doc', 'Two'], {
          children: [
            section('1.2.1', 'Deep', ['Doc', 'Two', 'Deep'], {
              ...{ sourceElementIds: ['c', 'd'], startOffset: 40, endOffset: 44 },
            }),
          ],
        }),
        section('1.1', 'One', ['Doc', 'One'], { sourceElementIds: ['a', 'b'], startOffset: 0, endOffset: 13 }),
      ],
    }),
    section('2', 'Doc', [], { level: 1, tocSource: 'document', startOffset: 90, endOffset: 95 }),
  ])
  expect(await unpack(outline.packed)).toEqual(outline.value)
})

it('rebuilding a version from passages keeps an artifact and an outline that are still readable', async () => {
  const read = { artifact: { text: 'whole', elements: [] }, outline: [] }
  const { artifact, outline } = await rebuildFromPassages('Doc', [passage(0, 'x')], read)
  expect(artifact.value).toBe(read.artifact)
  expect(outline.value).toBe(read.outline)
})
