import { describe, expect, it } from 'vitest'
import { pdfOf } from './hostile-pdfs.js'
import { readInside } from './read.js'

const stream = (entries: string, content: string): string =>
  `<< ${entries} /Length ${content.length} >>\nstream\n${content}\nendstream`
const words = (text: string, y = 4): string => `BT /F 11 Tf 1 0 0 1 2 ${y} Tm (${text}) Tj ET`

interface PdfParts {
  content: string
  /** Objects from number 8 on. */
  objects?: string[]
  annotations?: string[]
  fields?: string[]
  /** Entries of the catalog. */
  catalog?: string
}

/** A page with annotations and fields; object 3 is its font, 6 and 7 are the appearances `drawn words` and `Send form`. */
function pdfWith({ content, objects = [], annotations = [], fields = [], catalog = '' }: PdfParts): Buffer {
  const first = 8 + objects.length
  const fonts = '/Resources << /Font << /F 3 0 R /Helv 3 0 R >> /XObject << /X 6 0 R >> >>'
  const form = `/Subtype /Form /BBox [0 0 200 20] ${fonts}`
  const all = [...annotations, ...fields.map((field) => `/Subtype /Widget ${field}`)]
  const ids = all.map((_, index) => `${first + index} 0 R`)
  return pdfOf([
    `<< /Type /Catalog /Pages 2 0 R /AcroForm << /Fields [${ids.slice(annotations.length).join(' ')} ${catalog.includes('/Orphan') ? '8 0 R' : ''}] /DA (/Helv 11 Tf 0 g) /DR << /Font << /Helv 3 0 R >> >> >> ${catalog.replace('/Orphan', '')} >>`,
    '<< /Type /Pages /Kids [4 0 R] /Count 1 >>',
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
    `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 5 0 R ${fonts} /Annots [${ids.join(' ')}] >>`,
    stream('', content),
    stream(form, words('drawn words')),
    stream(form, words('Send form')),
    ...objects,
    ...all.map((one) => `<< /Type /Annot /F 4 ${one} >>`),
  ])
}

async function textsOf(parts: PdfParts): Promise<string[]> {
  const { document } = await readInside('a.pdf', pdfWith(parts), { depth: 1 })
  return document.elements.map(({ text = '' }) => text)
}

const count = (text: string, part: string): number => text.split(part).length - 1

describe('constructs of a PDF that carry text', () => {
  it('all come out once, with their page, or are counted in a warning', async () => {
    const kinds = ['Text', 'Line', 'Square', 'Circle', 'Polygon', 'PolyLine', 'Highlight', 'Underline', 'Squiggly']
    const others = ['StrikeOut', 'Stamp', 'Caret', 'Ink']
    const remarks = [...kinds, ...others].map(
      (kind, index) =>
        `/Subtype /${kind} /Rect [40 ${690 - 20 * index} 60 ${700 - 20 * index}] /QuadPoints [40 700 60 700 40 690 60 690] /Vertices [1 1 2 2] /InkList [[1 1 2 2]] /L [1 1 2 2] /T (Ada) /Contents (remark of ${kind})`,
    )
    const { document, files } = await readInside(
      'a.pdf',
      pdfWith({
        content: `${words('Printed words', 760)} q 1 0 0 1 300 700 cm /X Do Q`,
        objects: [
          '<< /Subtype /Widget /FT /Tx /T (nowhere) /V (value without a page) /Rect [0 0 9 9] >>',
          '<< /Title (Entry of the outline) /Parent 10 0 R /Dest [4 0 R /Fit] >>',
          '<< /First 9 0 R /Last 9 0 R /Count 1 >>',
          stream('/Type /EmbeddedFile', 'Budget of the harbour.'),
          '<< /Type /Filespec /F (budget.txt) /EF << /F 11 0 R >> >>',
          stream('/Type /EmbeddedFile', 'Plan of the harbour.'),
          '<< /Type /Filespec /F (plan.txt) /EF << /F 13 0 R >> >>',
        ],
        catalog: '/Orphan /Outlines 10 0 R /Names << /EmbeddedFiles << /Names [(a) 12 0 R] >> >>',
        annotations: [
          ...remarks,
          '/Subtype /FreeText /Rect [300 600 500 620] /DA (/Helv 11 Tf 0 g) /Contents (note on the page)',
          '/Subtype /Stamp /Rect [300 560 500 580] /AP << /N 6 0 R >>',
          '/Subtype /FileAttachment /Rect [300 540 320 560] /FS 14 0 R /Contents (remark of a file)',
          '/Subtype /Redact /Rect [300 460 320 470] /QuadPoints [40 700 60 700 40 690 60 690] /Contents (remark of a redaction)',
          `/Subtype /Popup /Rect [300 500 400 520] /Parent 15 0 R`,
          '/Subtype /Text /Rect [300 480 320 500] /F 2 /Contents (hidden remark)',
        ],
        fields: [
          '/FT /Tx /T (vessel) /V (value of a text field) /Rect [300 400 500 420]',
          '/FT /Tx /T (notes) /Ff 4096 /V (first row\\rsecond row) /Rect [300 350 500 390]',
          '/FT /Ch /T (port) /Ff 131072 /Opt [[(o) (Oban)] [(t) (Tobermory)]] /V (t) /Rect [300 320 500 340]',
          '/FT /Ch /T (days) /Ff 2097152 /Opt [(Monday) (Tuesday) (Friday)] /V [(Monday) (Friday)] /Rect [300 280 500 315]',
          '/FT /Btn /T (insured) /V /Yes /AS /Yes /AP << /N << /Yes 6 0 R /Off 6 0 R >> >> /Rect [300 260 312 272]',
          '/FT /Btn /T (fuel) /Ff 32768 /V /diesel /AS /diesel /AP << /N << /diesel 6 0 R /Off 6 0 R >> >> /Rect [300 240 312 252]',
          '/FT /Btn /T (send) /Ff 65536 /AP << /N 7 0 R >> /Rect [300 200 400 220]',
          '/FT /Tx /T (secret) /Ff 8192 /V (hidden password) /Rect [300 160 400 180]',
        ],
      }),
      { depth: 1 },
    )
    const text = document.elements.map((element) => element.text).join('\n')
    const shown = [
      ...[...kinds, ...others].map((kind) => `Comment by Ada: remark of ${kind}\n`),
      'Printed words',
      'note on the page',
      'remark of a file',
      'remark of a redaction',
      'vessel: value of a text field',
      'first row second row',
      'port: Tobermory',
      'Monday Friday',
      'insured: ☒',
      'fuel: ☒ diesel',
      'Send form',
      'Embedded file: budget.txt',
      'Embedded file: plan.txt',
    ]
    expect(shown.filter((part) => count(`${text}\n`, part) !== 1)).toEqual([])
    expect(count(text, 'drawn words'), 'in the content and on a stamp').toBe(2)
    expect(document.outline.map(({ title }) => title)).toEqual(['Entry of the outline'])
    expect(files).toEqual({ 'plan.txt': 'Plan of the harbour.', 'budget.txt': 'Budget of the harbour.' })
    expect(document.elements.every(({ pageNumber }) => pageNumber === 1)).toBe(true)
    expect(document.metadata.warnings).toEqual([
      'left out: 2 hidden annotations',
      'left out: 1 form field without a page',
    ])
    expect(text).not.toContain('hidden')
  })

  it('stand next to the printed text that names them, however the fields are drawn', async () => {
    const texts = await textsOf({
      content: [words('Name of the vessel:', 700), words('Draught:', 670), words('Insured', 640)].join(' '),
      fields: [
        '/FT /Tx /T (b) /V (1.80) /Rect [120 666 220 684]',
        '/FT /Tx /T (a) /V (Kittiwake) /Rect [120 696 220 714] /AP << /N 6 0 R >>',
        '/FT /Btn /T (c) /V /On /AS /On /AP << /N << /On 6 0 R >> >> /Rect [120 638 130 648]',
      ],
    })
    expect(texts.join(' ')).toBe('Name of the vessel: Kittiwake Draught: 1.80 Insured ☒')
  })

  it('become the text of a page of fields alone, with the names of the fields', async () => {
    const texts = await textsOf({
      content: '',
      fields: [
        '/FT /Tx /T (f1[0]) /TU (Name of the vessel) /V (Kittiwake) /Rect [120 696 220 714]',
        '/FT /Tx /T (owner_name[0]) /V (Ada) /Rect [120 596 220 614]',
      ],
    })
    expect(texts.join(' ')).toBe('Name of the vessel: Kittiwake owner name: Ada')
  })

  it('give a warning where the form is one of XFA alone', async () => {
    const xfa = pdfWith({ content: words('Please wait', 700) })
      .toString('latin1')
      .replace('/AcroForm << /Fields [ ] ', '/AcroForm << /XFA 7 0 R   ')
    const { document } = await readInside('a.pdf', Buffer.from(xfa, 'latin1'))
    expect(document.metadata.warnings).toEqual(['left out: a form in XFA'])
  })

  it('disappear where a remark only repeats the words that it marks', async () => {
    const marked = (text: string) =>
      `/Subtype /Highlight /Rect [0 690 200 712] /QuadPoints [0 712 200 712 0 690 200 690] /Contents (${text})`
    const texts = await textsOf({
      content: words('The mill stood still for a year', 700),
      annotations: [
        marked('mill stood still'),
        marked('the mill'),
        '/Subtype /Text /Rect [0 600 9 610] /Contents (mill stood still)',
      ],
    })
    expect(texts).toEqual(['The mill stood still for a year', 'Comment: the mill', 'Comment: mill stood still'])
  })
})
