import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readShapes } from '../../../src/engine/readers/office/slide-shapes.js'
import { makePptx, shape } from './office.js'
import { failureOf, makeZip, read } from './read.js'

const seen = (document: Awaited<ReturnType<typeof read>>): unknown[] =>
  document.elements.map((element) => [element.pageNumber, element.type, element.text])

describe('PowerPoint presentations', () => {
  it('give slides in presentation order, with titles, list levels, notes and slide numbers', async () => {
    const deck = await read(
      'deck.pptx',
      makePptx([
        { shapes: shape('With a subtitle', 'subTitle') + shape('The title', 'ctrTitle') },
        {
          shapes: `${shape('Points', 'title')}${shape('One\n>Below one\n!Not a point', 'body')}${shape('3', 'sldNum')}${shape('© Us', 'ftr')}`,
          notes: shape('Say hello.\nThen stop.', 'body') + shape('2', 'sldNum'),
        },
        { shapes: `${shape('A loose box\n*with a bullet')}${shape('© Us', 'ftr')}` },
      ]),
    )
    expect(deck.mediaType).toBe('application/vnd.openxmlformats-officedocument.presentationml.presentation')
    expect(deck.title).toBe('The title')
    expect(seen(deck)).toEqual([
      [1, 'title', 'The title'],
      [1, 'paragraph', 'With a subtitle'],
      [2, 'heading', 'Points'],
      [2, 'list', '- One\n  - Below one'],
      [2, 'paragraph', 'Not a point'],
      [2, 'paragraph', '© Us'],
      [2, 'paragraph', 'Say hello.\nThen stop.'],
      [3, 'paragraph', 'A loose box'],
      [3, 'list', '- with a bullet'],
    ])
    expect(deck.elements[6]?.metadata.role).toBe('notes')
    expect(deck.outline.map((node) => [node.title, node.tocSource, node.startPage])).toEqual([
      ['The title', 'heading', 1],
      ['Points', 'heading', 2],
      ['Slide 3', 'page', 3],
    ])
    expect(deck.nodes.map((node) => node.pageNumber)).toEqual(expect.arrayContaining([1, 2, 3]))
    expect(deck.metadata.pageCount).toBe(3)
  })

  it('give tables, texts of diagrams and pictures with their descriptions', async () => {
    const table = ['K|V', 'x|1']
      .map((line) =>
        line.split('|').map((text) => `<a:tc><a:txBody><a:p><a:r><a:t>${text}</a:t></a:r></a:p></a:txBody></a:tc>`),
      )
      .map((cells) => `<a:tr>${cells.join('')}</a:tr>`)
    const document = await read(
      'rich.pptx',
      makePptx(
        [
          {
            shapes: `<p:graphicFrame><a:tbl>${table.join('')}</a:tbl></p:graphicFrame><p:graphicFrame><dgm:relIds r:dm="d"/></p:graphicFrame><p:pic><p:nvPicPr><p:cNvPr id="4" name="p" descr="A cat"/></p:nvPicPr><p:blipFill><a:blip r:embed="i"/></p:blipFill></p:pic><mc:AlternateContent><mc:Choice>${shape('Once')}</mc:Choice><mc:Fallback>${shape('Once')}</mc:Fallback></mc:AlternateContent>`,
            relations: [
              { id: 'd', kind: 'diagramData', target: '../diagrams/data1.xml' },
              { id: 'i', kind: 'image', target: '../media/cat.png' },
            ],
          },
        ],
        [
          {
            name: 'ppt/diagrams/data1.xml',
            content:
              '<dgm:dataModel><dgm:pt><dgm:t><a:p><a:r><a:t>Plan</a:t></a:r></a:p></dgm:t></dgm:pt></dgm:dataModel>',
          },
          { name: 'ppt/media/cat.png', content: Buffer.from('89504e470d0a1a0a', 'hex') },
        ],
      ),
    )
    expect(seen(document)).toEqual([
      [1, 'table', 'K | V\nx | 1'],
      [1, 'list', '- Plan'],
      [1, 'image', 'A cat'],
      [1, 'paragraph', 'Once'],
    ])
    expect(document.items.find((item) => item.modality === 'image')?.asset?.contentType).toBe('image/png')
  })

  it('get recognised by their archive entries, whatever their file name and embedded files', async () => {
    const inner = makeZip([{ name: 'word/document.xml', content: '<a/>' }])
    const deck = makePptx(
      [{ shapes: shape('Hello') }],
      [{ name: 'ppt/embeddings/word/document.xml.docx', content: inner }],
    )
    expect((await read('notes.txt', deck)).text).toBe('Hello')
  })

  it('load nothing from outside, and fail above the page limit, with a DOCTYPE, or without text', async () => {
    const outside = await read(
      'outside.pptx',
      makePptx([
        {
          shapes: `${shape('Text')}<p:pic><p:cNvPr id="1" name="x" descr="passwords"/><a:blip r:embed="e"/></p:pic><p:pic><p:cNvPr id="1" name="x"/><a:blip r:embed="f"/></p:pic>`,
          relations: [
            { id: 'e', kind: 'image', target: 'file:///etc/passwd', external: true },
            { id: 'f', kind: 'image', target: '../../../../etc/passwd.png' },
          ],
        },
      ]),
    )
    expect(outside.text).toBe('Text\n\npasswords')
    const deck = makePptx(Array.from({ length: 4 }, (_, index) => ({ shapes: shape(`Slide text ${index}`) })))
    expect(await failureOf(read('long.pptx', deck, { limits: { maxPages: 3 } }))).toEqual({
      code: 'limit-exceeded',
      message: 'long.pptx has 4 slides, more than the limit of 3',
    })
    const dtd = makePptx([{ shapes: '' }], [])
    const laughs = makeZip([
      { name: 'ppt/presentation.xml', content: '<!DOCTYPE x [<!ENTITY a "b">]><p:presentation>&a;</p:presentation>' },
    ])
    expect((await failureOf(read('dtd.pptx', laughs))).message).toBe(
      'dtd.pptx declares a document type in ppt/presentation.xml, which its format does not allow',
    )
    expect(await failureOf(read('blank.pptx', dtd))).toEqual({ code: 'empty', message: 'blank.pptx has no text' })
    const none = makeZip([{ name: 'ppt/presentation.xml', content: '<p:presentation/>' }])
    expect((await failureOf(read('none.pptx', none))).code).toBe('empty')
  })

  it('give shapes without an exception, even from random or deep markup', () => {
    const piece = fc.constantFrom(
      ...'<p:sp>|</p:sp>|<a:p>|</a:p>|<a:t>|</a:t>|<a:pPr lvl="9">|</a:pPr>|<a:tbl>|</a:tbl>|<a:tr>|<a:tc>|</a:tc>|<p:ph type="title"/>|<mc:Fallback>|</mc:Fallback>|<a:br/>|text|<a:blip r:embed="x"/>'.split(
        '|',
      ),
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
        for (const found of readShapes(pieces.join(''))) {
          if (found.kind === 'text') expect(found.paragraphs.length).toBeGreaterThan(0)
        }
      }),
      { numRuns: 300 },
    )
    expect(readShapes('<p:sp><a:p><a:t>x'.repeat(100_000)).length).toBeGreaterThan(0)
  })
})
