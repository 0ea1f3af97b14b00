import { describe, expect, it } from 'vitest'
import { makeEpub, makePptx } from './office.js'
import { picture } from './picture.js'
import { makeDocx, read, wordParagraph, words } from './read.js'

const CHART = picture(320, 200)

function drawing(relation: string, alt: string): string {
  return `<w:p><w:r><w:drawing><wp:inline xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing"><wp:docPr id="1" name="x" descr="${alt}"/><a:graphic xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><a:graphicData><pic:pic xmlns:pic="http://schemas.openxmlformats.org/drawingml/2006/picture"><pic:blipFill><a:blip xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships" r:embed="${relation}"/></pic:blipFill></pic:pic></a:graphicData></a:graphic></wp:inline></w:drawing></w:r></w:p>`
}

function word(body: string, pictures: Record<string, Buffer>): Buffer {
  const office = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
  const rows = Object.keys(pictures).map(
    (name) => `<Relationship Id="${name}" Type="${office}/image" Target="media/${name}.png"/>`,
  )
  return makeDocx(body, [
    {
      name: 'word/_rels/document.xml.rels',
      content: `<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${rows.join('')}</Relationships>`,
    },
    ...Object.entries(pictures).map(([name, content]) => ({ name: `word/media/${name}.png`, content })),
  ])
}

const inline = (bytes: Buffer, alt = '') => `<img alt="${alt}" src="data:image/png;base64,${bytes.toString('base64')}">`

describe('a picture in a document', () => {
  it('gets its caption, alternative text, section and size in Word', async () => {
    const body = [
      wordParagraph('Harbour', 'Heading1'),
      wordParagraph('The harbour grew for years.'),
      drawing('chart', 'bars that rise'),
      wordParagraph('Figure 3: Tonnage by quarter', 'Caption'),
      wordParagraph('It grew further.'),
    ]
    const { items, nodes } = await read('a.docx', word(body.join(''), { chart: CHART }))
    expect(items).toMatchObject([
      {
        modality: 'image',
        caption: 'Figure 3: Tonnage by quarter',
        sourceMetadata: { alt: 'bars that rise', width: 320, height: 200, contentType: 'image/png' },
      },
    ])
    expect(nodes[0]?.shows).toEqual([{ id: 'image-1', modality: 'image', isStored: true }])
  })

  it('gets the figcaption of its HTML figure as caption, before or after the picture', async () => {
    const page = (figure: string) =>
      `<h1>Mills</h1><p>${words(30)}</p><figure>${figure}</figure><p>${words(30, 'more')}</p>`
    for (const figure of [
      `${inline(CHART, 'a mill')}<figcaption>The mill in winter</figcaption>`,
      `<figcaption>The mill in winter</figcaption>${inline(CHART, 'a mill')}`,
    ]) {
      const { items } = await read('a.html', page(figure))
      expect(items).toMatchObject([{ caption: 'The mill in winter', sectionPath: ['Mills'] }])
    }
  })

  it('takes no sentence that mentions a figure as its caption, but its alternative text', async () => {
    const { items } = await read(
      'a.html',
      `<p>As figure 3 shows, it grew.</p>${inline(CHART, 'growth')}<p>Figures of 2024 follow.</p>`,
    )
    expect(items).toMatchObject([{ caption: 'growth' }])
  })

  it('gets its slide and its box in points in a presentation', async () => {
    const shapes =
      '<p:pic><p:nvPicPr><p:cNvPr id="1" name="x" descr="a bridge"/></p:nvPicPr><p:blipFill><a:blip r:embed="p"/></p:blipFill><p:spPr><a:xfrm><a:off x="127000" y="254000"/><a:ext cx="1270000" cy="635000"/></a:xfrm></p:spPr></p:pic>'
    const grouped = `<p:grpSp>${shapes}</p:grpSp>`
    const relations = [{ id: 'p', kind: 'image', target: '../media/p.png' }]
    const deck = makePptx(
      [
        { shapes, relations },
        { shapes: grouped, relations },
      ],
      [{ name: 'ppt/media/p.png', content: CHART }],
    )
    const { items } = await read('a.pptx', deck)
    expect(items).toMatchObject([
      { pageNumber: 1, boundingBox: { x: 10, y: 20, width: 100, height: 50 }, caption: 'a bridge' },
      { pageNumber: 2 },
    ])
    expect(items[1]).not.toHaveProperty('boundingBox')
  })

  it('gets its caption in an e-book', async () => {
    const xhtml = '<h1>One</h1><p>Text of it.</p><img alt="" src="../c.png"/><p>Abbildung 2.1 Ein Plan der Stadt</p>'
    const book = makeEpub([{ name: 'one', xhtml }], { extra: [{ name: 'OEBPS/c.png', content: CHART }] })
    const { items } = await read('a.epub', book)
    expect(items).toMatchObject([{ caption: 'Abbildung 2.1 Ein Plan der Stadt', title: 'One' }])
  })

  it('becomes no item if it is a bullet, a rule or a spacer', async () => {
    const ornaments = [picture(8, 8), picture(600, 3), picture(30, 30)].map((bytes) => inline(bytes))
    const { items } = await read('a.html', `<p>Some text.</p>${ornaments.join('<p>t</p>')}${inline(CHART, 'growth')}`)
    expect(items).toMatchObject([{ caption: 'growth' }])
  })

  it('becomes one item if an HTML file repeats it five times, such as a logo', async () => {
    const logo = picture(120, 60)
    const pages = ['one', 'two', 'three', 'four', 'five'].map((text) => `<h2>${text}</h2><p>${text}</p>${inline(logo)}`)
    expect((await read('a.html', pages.join(''))).items).toHaveLength(1)
    expect((await read('a.html', pages.slice(0, 3).join(''))).items).toHaveLength(3)
  })
})

describe('the description of a picture by a vision model', () => {
  it('becomes text of the document, in a separate passage that shows the picture', async () => {
    const { createHash } = await import('node:crypto')
    const { compileBytes } = await import('../../../src/engine/readers/read-document.js')
    const { DEFAULT_LIMITS } = await import('../../../src/engine/readers/limits.js')
    const hash = createHash('sha256').update(CHART).digest('hex')
    const page = `<h1>Harbour</h1><p>${words(150)}</p>${inline(CHART, 'a chart')}<p>${words(150, 'more')}</p>`
    const described = `A bar chart of tonnage. ${words(45, 'seen')}`
    const document = await compileBytes(
      Buffer.from(page),
      { filename: 'a.html', descriptions: { model: 'a/b/c#1', texts: { [hash]: described } } },
      DEFAULT_LIMITS,
    )
    const own = document.nodes.filter(({ kind }) => kind === 'image')
    expect(own).toMatchObject([{ text: `a chart\n${described}`, shows: [{ id: 'image-1', modality: 'image' }] }])
    expect(document.items).toMatchObject([
      { sourceMetadata: { alt: 'a chart', description: described, describedBy: 'a/b/c#1' } },
    ])
    expect(document.nodes.filter(({ shows }) => shows !== undefined)).toHaveLength(1)
  })

  it('does not appear in a document that was read without descriptions', async () => {
    const { items, text } = await read('a.html', `<p>Text here.</p>${inline(CHART, 'a chart')}`)
    expect(text).not.toContain('seen')
    expect(items[0]?.sourceMetadata).not.toHaveProperty('description')
  })
})
