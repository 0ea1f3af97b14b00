import { utils, write } from '@e965/xlsx'
import { describe, expect, it } from 'vitest'
import type { CompiledDocument } from '../../../src/engine/store/compiled.js'
import { makeOdf, makePptx, makeXlsx, relations, row, shape } from './office.js'
import { makeDocx, read, wordParagraph } from './read.js'
import { SAMPLES } from './samples.js'

const sample = (name: string): Promise<CompiledDocument> => read(name, SAMPLES[name] ?? '')
const shown = (document: CompiledDocument): string[] =>
  document.elements.map(({ type, text }) => `${type}: ${text ?? ''}`)

describe('calendar files (ICS) and contact files (vCard)', () => {
  it('give a section with fields for each event or task, with folded lines joined and alarms left out', async () => {
    const document = await sample('team.ics')
    expect([document.title, document.metadata.entryCount]).toEqual(['Team', 2])
    expect(shown(document)).toEqual([
      'heading: Review of tin, and lead',
      'list: Start: 2024-05-01 14:30 (Europe/Berlin)\nEnd: 2024-05-01 15:30 UTC\nWhere: Room 5\nOrganizer: Ann: Lee <ann@example.org>\nAttendees: Bob <bob@example.org>, eve@example.org\nRepeats: freq weekly, count 3',
      'paragraph: Bring samples.\nAnd a scale.',
      'heading: Buy tin',
      'list: Due: 2024-06-01',
    ])
  })

  it('give a section with fields for each contact, in new and old vCard versions, without its picture', async () => {
    expect(shown(await sample('people.vcf'))).toEqual([
      'heading: Ann Lee',
      'list: Name: Dr. Ann Lee\nOrganisation: Tin Works, Research\nPhone (work): +49 30 1234\nE-mail: ann@example.org\nAddress (home): Main St. 1, Berlin, 10115, Germany',
      'paragraph: Knows tin.',
      'heading: Jürgen Klein',
      'list: Phone (cell): 123',
    ])
  })
})

describe('database dumps (SQL)', () => {
  it('give a section with a table for each table of the database, and source code for other statements', async () => {
    const document = await sample('shop.sql')
    expect(document.metadata).toEqual({ programmingLanguage: undefined, tableCount: 2, rowCount: 4 })
    const tables = document.elements.filter(({ type }) => type === 'table')
    expect(tables.map(({ sectionPath, text }) => [sectionPath, text])).toEqual([
      [['metals'], "id | name | price\n1 | Tin; soft | 4.5\n2 | It's 'lead'"],
      [['public.people'], 'name | age\nAnn | 31\nBob'],
    ])
    expect(document.text).toContain('CREATE FUNCTION f() RETURNS int AS $$ SELECT 1; $$')
  })
})

describe('logs, settings, bibliographies and outlines', () => {
  it('keep complete lines of logs, with one section an hour', async () => {
    const document = await sample('app.log')
    const documentDate = '2024-05-01T00:00:00.000Z'
    expect(document.metadata).toEqual({ documentDate, firstTime: '2024-05-01 10:00', lastTime: '2024-05-01 11:05' })
    expect(document.elements.map(({ sectionPath, text }) => [sectionPath, text?.split('\n').length])).toEqual([
      [['2024-05-01 10:00'], 3],
      [['2024-05-01 11:00'], 2],
    ])
  })

  it('keep the sections of a TOML settings file, with the comments above them', async () => {
    const document = await sample('settings.toml')
    expect(document.elements.map(({ sectionPath, text }) => [sectionPath.join('/'), text])).toEqual([
      ['', 'title = "x"'],
      ['server', '# the server\n[server]\nport = 80\ntext = """\n[not a section]\n"""'],
      ['server/server.tls', '[server.tls]\non = true'],
    ])
  })

  it('keep one section for each entry of a bibliography', async () => {
    expect(shown(await sample('refs.bib'))).toEqual([
      'heading: On Tin',
      'list: article: lee20\nauthor: Lee, Ann, Müller, Bob\nyear: 2020',
      'heading: Lead',
      'list: book: kim19\npublisher: X, Y',
    ])
  })

  it('give sections and lists for an OPML outline', async () => {
    const document = await sample('feeds.opml')
    expect([document.title, document.metadata.author]).toEqual(['Feeds', 'Ann'])
    expect(shown(document)).toEqual(['heading: News', 'list: - Metal Daily: https://example.org/feed\n- Tin\n- Alone'])
  })
})

describe('Jupyter notebooks', () => {
  it('give Markdown, code with its language, outputs truncated to 4,000 characters, tables and pictures', async () => {
    const document = await sample('analysis.ipynb')
    expect([document.title, document.metadata]).toEqual([
      'Analysis',
      { cellCount: 2, programmingLanguage: 'python', warnings: ['left out or cut: 1 output'] },
    ])
    expect(
      document.elements.map(({ type, metadata }) => [type, metadata.cell, metadata.role, metadata.language]),
    ).toEqual([
      ['heading', 1, undefined, undefined],
      ['paragraph', 1, undefined, undefined],
      ['code', 2, undefined, 'python'],
      ['code', 2, 'output', undefined],
      ['image', 2, undefined, undefined],
      ['table', 2, 'output', undefined],
      ['code', 2, 'output', undefined],
    ])
    expect(document.elements[3]?.text?.length).toBeLessThan(4100)
    expect([document.elements[5]?.text, document.elements[6]?.text]).toEqual(['a | b\n1 | 2', 'ValueError: bad'])
    expect(document.items.find((item) => item.modality === 'image')?.asset?.contentType).toBe('image/png')
  })
})

const CHART = `<c:chartSpace><c:chart><c:title><c:tx><c:rich><a:p><a:r><a:t>Sales of tin</a:t></a:r></a:p></c:rich></c:tx></c:title><c:plotArea><c:barChart>
<c:ser><c:tx><c:strRef><c:strCache><c:pt idx="0"><c:v>North</c:v></c:pt></c:strCache></c:strRef></c:tx>
<c:cat><c:strRef><c:strCache><c:pt idx="0"><c:v>2023</c:v></c:pt><c:pt idx="1"><c:v>2024</c:v></c:pt></c:strCache></c:strRef></c:cat>
<c:val><c:numRef><c:numCache><c:pt idx="0"><c:v>0.30000000000000004</c:v></c:pt><c:pt idx="1"><c:v>7</c:v></c:pt></c:numCache></c:numRef></c:val></c:ser>
<c:ser><c:tx><c:v>South</c:v></c:tx><c:val><c:numRef><c:numCache><c:pt idx="1"><c:v>5</c:v></c:pt></c:numCache></c:numRef></c:val></c:ser>
</c:barChart><c:valAx><c:title><c:tx><c:rich><a:p><a:r><a:t>tons</a:t></a:r></a:p></c:rich></c:tx></c:title></c:valAx></c:plotArea></c:chart></c:chartSpace>`
const TABLE = ' | North | South\n2023 | 0.3\n2024 | 7 | 5'.trim()

describe('charts', () => {
  it('become tables below their title, on their slide of a presentation', async () => {
    const frame =
      '<p:graphicFrame><a:graphic><a:graphicData><c:chart r:id="rId9"/></a:graphicData></a:graphic></p:graphicFrame>'
    const file = makePptx(
      [
        {
          shapes: shape('Results', 'title') + frame,
          relations: [{ id: 'rId9', kind: 'chart', target: '../charts/chart1.xml' }],
        },
      ],
      [{ name: 'ppt/charts/chart1.xml', content: CHART }],
    )
    const document = await read('a.pptx', file)
    expect(shown(document)).toEqual(['title: Results', 'paragraph: Sales of tin (tons)', `table: ${TABLE}`])
    expect(document.elements[2]).toMatchObject({ pageNumber: 1, metadata: { chart: 'bar', caption: 'Sales of tin' } })
  })

  it('become tables at their position in a Word text; ruby text is kept in parentheses', async () => {
    const drawing =
      '<w:p><w:r><w:drawing><a:graphic><a:graphicData><c:chart r:id="rId7"/></a:graphicData></a:graphic></w:drawing></w:r></w:p>'
    const ruby =
      '<w:p><w:r><w:ruby><w:rt><w:r><w:t>かんじ</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>漢字</w:t></w:r></w:rubyBase></w:ruby></w:r><w:r><w:t> here</w:t></w:r></w:p>'
    const file = makeDocx(`${wordParagraph('Before')}${drawing}${wordParagraph('After')}${ruby}`, [
      {
        name: 'word/_rels/document.xml.rels',
        content: relations([{ id: 'rId7', kind: 'chart', target: 'charts/chart1.xml' }]),
      },
      { name: 'word/charts/chart1.xml', content: CHART },
    ])
    expect(shown(await read('a.docx', file))).toEqual([
      'paragraph: Before',
      'paragraph: Sales of tin (tons)',
      `table: ${TABLE}`,
      'paragraph: After',
      'paragraph: 漢字(かんじ) here',
    ])
  })

  it('become tables after the cells of their sheet in a workbook', async () => {
    const file = makeXlsx(
      [
        { name: 'Data', rows: row(1, ['a', 'b']) + row(2, [1, 2]) },
        { name: 'Next', rows: row(1, ['c', 'd']) },
      ],
      {
        extra: [
          {
            name: 'xl/worksheets/_rels/sheet1.xml.rels',
            content: relations([{ id: 'd', kind: 'drawing', target: '../drawings/drawing1.xml' }]),
          },
          { name: 'xl/drawings/drawing1.xml', content: '<xdr:wsDr/>' },
          {
            name: 'xl/drawings/_rels/drawing1.xml.rels',
            content: relations([{ id: 'c', kind: 'chart', target: '../charts/chart1.xml' }]),
          },
          { name: 'xl/charts/chart1.xml', content: CHART },
        ],
      },
    )
    const document = await read('a.xlsx', file)
    expect(document.elements.map(({ sectionPath, text }) => [sectionPath[0], text])).toContainEqual(['Data', TABLE])
    expect(document.text.indexOf('Sales of tin')).toBeGreaterThan(document.text.indexOf('1 | 2'))
  })
})

describe('the reading of further office files', () => {
  it('gives the sheets of a binary workbook (XLSB) as tables', async () => {
    const workbook = utils.book_new()
    utils.book_append_sheet(
      workbook,
      utils.aoa_to_sheet([
        ['Metal', 'Price'],
        ['Tin', 4.5],
      ]),
      'Prices',
    )
    const document = await read('a.xlsb', write(workbook, { type: 'buffer', bookType: 'xlsb' }))
    expect(shown(document)).toEqual(['heading: Prices', 'table: Metal | Price\nTin | 4.5'])
  })

  it('gives the texts of an OpenDocument drawing (ODG) page by page', async () => {
    const page = (name: string, text: string): string =>
      `<draw:page draw:name="${name}"><draw:custom-shape><text:p>${text}</text:p></draw:custom-shape></draw:page>`
    const body = `<office:drawing>${page('a', 'Boiler')}${page('b', 'Pump')}</office:drawing>`
    const document = await read('plan.odg', makeOdf('graphics', body))
    expect(document.elements.map(({ pageNumber, sectionPath, text }) => [pageNumber, sectionPath[0], text])).toEqual([
      [1, 'Page 1', 'Boiler'],
      [2, 'Page 2', 'Pump'],
    ])
  })
})
