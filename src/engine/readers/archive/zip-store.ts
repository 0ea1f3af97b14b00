import { crc32 } from 'node:zlib'

const LOCAL_SIGNATURE = 0x04034b50
const CENTRAL_SIGNATURE = 0x02014b50
const END_SIGNATURE = 0x06054b50
const VERSION = 20
/** the directory of an archive counts its entries in 16 bits */
const MAX_ENTRIES = 0xffff

/**
 * Builds a zip archive of parts in memory, without compression: for a library that requires an archive, after every
 * part has been inflated within our limits.
 *
 * @param parts names and contents, fewer than 65,536 and below 4 GiB
 */
export function buildStoredZip(parts: readonly (readonly [string, Buffer])[]): Buffer {
  if (parts.length > MAX_ENTRIES)
    throw new RangeError(`a zip archive holds ${MAX_ENTRIES} entries, not ${parts.length}`)
  const files: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const [partName, content] of parts) {
    const name = Buffer.from(partName)
    // From version to name length, the same 26 bytes in both records (APPNOTE.TXT 6.3, 4.3.7 and 4.3.12).
    const common = Buffer.alloc(26)
    common.writeUInt16LE(VERSION, 0)
    common.writeUInt32LE(crc32(content), 10)
    common.writeUInt32LE(content.length, 14)
    common.writeUInt32LE(content.length, 18)
    common.writeUInt16LE(name.length, 22)
    const local = Buffer.alloc(4)
    local.writeUInt32LE(LOCAL_SIGNATURE, 0)
    files.push(local, common, name, content)
    const head = Buffer.alloc(6)
    head.writeUInt32LE(CENTRAL_SIGNATURE, 0)
    head.writeUInt16LE(VERSION, 4)
    const tail = Buffer.alloc(14)
    tail.writeUInt32LE(offset, 10)
    directory.push(head, common, tail, name)
    offset += local.length + common.length + name.length + content.length
  }
  const list = Buffer.concat(directory)
  const end = Buffer.alloc(22)
  end.writeUInt32LE(END_SIGNATURE, 0)
  end.writeUInt16LE(parts.length, 8)
  end.writeUInt16LE(parts.length, 10)
  end.writeUInt32LE(list.length, 12)
  end.writeUInt32LE(offset, 16)
  return Buffer.concat([...files, list, end])
}
