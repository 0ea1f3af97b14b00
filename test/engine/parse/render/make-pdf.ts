export interface PdfSheet {
  /** in points */
  width: number
  height: number
  /** content stream; the font is called F */
  content: string
  /** degrees clockwise that the page is turned when it is shown */
  rotate?: number
}

/** A PDF of plain pages, written by hand. */
export function makePdf(sheets: readonly PdfSheet[]): Buffer {
  const objects: Buffer[] = []
  const add = (body: Buffer | string): number => objects.push(Buffer.from(body))
  add('<< /Type /Catalog /Pages 2 0 R >>')
  add('')
  add('<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>')
  const kids: number[] = []
  for (const sheet of sheets) {
    const stream = Buffer.from(sheet.content, 'latin1')
    const content = add(
      Buffer.concat([Buffer.from(`<< /Length ${stream.length} >>\nstream\n`), stream, Buffer.from('\nendstream')]),
    )
    kids.push(
      add(
        `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 ${sheet.width} ${sheet.height}] /Rotate ${sheet.rotate ?? 0} /Contents ${content} 0 R /Resources << /Font << /F 3 0 R >> >> >>`,
      ),
    )
  }
  objects[1] = Buffer.from(
    `<< /Type /Pages /Count ${kids.length} /Kids [${kids.map((kid) => `${kid} 0 R`).join(' ')}] >>`,
  )
  return joined(objects)
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
