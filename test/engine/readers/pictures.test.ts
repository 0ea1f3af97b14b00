import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { removeFolder } from '../../../bench/lib/removed-folder.js'
import { createCompiler } from '../../../src/engine/readers/compiler.js'
import { readResidentBytes } from '../../../src/lib/resident-bytes.js'
import { PICTURES, POLYGLOTS } from './hostile-pictures.js'
import { makeEpub, makePptx } from './office.js'
import { makeDocx, read, textOf } from './read.js'

const MIB = 1024 * 1024
const folder = mkdtempSync(join(tmpdir(), 'ks-pictures-'))
const compiler = createCompiler()
afterAll(async () => {
  await compiler.close()
  removeFolder(folder)
})

const inline = (pictures: Readonly<Record<string, Buffer>>) =>
  Object.entries(pictures).map(
    ([name, bytes]) => `<p>${name}</p><img alt="${name}" src="data:image/png;base64,${bytes.toString('base64')}">`,
  )

function deck(pictures: Readonly<Record<string, Buffer>>): Buffer {
  const names = Object.keys(pictures)
  const shapes = names.map(
    (name) => `<p:pic><p:cNvPr id="1" name="x" descr="${name}"/><a:blip r:embed="${name}"/></p:pic>`,
  )
  const relations = names.map((name) => ({ id: name, kind: 'image', target: `../media/${name}` }))
  const parts = Object.entries(pictures).map(([name, content]) => ({ name: `ppt/media/${name}`, content }))
  return makePptx([{ shapes: shapes.join(''), relations }], parts)
}

function word(pictures: Readonly<Record<string, Buffer>>): Buffer {
  const office = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
  const names = Object.keys(pictures)
  const drawings = names.map(
    (name) =>
      `<w:p><w:r><w:t>${name}</w:t></w:r></w:p><w:p><w:r><w:drawing><wp:inline xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing"><wp:docPr id="1" name="x" descr="${name}"/><a:graphic xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><a:graphicData><pic:pic xmlns:pic="http://schemas.openxmlformats.org/drawingml/2006/picture"><pic:blipFill><a:blip xmlns:r="${office}" r:embed="${name}"/></pic:blipFill></pic:pic></a:graphicData></a:graphic></wp:inline></w:drawing></w:r></w:p>`,
  )
  const rows = names.map((name) => `<Relationship Id="${name}" Type="${office}/image" Target="media/${name}"/>`)
  const relations = `<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${rows.join('')}</Relationships>`
  return makeDocx(drawings.join(''), [
    { name: 'word/_rels/document.xml.rels', content: relations },
    ...Object.entries(pictures).map(([name, content]) => ({ name: `word/media/${name}`, content })),
  ])
}

function book(pictures: Readonly<Record<string, Buffer>>): Buffer {
  const images = Object.keys(pictures).map((name) => `<p>${name}</p><img alt="${name}" src="../${name}"/>`)
  const extra = Object.entries(pictures).map(([name, content]) => ({ name: `OEBPS/${name}`, content }))
  return makeEpub([{ name: 'one', xhtml: images.join('') }], { extra })
}

const CARRIERS = {
  'a.html': (pictures: Readonly<Record<string, Buffer>>) => Buffer.from(inline(pictures).join('')),
  'a.pptx': deck,
  'a.docx': word,
  'a.epub': book,
}

describe('A39: pictures that claim enormous sizes', () => {
  const bombs = Object.fromEntries(Object.entries(PICTURES).map(([ending, bytes]) => [`bomb.${ending}`, bytes]))

  it('keep their bytes as items of documents, read within 384 MiB of memory', { timeout: 120_000 }, async () => {
    for (const [filename, carry] of Object.entries(CARRIERS)) {
      const path = join(folder, filename)
      writeFileSync(path, carry(bombs))
      const before = process.memoryUsage().rss
      const [result] = await compiler.compile([{ path, filename }])
      const found = result?.ok === true ? result.document.assets : []
      expect(found.length, filename).toBeGreaterThanOrEqual(4)
      for (const { bytes } of found)
        expect(
          Object.values(bombs).some((bomb) => bomb.equals(bytes)),
          filename,
        ).toBe(true)
      for (const pid of compiler.pids()) expect(readResidentBytes(pid), filename).toBeLessThan(384 * MIB)
      expect(process.memoryUsage().rss - before, filename).toBeLessThan(128 * MIB)
    }
  })

  it('fail as separate files within 128 MiB; only an SVG is read, as text', { timeout: 120_000 }, async () => {
    for (const [filename, bytes] of Object.entries(bombs)) {
      const path = join(folder, filename)
      writeFileSync(path, bytes)
      const before = process.memoryUsage().rss
      const [result] = await compiler.compile([{ path, filename }])
      // An SVG is readable as text.
      if (filename.endsWith('.svg'))
        expect(result?.ok === true ? (await textOf(result.document)).length : 0).toBeLessThan(500)
      else expect(result?.ok, filename).toBe(false)
      expect(process.memoryUsage().rss - before, filename).toBeLessThan(128 * MIB)
    }
  })
})

describe('A42: pictures with the content of another format', () => {
  it.each(Object.entries(CARRIERS))('get the media type of their content (%s)', async (filename, carry) => {
    const pictures = Object.fromEntries(Object.entries(POLYGLOTS).map(([name, { bytes }]) => [name, bytes]))
    const { items } = await read(filename, carry(pictures))
    const assets = items.flatMap(({ asset, sourceMetadata }) =>
      asset === undefined ? [] : [{ ...asset, sourceMetadata }],
    )
    expect(assets.length).toBe(Object.keys(POLYGLOTS).length)
    for (const { bytes, contentType, sourceMetadata } of assets) {
      const [name, known] = Object.entries(POLYGLOTS).find(([, one]) => one.bytes.equals(bytes)) ?? []
      expect([name, contentType, sourceMetadata.contentType]).toEqual([name, known?.type, known?.type])
    }
  })

  it('get the type of their first bytes as separate files, whatever their name', async () => {
    const pdf = Buffer.from(`%PDF-1.7\n<html><body>text</body></html>`)
    for (const name of ['a.html', 'a.pdf', 'a.png', 'a'])
      await expect(read(name, pdf), name).rejects.toThrow(`${name} is not a readable PDF`)
    const zipped = Buffer.concat([deck({}), Buffer.from('%PDF-1.7')])
    for (const name of ['a.pdf', 'a.pptx', 'a.html']) await expect(read(name, zipped), name).rejects.not.toThrow(/PDF/)
  })
})
