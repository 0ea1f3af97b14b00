import { crc32 } from 'node:zlib'

/** Sizes and offsets that a hostile archive claims, and the length of its extra fields. */
interface Claims {
  claimed?: bigint
  offset?: bigint
  directory?: bigint
  extra?: number
}

/** An archive of stored parts with all sizes and offsets in zip64 records (APPNOTE.TXT 6.3, 4.3.14, 4.5.3). */
export function zip64(parts: Record<string, string>, claims: Claims = {}): Buffer {
  const files: Buffer[] = []
  const directory: Buffer[] = []
  let at = 0
  for (const [name, content] of Object.entries(parts)) {
    const extra = Buffer.alloc(28)
    extra.writeUInt16LE(1, 0)
    extra.writeUInt16LE(claims.extra ?? 24, 2)
    extra.writeBigUInt64LE(claims.claimed ?? BigInt(content.length), 4)
    extra.writeBigUInt64LE(BigInt(content.length), 12)
    extra.writeBigUInt64LE(claims.offset ?? BigInt(at), 20)
    const common = Buffer.alloc(26)
    common.writeUInt16LE(45, 0)
    common.writeUInt32LE(crc32(content), 10)
    common.fill(0xff, 14, 22)
    common.writeUInt16LE(name.length, 22)
    const head = Buffer.concat([Buffer.from('PK\x01\x02\x2d\x00', 'latin1'), common, Buffer.alloc(14, 0xff)])
    head.writeUInt16LE(4 + (claims.extra ?? 24), 30)
    head.writeUInt16LE(0, 32)
    directory.push(head, Buffer.from(name), extra.subarray(0, 4 + (claims.extra ?? 24)))
    const local = Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), common, Buffer.from(`${name}${content}`)])
    files.push(local)
    at += local.length
  }
  const list = Buffer.concat(directory)
  const record = Buffer.alloc(56)
  record.write('PK\x06\x06', 0, 'latin1')
  record.writeBigUInt64LE(claims.directory ?? BigInt(at), 48)
  const locator = Buffer.alloc(20)
  locator.write('PK\x06\x07', 0, 'latin1')
  locator.writeBigUInt64LE(BigInt(at + list.length), 8)
  const end = Buffer.alloc(22, 0xff)
  end.write('PK\x05\x06', 0, 'latin1')
  end.writeUInt32LE(0, 4)
  end.writeUInt16LE(0, 20)
  return Buffer.concat([...files, list, record, locator, end])
}
