import { deflateSync } from 'node:zlib'

/** Small PDF files that are expensive for a naive reader (A38, pdf-stream-bomb). */

const MIB = 1024 * 1024

/** A file of the given objects, numbered from 1; `prev` is the offset of an older cross-reference table. */
export function pdfOf(objects: (string | Buffer)[], { prev }: { prev?: 'itself' | number } = {}): Buffer {
  const pieces: Buffer[] = [Buffer.from('%PDF-1.7\n')]
  let at = pieces[0]?.length ?? 0
  const offsets = objects.map((object, index) => {
    const head = Buffer.from(`${index + 1} 0 obj\n`)
    const piece = Buffer.concat([head, Buffer.from(object), Buffer.from('\nendobj\n')])
    pieces.push(piece)
    at += piece.length
    return at - piece.length
  })
  const rows = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('')
  const older = prev === undefined ? '' : ` /Prev ${prev === 'itself' ? at : prev}`
  const trailer = `trailer\n<< /Size ${objects.length + 1} /Root 1 0 R${older} >>\nstartxref\n${at}\n%%EOF\n`
  pieces.push(Buffer.from(`xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${rows}${trailer}`))
  return Buffer.concat(pieces)
}

const CATALOG = '<< /Type /Catalog /Pages 2 0 R >>'
const PAGES = '<< /Type /Pages /Kids [3 0 R] /Count 1 >>'
const PAGE =
  '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 100 100] /Contents 4 0 R /Resources << /Font << /F 5 0 R >> >> >>'
const FONT = '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>'

function stream(bytes: Buffer, filters: string): Buffer {
  return Buffer.concat([
    Buffer.from(`<< /Length ${bytes.length} /Filter [${filters}] >>\nstream\n`),
    bytes,
    Buffer.from('\nendstream'),
  ])
}

/** A page whose content stream has these filters. */
function pageOf(bytes: Buffer, filters: string): Buffer {
  return pdfOf([CATALOG, PAGES, PAGE, stream(bytes, filters), FONT])
}

/** LZW codes that clear the table repeatedly and give spaces. */
function lzw(count: number): Buffer {
  const bits: string[] = []
  for (let index = 0; index < count; index++) bits.push(index % 200 === 0 ? '100000000' : '000100000')
  const text = `${bits.join('')}100000001`
  const bytes = Buffer.alloc(Math.ceil(text.length / 8))
  for (let index = 0; index < bytes.length; index++)
    bytes[index] = Number.parseInt(text.slice(index * 8, index * 8 + 8).padEnd(8, '0'), 2)
  return bytes
}

/** Hostile files by the name of the attack, with the number of pages or bytes that they claim. */
export function hostilePdfs(): Record<string, Buffer> {
  const zeros = deflateSync(Buffer.alloc(512 * MIB, ' '), { level: 9 })
  const runs = deflateSync(Buffer.alloc(16 * MIB, Buffer.from([129, 0x20])), { level: 9 })
  const nested = `[ ${'['.repeat(1_000_000)} ${']'.repeat(1_000_000)} ]`
  return {
    'flate of 512 MiB': pageOf(zeros, '/FlateDecode'),
    'flate of flate': pageOf(deflateSync(zeros, { level: 9 }), '/FlateDecode /FlateDecode'),
    'flate of run lengths of 1 GiB': pageOf(runs, '/FlateDecode /RunLengthDecode'),
    'flate of LZW': pageOf(deflateSync(lzw(4_000_000)), '/FlateDecode /LZWDecode'),
    'a chain of 5,000 filters': pageOf(deflateSync(Buffer.from('BT ET')), '/FlateDecode '.repeat(5000)),
    'a cross-reference table before itself': pdfOf([CATALOG, PAGES, PAGE, stream(zeros, '/FlateDecode'), FONT], {
      prev: 'itself',
    }),
    'a page tree that is its own child': pdfOf([
      CATALOG,
      '<< /Type /Pages /Kids [3 0 R] /Count 1000000 >>',
      '<< /Type /Pages /Parent 2 0 R /Kids [2 0 R 3 0 R 3 0 R] /Count 1000000 >>',
    ]),
    'a million pages claimed': pdfOf([CATALOG, '<< /Type /Pages /Kids [3 0 R] /Count 1000000 >>', PAGE, 'null', FONT]),
    'outlines in a circle': pdfOf([
      '<< /Type /Catalog /Pages 2 0 R /Outlines 6 0 R >>',
      PAGES,
      PAGE,
      stream(deflateSync(Buffer.from('BT /F 9 Tf (words here) Tj ET')), '/FlateDecode'),
      FONT,
      '<< /First 7 0 R /Last 7 0 R >>',
      '<< /Title (a) /Parent 6 0 R /Next 7 0 R /First 6 0 R /Dest [3 0 R /Fit] >>',
    ]),
    'a million arrays in each other': pdfOf([CATALOG, PAGES, PAGE, nested, FONT]),
    'a million arrays in the content': pageOf(deflateSync(Buffer.from('['.repeat(1_000_000))), '/FlateDecode'),
    'a million objects': pdfOf([CATALOG, PAGES, PAGE, 'null', FONT, ...Array<string>(1_000_000).fill('0')]),
  }
}
