/** Builds records of Excel 97 workbooks. */

function u16(...values: number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 2)
  for (const [index, value] of values.entries()) bytes.writeUInt16LE(value, index * 2)
  return bytes
}

function record(type: number, ...parts: Buffer[]): Buffer {
  const body = Buffer.concat(parts)
  return Buffer.concat([u16(type, body.length), body])
}

function text(words: string): Buffer {
  return Buffer.concat([Buffer.from([words.length, 0]), Buffer.from(words, 'latin1')])
}

function longText(words: string): Buffer {
  return Buffer.concat([u16(words.length), Buffer.from([0]), Buffer.from(words, 'latin1')])
}

function double(value: number): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeDoubleLE(value)
  return bytes
}

const BEGIN = record(0x1033)
const END = record(0x1034)
const EOF = record(0x000a)

export const biff = {
  record,
  /** A text box; type 0x19 is the box of a comment. */
  textBox: (words: string, kind: number): Buffer[] => [
    record(0x005d, u16(0x15, 0x12, kind, 1)),
    record(0x01b6, u16(0, 0, 0, 0, 0, words.length, 0)),
    record(0x003c, Buffer.concat([Buffer.from([0]), Buffer.from(words, 'latin1')])),
    record(0x003c, Buffer.alloc(4)),
  ],
}

/** A chart with its cached figures: categories as rows, series as columns. */
export function chartOf(chart: {
  title: string
  axis: string
  series: string[]
  rows: [string, ...number[]][]
}): Buffer[] {
  const label = (words: string, of: number): Buffer[] => [
    record(0x1025, Buffer.alloc(4)),
    BEGIN,
    record(0x100d, u16(0), text(words)),
    record(0x1027, u16(of, 0, 0)),
    END,
  ]
  return [
    record(0x0809, u16(0x0600, 0x0020)),
    BEGIN,
    ...chart.series.flatMap((name) => [
      record(0x1003, Buffer.alloc(12)),
      BEGIN,
      record(0x100d, u16(0), text(name)),
      END,
    ]),
    ...label(chart.title, 1),
    ...label(chart.axis, 3),
    END,
    record(0x1065, u16(1)),
    ...chart.rows.flatMap(([, ...values], point) =>
      values.map((value, series) => record(0x0203, u16(point, series, 0), double(value))),
    ),
    record(0x1065, u16(2)),
    ...chart.rows.map(([name], point) => record(0x0204, u16(point, 0, 0), longText(name))),
    EOF,
  ]
}

/** A stream of one sheet with these records. */
export function sheetStream(name: string, records: Buffer[]): Buffer {
  const bound = (at: number): Buffer => {
    const place = Buffer.alloc(4)
    place.writeUInt32LE(at)
    return record(0x0085, place, u16(0), text(name))
  }
  const head = record(0x0809, u16(0x0600, 0x0005))
  const at = head.length + bound(0).length + EOF.length
  return Buffer.concat([head, bound(at), EOF, record(0x0809, u16(0x0600, 0x0010)), ...records, EOF])
}
