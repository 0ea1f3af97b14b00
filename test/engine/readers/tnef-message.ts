/** Builds TNEF messages (winmail.dat), as Outlook sends them instead of attachments. */

export function u32(...values: number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4)
  for (const [index, value] of values.entries()) bytes.writeUInt32LE(value, index * 4)
  return bytes
}

export function attribute(id: number, data: Buffer): Buffer {
  return Buffer.concat([Buffer.from([id > 0x60000 ? 2 : 1]), u32(id, data.length), data, Buffer.alloc(2)])
}

/** A property with a UTF-16 text, after a named property. */
function properties(id: number, text: string): Buffer {
  const value = Buffer.from(`${text}\0`, 'utf16le')
  const named = Buffer.concat([u32(0x8001_0003), Buffer.alloc(16), u32(0, 0x1234), u32(7)])
  const padded = Buffer.concat([value, Buffer.alloc((4 - (value.length % 4)) % 4)])
  return Buffer.concat([u32(2), named, u32((id << 16) | 0x001f), u32(1, value.length), padded])
}

/** A message with a text and an attachment. */
export function makeTnef(): Buffer {
  return Buffer.concat([
    u32(0x223e9f78),
    Buffer.from([1, 0]),
    attribute(0x00018004, Buffer.from('About boats\0')),
    attribute(0x0002800c, Buffer.from('The ferry is late.\0')),
    attribute(0x00069002, Buffer.alloc(14)),
    attribute(0x00018010, Buffer.from('TIMETA~1.TXT\0')),
    attribute(0x0006800f, Buffer.from('It sails at nine.')),
    attribute(0x00069005, properties(0x3707, 'timetable of ferries.txt')),
  ])
}
