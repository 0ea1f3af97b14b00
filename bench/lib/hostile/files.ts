import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { utils, write } from '@e965/xlsx'
import { makeMail, makeTar } from '../../../test/engine/library/documents/inside-files.js'
import { makeBmp, makeGif, makeTiff } from '../../../test/engine/readers/ocr/picture-files.js'
import { JPEG, WEBP } from '../../../test/engine/readers/ocr/small-pictures.js'
import { makeEpub, makeOdf, makePptx, relations, shape } from '../../../test/engine/readers/office.js'
import { compound, makeDoc, makePpt, summary } from '../../../test/engine/readers/old-office.js'
import { makeDocx, makeZip, wordParagraph } from '../../../test/engine/readers/read.js'
import { makePdf, scansOf, sheetOf } from '../../../test/engine/readers/render/make-pdf.js'
import { SAMPLES } from '../../../test/engine/readers/samples.js'
import { line, pdfOfPages, row } from '../../../test/engine/readers/table-pdf.js'
import { makeTnef } from '../../../test/engine/readers/tnef-message.js'
import { encodePng } from '../../../test/helpers/png.js'
import { ROOT } from '../daemon.js'
import { CODE, TEXTS } from './texts.js'

/** An intact file of a format. */
export interface Sample {
  name: string
  bytes: Buffer
}

const WORDS = 'Tin is a soft metal, and lead a heavy one. Both melt at low heat. '
const FIXTURES = join(ROOT, 'test', 'fixtures', 'docs')

/** Creates small files of each format that the readers support. */
export async function createSampleFiles(): Promise<Sample[]> {
  const contentByName: Record<string, Buffer | string> = {
    ...createPdfs(),
    ...createOfficeFiles(),
    ...createOldOfficeFiles(),
    ...(await createContainers()),
    ...SAMPLES,
    ...TEXTS,
    ...CODE,
    // last, because they take longest
    ...(await createPictures()),
  }
  return [
    ...Object.entries(contentByName).map(([name, content]) => ({ name, bytes: Buffer.from(content) })),
    ...readdirSync(FIXTURES).map((name) => ({ name, bytes: readFileSync(join(FIXTURES, name)) })),
  ].filter(({ bytes }) => bytes.length > 0)
}

function createPdfs(): Record<string, Buffer> {
  const cells = [0, 1, 2, 3].flatMap((index) =>
    row(700 - index * 20, [80, `metal ${index}`], [220, `${index}.5`], [320, '12']),
  )
  return {
    'text.pdf': makePdf([sheetOf(['# Metals', WORDS, '1. one', '2. two']), sheetOf(['# More', WORDS])]),
    'table.pdf': pdfOfPages([[...cells, line(70, 720, 400, 720), line(70, 620, 400, 620)], cells]),
  }
}

async function createPictures(): Promise<Record<string, Buffer>> {
  const [scan] = await scansOf(
    [{ width: 160, height: 40, content: 'BT /F 18 Tf 10 14 Td (Boats and trains) Tj ET' }],
    72,
  )
  if (scan === undefined) throw new Error('nothing was drawn')
  return {
    'scan.pdf': makePdf([{ width: 160, height: 40, content: '', picture: scan }]),
    'picture.png': encodePng(scan),
    'picture.gif': makeGif(scan),
    'picture.bmp': makeBmp(scan),
    'picture.tif': makeTiff([scan, scan], { deflate: true }),
    'plain.tiff': makeTiff([scan]),
    'picture.jpg': JPEG,
    'picture.webp': WEBP,
  }
}

function createOfficeFiles(): Record<string, Buffer> {
  const cell = (text: string): string =>
    `<table:table-cell office:value-type="string"><text:p>${text}</text:p></table:table-cell>`
  const tableRow = `<table:table-row>${cell('Tin')}${cell('4.5')}</table:table-row>`
  const draw =
    '<draw:page draw:name="One"><draw:frame><draw:text-box><text:p>Boiler</text:p></draw:text-box></draw:frame></draw:page>'
  return {
    'report.docx': makeDocx(`${wordParagraph('Metals', 'Heading1')}${wordParagraph(WORDS)}`),
    'show.pptx': makePptx([{ shapes: shape('Metals', 'title') + shape('*Tin\n>*Lead') }, { shapes: shape(WORDS) }]),
    'text.odt': makeOdf(
      'text',
      `<office:text><text:h text:outline-level="1">Metals</text:h><text:p>${WORDS}</text:p></office:text>`,
    ),
    'sheet.ods': makeOdf(
      'spreadsheet',
      `<office:spreadsheet><table:table table:name="P">${tableRow}</table:table></office:spreadsheet>`,
    ),
    'show.odp': makeOdf('presentation', `<office:presentation>${draw}</office:presentation>`),
    'plan.odg': makeOdf('graphics', `<office:drawing>${draw}</office:drawing>`),
    'net.vsdx': makeZip([
      { name: 'visio/document.xml', content: '<VisioDocument/>' },
      { name: 'visio/pages/pages.xml', content: '<Pages><Page Name="N"><Rel r:id="r1"/></Page></Pages>' },
      { name: 'visio/pages/_rels/pages.xml.rels', content: relations([{ id: 'r1', kind: 'page', target: 'p.xml' }]) },
      { name: 'visio/pages/p.xml', content: '<PageContents><Shape><Text>Router</Text></Shape></PageContents>' },
    ]),
    'book.epub': makeEpub([
      { name: 'one', xhtml: `<html><body><h1>One</h1><p>${WORDS}</p></body></html>` },
      { name: 'two', xhtml: `<html><body><h1>Two</h1><ul><li>tin</li></ul></body></html>` },
    ]),
  }
}

function createOldOfficeFiles(): Record<string, Buffer> {
  const lines = [
    { text: 'Metals', style: 3 },
    { text: 'Words\u0002 of \u0013LINK\u0014it\u0015.' },
    { text: 'one', item: 0 },
    { text: 'a', mark: 'cell' as const },
    { text: '', mark: 'row' as const },
    { text: 'gone', deleted: true },
  ]
  const streams = { '\u0005SummaryInformation': summary('t', 'a') }
  const slides = [
    { title: 'One', body: 'a\n>b', notes: 'say' },
    {
      title: 'Two',
      table: [
        ['a', 'b'],
        ['c', 'd'],
      ],
    },
  ]
  const book = utils.book_new()
  const rows = [['Metal', 'Price'], ...Array.from({ length: 20 }, (_, index) => [`m${index}`, index * 1.5])]
  utils.book_append_sheet(book, utils.aoa_to_sheet(rows), 'Prices')
  return {
    'old.doc': makeDoc(lines, { notes: ['note'], header: 'top', streams }),
    'old.ppt': makePpt(slides),
    'old.xls': write(book, { type: 'buffer', bookType: 'biff8' }),
    'book.xlsb': write(book, { type: 'buffer', bookType: 'xlsb' }),
    'mail.msg': compound({
      '__substg1.0_0037001F': Buffer.from('Trip', 'utf16le'),
      '__substg1.0_1000001F': Buffer.from(WORDS, 'utf16le'),
      '__attach_version1.0_#00000000/__substg1.0_3707001F': Buffer.from('a.md', 'utf16le'),
      '__attach_version1.0_#00000000/__substg1.0_37010102': Buffer.from(WORDS),
    }),
  }
}

async function createContainers(): Promise<Record<string, Buffer>> {
  const parts = [
    { name: 'a.md', content: `# A\n\n${WORDS}` },
    { name: 'folder/b.csv', content: 'a,b\n1,2\n' },
    { name: 'c.zip', content: makeZip([{ name: 'd.txt', content: WORDS }]) },
  ]
  const mail = makeMail('Trip', WORDS, parts)
  const start = Buffer.from('From a@b.c Tue Mar  3 10:00:00 2026\n')
  const tar = await makeTar(parts)
  return {
    'folder.zip': makeZip(parts),
    'folder.tar': tar,
    'folder.tgz': gzipSync(tar, { level: 1 }),
    'note.txt.gz': gzipSync(WORDS),
    'mail.eml': mail,
    'box.mbox': Buffer.concat([start, mail, Buffer.from('\n'), start, mail, Buffer.from('\n')]),
    'winmail.dat': makeTnef(),
  }
}
