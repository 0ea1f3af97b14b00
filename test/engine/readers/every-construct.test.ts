import { describe, expect, it } from 'vitest'
import { makeOdf, makePptx, makeXlsx, type Relation, relations, row, shape } from './office.js'
import { picture } from './picture.js'
import { makeDocx, makeZip, read } from './read.js'

const PNG = picture(200, 150)
const run = (text: string) => `<w:r><w:t xml:space="preserve">${text}</w:t></w:r>`
const paragraph = (inner: string) => `<w:p>${inner}</w:p>`
const math = (text: string) => `<m:r><m:t>${text}</m:t></m:r>`
const field = (type: string) => `<w:r><w:fldChar w:fldCharType="${type}"/></w:r>`

/** What a text runs of Word may be in: each has a word of its own. */
const WORD_CONSTRUCTS: Readonly<Record<string, string>> = {
  plain: paragraph(run('plain')),
  tabbed: paragraph('<w:r><w:t>left</w:t><w:tab/><w:t>tabbed</w:t></w:r>'),
  broken: paragraph('<w:r><w:t>upper</w:t><w:br/><w:t>broken</w:t></w:r>'),
  linked: paragraph(`<w:hyperlink w:anchor="x">${run('linked')}</w:hyperlink>`),
  simplefield: paragraph(`<w:fldSimple w:instr="AUTHOR">${run('simplefield')}</w:fldSimple>`),
  complexfield: paragraph(
    `${field('begin')}<w:r><w:instrText>DATE HIDDENINSTRUCTION</w:instrText></w:r>${field('separate')}${run('complexfield')}${field('end')}`,
  ),
  afterdamage: paragraph(field('begin')) + paragraph(run('afterdamage')),
  directed: paragraph(`<w:dir w:val="rtl">${run('directed')}</w:dir>`),
  overridden: paragraph(`<w:bdo w:val="rtl">${run('overridden')}</w:bdo>`),
  inlinecontrol: paragraph(`<w:sdt><w:sdtPr/><w:sdtContent>${run('inlinecontrol')}</w:sdtContent></w:sdt>`),
  blockcontrol: `<w:sdt><w:sdtPr/><w:sdtContent>${paragraph(run('blockcontrol'))}</w:sdtContent></w:sdt>`,
  cellcontrol: `<w:tbl><w:tr><w:tc>${paragraph(run('left1'))}</w:tc><w:sdt><w:sdtContent><w:tc>${paragraph(run('cellcontrol'))}</w:tc></w:sdtContent></w:sdt></w:tr></w:tbl>`,
  rowcontrol: `<w:tbl><w:sdt><w:sdtContent><w:tr><w:tc>${paragraph(run('rowcontrol'))}</w:tc><w:tc>${paragraph(run('right1'))}</w:tc></w:tr></w:sdtContent></w:sdt></w:tbl>`,
  ticked: paragraph(
    `<w:sdt><w:sdtPr><w14:checkbox><w14:checked w14:val="1"/></w14:checkbox></w:sdtPr><w:sdtContent>${run('x')}</w:sdtContent></w:sdt>${run(' ticked')}`,
  ),
  oldbox: paragraph(
    `<w:r><w:fldChar w:fldCharType="begin"><w:ffData><w:checkBox><w:default w:val="0"/></w:checkBox></w:ffData></w:fldChar></w:r><w:r><w:instrText> FORMCHECKBOX </w:instrText></w:r>${field('end')}${run(' oldbox')}`,
  ),
  oldchoice: paragraph(
    `<w:r><w:fldChar w:fldCharType="begin"><w:ffData><w:ddList><w:result w:val="1"/><w:listEntry w:val="UNCHOSEN"/><w:listEntry w:val="oldchoice"/></w:ddList></w:ffData></w:fldChar></w:r><w:r><w:instrText> FORMDROPDOWN </w:instrText></w:r>${field('end')}`,
  ),
  inserted: paragraph(
    `<w:ins w:id="1">${run('inserted')}</w:ins><w:del w:id="2"><w:r><w:delText>DELETED</w:delText></w:r></w:del>`,
  ),
  movedhere: paragraph(
    `<w:moveFrom w:id="3">${run('MOVEDAWAY')}</w:moveFrom><w:moveTo w:id="4">${run('movedhere')}</w:moveTo>`,
  ),
  tagged: paragraph(
    `<w:smartTag w:element="x">${run('tagged')}</w:smartTag><w:customXml w:element="y">${run('custom')}</w:customXml>`,
  ),
  hyphen: paragraph('<w:r><w:t>well</w:t><w:noBreakHyphen/><w:t>hyphen</w:t></w:r>'),
  Ω: paragraph('<w:r><w:sym w:font="Symbol" w:char="F057"/></w:r>'),
  '漢字(かんじ)': paragraph(
    `<w:r><w:ruby><w:rt>${run('かんじ')}</w:rt><w:rubyBase>${run('漢字')}</w:rubyBase></w:ruby></w:r>`,
  ),
  inlineformula: paragraph(`${run('so ')}<m:oMath>${math('inlineformula')}</m:oMath>`),
  displayformula: `<m:oMathPara><m:oMath>${math('displayformula')}</m:oMath></m:oMathPara>`,
  footnoted: paragraph(`${run('sea')}<w:r><w:footnoteReference w:id="2"/></w:r>`),
  endnoted: paragraph(`${run('lake')}<w:r><w:endnoteReference w:id="3"/></w:r>`),
  commented: paragraph(`${run('pond')}<w:r><w:commentReference w:id="4"/></w:r>`),
  textbox: paragraph(
    `<w:r><mc:AlternateContent><mc:Choice Requires="wps"><w:drawing><wps:txbx><w:txbxContent>${paragraph(run('textbox'))}</w:txbxContent></wps:txbx></w:drawing></mc:Choice><mc:Fallback><w:pict><v:textbox><w:txbxContent>${paragraph(run('textbox'))}</w:txbxContent></v:textbox></w:pict></mc:Fallback></mc:AlternateContent></w:r>`,
  ),
  oldtextbox: paragraph(
    `<w:r><w:pict><v:shape><v:textbox><w:txbxContent>${paragraph(run('oldtextbox'))}</w:txbxContent></v:textbox></v:shape></w:pict></w:r>`,
  ),
  wordart: paragraph('<w:r><w:pict><v:shape><v:textpath string="wordart"/></v:shape></w:pict></w:r>'),
  canvas: paragraph(
    '<w:r><w:drawing><lc:lockedCanvas><a:p><a:r><a:t>canvas</a:t></a:r></a:p></lc:lockedCanvas></w:drawing></w:r>',
  ),
  pictured: paragraph(
    '<w:r><w:drawing><wp:docPr id="1" name="x" descr="pictured"/><a:blip r:embed="png"/></w:drawing></w:r>',
  ),
  described: paragraph('<w:r><w:drawing><wp:docPr id="2" name="y" descr="described"/><wps:wsp/></w:drawing></w:r>'),
  charted: paragraph('<w:r><w:drawing><c:chart r:id="chart"/></w:drawing></w:r>'),
  waterfall: paragraph('<w:r><w:drawing><cx:chart r:id="chartex"/></w:drawing></w:r>'),
  diagrammed: paragraph('<w:r><w:drawing><dgm:relIds r:dm="dgm"/></w:drawing></w:r>'),
  chunkofhtml: '<w:altChunk r:id="html"/>',
  chunkofrtf: '<w:altChunk r:id="rtf"/>',
  chunkoftext: '<w:altChunk r:id="txt"/>',
  chunkofweb: '<w:altChunk r:id="mht"/>',
  chunkofword: '<w:altChunk r:id="docx"/>',
  listed: `<w:p><w:pPr><w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr></w:pPr>${run('listed')}</w:p>`,
  captioned: `<w:p><w:pPr><w:pStyle w:val="Caption"/></w:pPr>${run('captioned')}</w:p>`,
}

const related = (list: readonly [id: string, kind: string, target: string][]): Relation[] =>
  list.map(([id, kind, target]) => ({ id, kind, target }))

function everyWordConstruct(): Buffer {
  const note = (kind: string, id: number, text: string) =>
    `<w:${kind}s><w:${kind} w:id="${id}">${paragraph(run(text))}</w:${kind}></w:${kind}s>`
  const margin = (kind: string, text: string) => `<w:${kind}>${paragraph(run(text))}</w:${kind}>`
  return makeDocx(Object.values(WORD_CONSTRUCTS).join(''), [
    {
      name: 'word/_rels/document.xml.rels',
      content: relations(
        related([
          ['a', 'footnotes', 'my-notes.xml'],
          ['b', 'endnotes', 'my-endnotes.xml'],
          ['c', 'comments', 'my-comments.xml'],
          ['d', 'header', 'my-header.xml'],
          ['e', 'footer', 'my-footer.xml'],
          ['f', 'numbering', 'my-numbering.xml'],
          ['png', 'image', 'media/a.png'],
          ['chart', 'chart', 'charts/my.xml'],
          ['chartex', 'chartEx', 'charts/mine.xml'],
          ['dgm', 'diagramData', 'diagrams/my.xml'],
          ['html', 'aFChunk', 'one.bin'],
          ['rtf', 'aFChunk', 'two.bin'],
          ['txt', 'aFChunk', 'three.bin'],
          ['mht', 'aFChunk', 'four.bin'],
          ['docx', 'aFChunk', 'five.bin'],
        ]),
      ),
    },
    { name: 'word/my-notes.xml', content: note('footnote', 2, 'footnoted') },
    { name: 'word/my-endnotes.xml', content: note('endnote', 3, 'endnoted') },
    { name: 'word/my-comments.xml', content: note('comment', 4, 'commented') },
    { name: 'word/my-header.xml', content: margin('hdr', 'headed') },
    { name: 'word/my-footer.xml', content: margin('ftr', 'footed') },
    {
      name: 'word/my-numbering.xml',
      content:
        '<w:numbering><w:abstractNum w:abstractNumId="0"><w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%1."/></w:lvl></w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num></w:numbering>',
    },
    { name: 'word/media/a.png', content: PNG },
    {
      name: 'word/charts/my.xml',
      content: '<c:chart><c:title><c:tx><c:rich><a:p><a:t>charted</a:t></a:p></c:rich></c:tx></c:title></c:chart>',
    },
    {
      name: 'word/charts/mine.xml',
      content:
        '<cx:chartSpace><cx:chartData><cx:data id="0"><cx:strDim type="cat"><cx:lvl><cx:pt idx="0">waterfall</cx:pt></cx:lvl></cx:strDim><cx:numDim type="val"><cx:lvl><cx:pt idx="0">7</cx:pt></cx:lvl></cx:numDim></cx:data></cx:chartData><cx:chart><cx:plotArea><cx:series layoutId="waterfall1"><cx:tx><cx:txData><cx:v>Flow</cx:v></cx:txData></cx:tx></cx:series></cx:plotArea></cx:chart></cx:chartSpace>',
    },
    {
      name: 'word/diagrams/my.xml',
      content: '<dgm:dataModel><a:p><a:r><a:t>diagrammed</a:t></a:r></a:p></dgm:dataModel>',
    },
    { name: 'word/one.bin', content: '<html><body><p>chunkofhtml</p></body></html>' },
    { name: 'word/two.bin', content: '{\\rtf1 chunkofrtf\\par}' },
    { name: 'word/three.bin', content: 'chunkoftext' },
    {
      name: 'word/four.bin',
      content:
        'MIME-Version: 1.0\r\nContent-Type: multipart/related; boundary="b"\r\n\r\n--b\r\nContent-Type: text/html; charset="utf-8"\r\n\r\n<p>chunkofweb</p>\r\n--b--\r\n',
    },
    { name: 'word/five.bin', content: makeDocx(paragraph(run('chunkofword'))) },
  ])
}

describe('the constructs of office formats that carry text', () => {
  it('occur once each in the text of a Word document, without deleted text and instructions', async () => {
    const { text, metadata } = await read('a.docx', everyWordConstruct())
    expect(metadata.warnings).toBeUndefined()
    for (const word of [...Object.keys(WORD_CONSTRUCTS), 'headed', 'footed', 'left', 'upper', 'custom', 'right1'])
      expect(text.split(word).length - 1, word).toBe(1 + (word === 'textbox' || word === 'left' ? 1 : 0))
    expect(text).toContain('☒ ticked')
    expect(text).toContain('☐ oldbox')
    expect(text).toContain('1. listed')
    for (const word of ['DELETED', 'MOVEDAWAY', 'HIDDENINSTRUCTION', 'UNCHOSEN']) expect(text).not.toContain(word)
  })

  it('occur once each in the text of a presentation', async () => {
    const cell = (text: string) => `<a:tc><a:txBody><a:p><a:r><a:t>${text}</a:t></a:r></a:p></a:txBody></a:tc>`
    const shapes = [
      shape('titled', 'title'),
      shape('*bulleted'),
      '<p:sp><p:txBody><a:p><a:fld type="x"><a:t>fielded</a:t></a:fld><a:br/><a:r><a:t>broken</a:t></a:r></a:p></p:txBody></p:sp>',
      `<p:grpSp>${shape('grouped')}</p:grpSp>`,
      `<p:graphicFrame><a:tbl><a:tr>${cell('cell1')}${cell('cell2')}</a:tr><a:tr>${cell('cell3')}${cell('cell4')}</a:tr></a:tbl></p:graphicFrame>`,
      `<mc:AlternateContent><mc:Choice Requires="a14"><p:sp><p:txBody><a:p><a14:m><m:oMath>${math('formula')}</m:oMath></a14:m></a:p></p:txBody></p:sp></mc:Choice><mc:Fallback><p:sp><p:txBody><a:p><a:r><a:t>FALLBACK</a:t></a:r></a:p></p:txBody></p:sp></mc:Fallback></mc:AlternateContent>`,
      '<p:graphicFrame><p:nvGraphicFramePr><p:cNvPr id="5" name="c" descr="described"/></p:nvGraphicFramePr><c:chart r:id="chart"/></p:graphicFrame>',
      '<p:graphicFrame><dgm:relIds r:dm="dgm"/></p:graphicFrame>',
      '<p:pic><p:nvPicPr><p:cNvPr id="6" name="p" descr="pictured"/></p:nvPicPr><p:blipFill><a:blip r:embed="png"/></p:blipFill></p:pic>',
      shape('footed', 'ftr'),
    ]
    const bytes = makePptx(
      [
        {
          shapes: shapes.join(''),
          notes: `<p:notes>${shape('noted', 'body')}</p:notes>`,
          relations: related([
            ['chart', 'chart', '../charts/my.xml'],
            ['dgm', 'diagramData', '../diagrams/my.xml'],
            ['png', 'image', '../media/a.png'],
            ['remarks', 'comments', '../remarks/my.xml'],
          ]),
        },
      ],
      [
        {
          name: 'ppt/charts/my.xml',
          content: '<c:chart><c:title><c:tx><c:rich><a:p><a:t>charted</a:t></a:p></c:rich></c:tx></c:title></c:chart>',
        },
        { name: 'ppt/diagrams/my.xml', content: '<dgm:dataModel><a:p><a:t>diagrammed</a:t></a:p></dgm:dataModel>' },
        { name: 'ppt/media/a.png', content: PNG },
        { name: 'ppt/remarks/my.xml', content: '<p:cmLst><p:cm><p:text>commented</p:text></p:cm></p:cmLst>' },
      ],
    )
    const { text, metadata } = await read('a.pptx', bytes)
    expect(metadata.warnings).toBeUndefined()
    for (const word of 'titled bulleted fielded broken grouped cell1 cell2 cell3 cell4 formula described charted diagrammed pictured footed noted commented'.split(
      ' ',
    ))
      expect(text.split(word).length - 1, word).toBe(1)
    expect(text).not.toContain('FALLBACK')
  })

  it('occur in the text of a workbook', async () => {
    const rows =
      row(1, ['inline', 'count']) +
      '<row r="2"><c r="A2" t="s"><v>0</v></c><c r="B2" t="str"><f>X()</f><v>computed</v></c><c r="C2" t="inlineStr"><is><r><t>rich</t></r><r><t>text</t></r></is></c><c r="D2" t="e"><v>#DIV/0!</v></c><c r="E2" t="b"><v>1</v></c></row>'
    const drawing =
      '<xdr:wsDr><xdr:sp><xdr:txBody><a:p><a:r><a:t>boxed</a:t></a:r></a:p></xdr:txBody></xdr:sp><xdr:graphicFrame><c:chart r:id="chart"/></xdr:graphicFrame><xdr:pic><xdr:nvPicPr><xdr:cNvPr id="1" name="p" descr="pictured"/></xdr:nvPicPr><xdr:blipFill><a:blip r:embed="png"/></xdr:blipFill></xdr:pic></xdr:wsDr>'
    const bytes = makeXlsx(
      [
        {
          name: 'Named',
          rows: `${rows}</sheetData><headerFooter><oddHeader>&amp;Cheaded</oddHeader><oddFooter>footed</oddFooter></headerFooter><sheetData>`,
        },
      ],
      {
        strings: ['shared'],
        extra: [
          {
            name: 'xl/worksheets/_rels/sheet1.xml.rels',
            content: relations(
              related([
                ['a', 'comments', '../my-remarks.xml'],
                ['b', 'drawing', '../drawings/my.xml'],
              ]),
            ),
          },
          {
            name: 'xl/my-remarks.xml',
            content: '<comments><comment ref="A1"><text><t>commented</t></text></comment></comments>',
          },
          { name: 'xl/drawings/my.xml', content: drawing },
          {
            name: 'xl/drawings/_rels/my.xml.rels',
            content: relations(
              related([
                ['chart', 'chart', '../charts/my.xml'],
                ['png', 'image', '../media/a.png'],
              ]),
            ),
          },
          {
            name: 'xl/charts/my.xml',
            content:
              '<c:chart><c:title><c:tx><c:rich><a:p><a:t>charted</a:t></a:p></c:rich></c:tx></c:title></c:chart>',
          },
          { name: 'xl/media/a.png', content: PNG },
        ],
      },
    )
    const { text, metadata } = await read('a.xlsx', bytes)
    expect(metadata.warnings).toBeUndefined()
    for (const word of 'Named inline count shared computed richtext #DIV/0! TRUE commented boxed charted pictured headed footed'.split(
      ' ',
    ))
      expect(text, word).toContain(word)
  })

  it('occur in the text of a drawing of Visio whose parts have other names', async () => {
    const visio = 'http://schemas.microsoft.com/visio/2010/relationships'
    const list = (kind: string, target: string) =>
      `<Relationships><Relationship Id="r" Type="${visio}/${kind}" Target="${target}"/></Relationships>`
    const bytes = makeZip([
      {
        name: '[Content_Types].xml',
        content:
          '<Types><Override PartName="/drawing/main.xml" ContentType="application/vnd.ms-visio.drawing.main+xml"/></Types>',
      },
      { name: '_rels/.rels', content: list('document', 'drawing/main.xml') },
      { name: 'drawing/main.xml', content: '<VisioDocument/>' },
      { name: 'drawing/_rels/main.xml.rels', content: list('pages', 'list.xml') },
      { name: 'drawing/list.xml', content: '<Pages><Page Name="named"><Rel r:id="r"/></Page></Pages>' },
      { name: 'drawing/_rels/list.xml.rels', content: list('page', 'one.xml') },
      {
        name: 'drawing/one.xml',
        content: '<PageContents><Shape><Text>shaped <cp IX="0"/>text</Text></Shape></PageContents>',
      },
    ])
    const document = await read('a.vsdx', bytes)
    expect(document.mediaType).toBe('application/vnd.ms-visio.drawing')
    expect(document.text).toBe('named\n\n- shaped text')
    expect(document.metadata.warnings).toBeUndefined()
  })

  it('occur in the text of OpenDocument texts, presentations and sheets', async () => {
    const p = (inner: string) => `<text:p>${inner}</text:p>`
    const mathml = '<math:math><math:mfrac><math:mi>profit</math:mi><math:mi>revenue</math:mi></math:mfrac></math:math>'
    const body = [
      '<office:forms><form:form><form:checkbox form:id="c1" form:label="boxlabel" form:current-state="checked"/><form:text form:id="c2" form:label="entrylabel" form:current-value="entryvalue"/></form:form></office:forms>',
      '<text:h text:outline-level="1">headed</text:h>',
      p(
        'plain<text:s/>spaced<text:tab/>tabbed<text:line-break/>broken <text:span>spanned</text:span> <text:a xlink:href="x">linked</text:a>',
      ),
      p(
        '<text:author-name>fielded</text:author-name> <text:drop-down><text:label text:value="UNCHOSEN"/>chosen</text:drop-down>',
      ),
      p('<text:ruby><text:ruby-base>漢字</text:ruby-base><text:ruby-text>かんじ</text:ruby-text></text:ruby>'),
      p(
        'sea<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>noted</text:p></text:note-body></text:note>',
      ),
      p('pond<office:annotation><dc:creator>Ann</dc:creator><text:p>commented</text:p></office:annotation>'),
      p('<draw:frame><draw:text-box><text:p>boxed</text:p></draw:text-box></draw:frame>'),
      p('<draw:custom-shape><svg:title>described</svg:title><text:p>shaped</text:p></draw:custom-shape>'),
      p(`so <draw:frame><draw:object>${mathml}</draw:object></draw:frame> rises`),
      p('<draw:control draw:control="c1"/>'),
      p('<draw:control draw:control="c2"/>'),
      p(
        '<field:fieldmark field:type="vnd.oasis.opendocument.field.FORMCHECKBOX"><field:param field:name="Checkbox_Checked" field:value="true"/></field:fieldmark> marked',
      ),
      '<text:list><text:list-item><text:p>listed</text:p></text:list-item></text:list>',
      '<table:table><table:table-row><table:table-cell table:number-columns-spanned="2"><text:p>wide</text:p></table:table-cell><table:covered-table-cell/></table:table-row><table:table-row><table:table-cell><text:p>cell1</text:p></table:table-cell><table:table-cell><text:p>cell2</text:p></table:table-cell></table:table-row></table:table>',
      '<text:section><text:p>sectioned</text:p></text:section>',
    ].join('')
    const { text, elements, metadata } = await read('a.odt', makeOdf('text', `<office:text>${body}</office:text>`))
    expect(metadata.warnings).toBeUndefined()
    for (const word of 'headed plain spaced tabbed broken spanned linked fielded chosen 漢字(かんじ) sea noted pond commented boxed described shaped listed wide cell1 cell2 sectioned'.split(
      ' ',
    ))
      expect(text, word).toContain(word)
    expect(text).toContain('so profit/revenue rises')
    expect(text).toContain('☒ boxlabel')
    expect(text).toContain('entrylabel entryvalue')
    expect(text).toContain('☒ marked')
    expect(text).not.toContain('UNCHOSEN')
    expect(elements.find(({ type }) => type === 'table')?.metadata.spans).toEqual([
      { row: 0, column: 0, rows: 1, columns: 2 },
    ])
    expect(elements.find(({ text: words }) => words?.startsWith('so'))?.metadata.formulas).toEqual([
      '\\frac{\\text{profit}}{\\text{revenue}}',
    ])
    const slide =
      '<draw:page draw:name="p"><draw:frame presentation:class="title"><draw:text-box><text:p>titled</text:p></draw:text-box></draw:frame><draw:g><draw:custom-shape><text:p>grouped</text:p></draw:custom-shape></draw:g><presentation:notes><draw:frame><draw:text-box><text:p>noted</text:p></draw:text-box></draw:frame></presentation:notes></draw:page>'
    const slides = await read('a.odp', makeOdf('presentation', `<office:presentation>${slide}</office:presentation>`))
    expect(slides.metadata.warnings).toBeUndefined()
    for (const word of ['titled', 'grouped', 'noted']) expect(slides.text, word).toContain(word)
    const sheet =
      '<table:table table:name="Named"><table:table-row><table:table-cell office:value-type="string"><text:p>cell1</text:p><text:p>second</text:p></table:table-cell><table:table-cell office:value-type="float" office:value="1.5"><office:annotation><text:p>commented</text:p></office:annotation><text:p>1.50</text:p></table:table-cell></table:table-row></table:table>'
    const sheets = await read('a.ods', makeOdf('spreadsheet', `<office:spreadsheet>${sheet}</office:spreadsheet>`))
    expect(sheets.metadata.warnings).toBeUndefined()
    for (const word of ['Named', 'cell1', 'second', '1.50', 'commented']) expect(sheets.text, word).toContain(word)
  })
})
