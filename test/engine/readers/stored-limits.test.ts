import { describe, expect, it } from 'vitest'
import { prepareDocument } from '../../../src/engine/readers/prepare.js'
import type { CompiledDocument, CompiledElement } from '../../../src/engine/store/compiled.js'

const element = (id: number, text: string): CompiledElement => ({
  id: `e${id}`,
  type: 'paragraph',
  text,
  sectionPath: [],
  metadata: {},
})

function documentOf(elements: CompiledElement[]): CompiledDocument {
  return {
    ...{ contentType: 'text', parser: 'native-markdown', title: 'Large', mediaType: 'text/plain', metadata: {} },
    ...{
      text: elements.map(({ text = '' }) => text).join('\n\n'),
      elements,
      outline: [],
      nodes: [],
      items: [],
      recognised: [],
    },
  }
}

describe('the limits of a stored document', () => {
  it('reject a document whose text and elements exceed 96 MiB as JSON, and name the limit', async () => {
    const part = 'x'.repeat(10 * 1024 * 1024)
    await expect(
      prepareDocument(documentOf(Array.from({ length: 5 }, (_, n) => element(n, part)))),
    ).rejects.toMatchObject({
      code: 'limit-exceeded',
      message: 'the text and elements of the document exceed the limit of 96 MiB as JSON',
    })
  })

  it('reject a document with an element above 16 MiB as JSON, and name the limit', async () => {
    await expect(prepareDocument(documentOf([element(1, 'x'.repeat(17 * 1024 * 1024))]))).rejects.toMatchObject({
      code: 'limit-exceeded',
      message: 'a paragraph of the document exceeds the limit of 16 MiB as JSON',
    })
  })

  it('admit a document of 40 MiB of text and elements', async () => {
    const part = 'x'.repeat(1024 * 1024)
    const { segments } = await prepareDocument(documentOf(Array.from({ length: 20 }, (_, n) => element(n, part))))
    expect(segments).toBe(20)
  })
})
