import { deflateSync } from 'node:zlib'
import type { Bitmap } from '../../../../src/engine/readers/render/bitmap.js'
import { openPages } from '../../../../src/engine/readers/render/pdf-pages.js'

export interface PdfSheet {
  /** In points. */
  width: number
  height: number
  /** Content stream; the name of the font is F. */
  content: string
  /** Clockwise rotation for display, in degrees. */
  rotate?: number
  /** Fills the sheet with a picture instead of its content. */
  picture?: Bitmap
  /** Content over the picture. */
  over?: string
  /** Further fonts in the content, by name. */
  fonts?: Record<string, string>
  /** Position of the picture if it does not fill the sheet: left, bottom, width, height. */
  at?: readonly [number, number, number, number]
}

/** A PDF of plain pages; `font` is one of the fourteen standard fonts that need not be embedded. */
export function makePdf(sheets: readonly PdfSheet[], font = 'Helvetica'): Buffer {
  const objects: Buffer[] = []
  const add = (body: Buffer | string): number => objects.push(Buffer.from(body))
  add('<< /Type /Catalog /Pages 2 0 R >>')
  add('')
  const encoding = font === 'Symbol' ? '' : '/Encoding /WinAnsiEncoding'
  add(`<< /Type /Font /Subtype /Type1 /BaseFont /${font} ${encoding} >>`)
  const kids: number[] = []
  for (const sheet of sheets) {
    const { picture, width, height } = sheet
    const [left, bottom, across, up] = sheet.at ?? [0, 0, width, height]
    const drawn = picture === undefined ? '' : `/XObject << /I ${add(pictureObject(picture))} 0 R >>`
    const stream = Buffer.from(
      picture === undefined ? sheet.content : `q ${across} 0 0 ${up} ${left} ${bottom} cm /I Do Q ${sheet.over ?? ''}`,
      'latin1',
    )
    const fonts = Object.entries(sheet.fonts ?? {}).map(
      ([name, called]) => `/${name} << /Type /Font /Subtype /Type1 /BaseFont /${called} /Encoding /WinAnsiEncoding >>`,
    )
    const content = add(
      Buffer.concat([Buffer.from(`<< /Length ${stream.length} >>\nstream\n`), stream, Buffer.from('\nendstream')]),
    )
    kids.push(
      add(
        `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 ${sheet.width} ${sheet.height}] /Rotate ${sheet.rotate ?? 0} /Contents ${content} 0 R /Resources << /Font << /F 3 0 R ${fonts.join(' ')} >> ${drawn} >> >>`,
      ),
    )
  }
  objects[1] = Buffer.from(
    `<< /Type /Pages /Count ${kids.length} /Kids [${kids.map((kid) => `${kid} 0 R`).join(' ')}] >>`,
  )
  return joined(objects)
}

function pictureObject({ width, height, data }: Bitmap): Buffer {
  const packed = deflateSync(data)
  const head = `<< /Type /XObject /Subtype /Image /Width ${width} /Height ${height} /ColorSpace /DeviceGray /BitsPerComponent 8 /Filter /FlateDecode /Length ${packed.length} >>\nstream\n`
  return Buffer.concat([Buffer.from(head), packed, Buffer.from('\nendstream')])
}

function joined(objects: readonly Buffer[]): Buffer {
  const parts: Buffer[] = [Buffer.from('%PDF-1.7\n')]
  const places: number[] = []
  let offset = parts[0]?.length ?? 0
  for (const [index, body] of objects.entries()) {
    const part = Buffer.concat([Buffer.from(`${index + 1} 0 obj\n`), body, Buffer.from('\nendobj\n')])
    places.push(offset)
    offset += part.length
    parts.push(part)
  }
  const table = places.map((place) => `${String(place).padStart(10, '0')} 00000 n \n`).join('')
  parts.push(
    Buffer.from(
      `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${table}trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${offset}\n%%EOF\n`,
    ),
  )
  return Buffer.concat(parts)
}

/** A sheet with lines of text in Helvetica, from its top; a line that begins with `#` has twice the size. */
export function sheetOf(lines: readonly string[], size = 12, left = 72): PdfSheet {
  let y = 770
  const drawn = lines.map((line) => {
    const height = line.startsWith('#') ? size * 2 : size
    y -= height * 1.4
    const text = line.replace(/^# /, '').replace(/[()\\]/g, (sign) => `\\${sign}`)
    return `BT /F ${height} Tf ${left} ${y} Td (${text}) Tj ET`
  })
  return { width: 595, height: 842, content: drawn.join('\n') }
}

/** Pictures of the sheets, as from a scanner. */
export async function scansOf(sheets: readonly PdfSheet[], dpi = 200): Promise<Bitmap[]> {
  const pages = await openPages(makePdf(sheets), 'sheets.pdf')
  const scans = sheets.map((_, place) => pages.render(place + 1, { dpi, grey: true }))
  pages.close()
  return scans
}

/** A PDF whose pages are pictures of sheets. */
export async function makeScan(sheets: readonly PdfSheet[], dpi = 200): Promise<Buffer> {
  const scans = await scansOf(sheets, dpi)
  return makePdf(sheets.map((sheet, place) => ({ ...sheet, picture: scans[place] ?? failed() })))
}

function failed(): never {
  throw new Error('a sheet was not drawn')
}
