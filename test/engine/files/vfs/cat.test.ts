import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { TestSpace } from './space.js'

let space: TestSpace
beforeEach(() => {
  space = new TestSpace()
})
afterEach(() => space.close())

function cat(path: string, offset = 0, maxBytes = 1000) {
  return space.fs.cat(space.caller, space.id, { path, offset, maxBytes })
}

describe('cat in the virtual file system', () => {
  it('reads documents, passages and evidence by their paths', async () => {
    const { id, nodeIds } = await space.add({
      filename: 'a/b.md',
      mimeType: 'text/markdown',
      sections: [
        [['One'], 'First.'],
        [['Two'], 'Second.'],
      ],
    })
    expect(await cat('/sources/uploads/a/b.md')).toMatchObject({
      path: '/sources/uploads/a/b.md',
      content: 'One\n\nFirst.\n\nTwo\n\nSecond.',
      contentType: 'text/markdown',
      offset: 0,
      totalChars: 25,
      truncated: false,
      resourceType: 'document',
      targetId: id,
    })
    expect(await cat('/knowledge/documents/b.md')).toMatchObject({
      content: 'One\n\nFirst.\n\nTwo\n\nSecond.',
      contentType: 'text/markdown',
      resourceType: 'document',
      targetId: id,
    })
    expect(await cat('/knowledge/documents/b.md/Two/0002')).toMatchObject({
      content: 'Second.',
      contentType: 'text/plain; charset=utf-8',
      resourceType: 'node',
      targetId: nodeIds[1],
    })
    const trace = space.addTrace(nodeIds, {}, ['said first', 'said second'])
    expect(await cat(`/evidence/${trace}/${nodeIds[1]}`)).toMatchObject({ content: 'said second' })
  })

  it('returns the text of a file type other than Markdown as plain text', async () => {
    await space.add({ filename: 'a.pdf', mimeType: 'application/pdf', text: 'page one' })
    expect(await cat('/sources/uploads/a.pdf')).toMatchObject({
      content: 'page one',
      contentType: 'text/plain; charset=utf-8',
    })
  })

  it.each(['/sources', '/sources/uploads', '/sources/uploads/a', '/knowledge/documents/b.md/One', '/evidence'])(
    'rejects the directory %s',
    async (path) => {
      await space.add({ filename: 'a/b.md', sections: [[['One'], 'First.']] })
      await expect(cat(path)).rejects.toMatchObject({
        code: 'invalid-request',
        message: expect.stringContaining('is a directory'),
      })
    },
  )

  it('fails with not-found for unpublished, deleted and unknown documents', async () => {
    await space.add({ filename: 'new', state: 'pending' })
    const { key } = await space.add({ filename: 'old' })
    await cat('/sources/uploads/old')
    space.delete(key)
    for (const name of ['new', 'old', 'none'])
      await expect(cat(`/sources/uploads/${name}`)).rejects.toMatchObject({ code: 'not-found' })
  })

  it('pages through any text without loss and without splitting a character', async () => {
    const { key } = await space.add({ filename: 'a' })
    let version = 1
    await fc.assert(
      fc.asyncProperty(
        fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }),
        fc.integer({ min: 1, max: 9 }),
        async (text, size) => {
          fc.pre(text.isWellFormed())
          version += 1
          await space.addVersion(key, { filename: 'a', text }, version, space.publish())
          const parts: string[] = []
          for (let offset: number | undefined = 0; offset !== undefined; ) {
            const page = await cat('/sources/uploads/a', offset, size)
            expect(page.offset).toBe(offset)
            expect(page.content.isWellFormed()).toBe(true)
            expect(Buffer.byteLength(page.content) <= size || [...page.content].length === 1).toBe(true)
            expect(page.truncated).toBe(page.nextOffset !== undefined)
            parts.push(page.content)
            offset = page.nextOffset
          }
          expect(parts.join('')).toBe(text)
        },
      ),
      { numRuns: 40 },
    )
  })

  it('moves an offset inside a character to the start of the character', async () => {
    await space.add({ filename: 'a', text: 'x\u{1f600}y' })
    expect(await cat('/sources/uploads/a', 2)).toMatchObject({ offset: 1, content: '\u{1f600}y' })
    expect(await cat('/sources/uploads/a', 99)).toMatchObject({
      offset: 4,
      content: '',
      truncated: false,
      totalChars: 4,
    })
  })
})
