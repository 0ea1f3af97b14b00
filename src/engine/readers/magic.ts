import { listEntryNames, openZip } from './archive/zip.js'
import { decodeText } from './charset.js'
import { DEFAULT_LIMITS, ReadError } from './limits.js'
import { readTopNames } from './office/compound-chains.js'
import { findContentType, findMainPart } from './office/main-part.js'

const OPEN_XML = 'application/vnd.openxmlformats-officedocument.'
const OPEN_DOCUMENT = 'application/vnd.oasis.opendocument.'

/** First bytes of a file, as Latin-1, and their media type. */
const SIGNATURES: readonly (readonly [string, string])[] = [
  ['{\\rtf', 'application/rtf'],
  ['\x89PNG\r\n\x1a\n', 'image/png'],
  ['\xff\xd8\xff', 'image/jpeg'],
  ['GIF8', 'image/gif'],
  ['BM', 'image/bmp'],
  ['II*\0', 'image/tiff'],
  ['MM\0*', 'image/tiff'],
  ['\x00\x00\x00\x0cjP  ', 'image/jp2'],
  ['\x00\x00\x00\x0cJXL ', 'image/jxl'],
  ['\x00\x00\x01\x00', 'image/x-icon'],
  ['AT&TFORM', 'image/vnd.djvu'],
  ['\x78\x9f\x3e\x22', 'application/vnd.ms-tnef'],
  ['\xe4\x52\x5c\x7b\x8c\xd8\xa7\x4d', 'application/onenote'],
  ['\x1f\x8b', 'application/gzip'],
  ['BZh', 'application/x-bzip2'],
  ['\xfd7zXZ\0', 'application/x-xz'],
  ['(\xb5/\xfd', 'application/zstd'],
  ["7z\xbc\xaf'\x1c", 'application/x-7z-compressed'],
  ['Rar!\x1a\x07', 'application/vnd.rar'],
  ['ID3', 'audio/mpeg'],
  ['\xff\xfb', 'audio/mpeg'],
  ['fLaC', 'audio/flac'],
  ['OggS', 'audio/ogg'],
  ['\x1aE\xdf\xa3', 'video/webm'],
  ['\x7fELF', 'application/x-executable'],
  ['MZ', 'application/x-executable'],
  ['\xcf\xfa\xed\xfe', 'application/x-executable'],
  ['\xca\xfe\xba\xbe', 'application/java-vm'],
  ['\0asm', 'application/wasm'],
  ['SQLite format 3\0', 'application/vnd.sqlite3'],
  ['PAR1', 'application/vnd.apache.parquet'],
  ['wOFF', 'font/woff'],
  ['wOF2', 'font/woff2'],
  ['!<arch>\n', 'application/x-archive'],
  ['\xce\xfa\xed\xfe', 'application/x-executable'],
  ['\x00\x01\x00\x00Standard Jet DB', 'application/vnd.ms-access'],
  ['\x00\x01\x00\x00Standard ACE DB', 'application/vnd.ms-access'],
  ['\x00\x01\x00\x00', 'font/ttf'],
  ['OTTO', 'font/otf'],
  ['8BPS', 'image/vnd.adobe.photoshop'],
  ['gimp xcf', 'image/x-xcf'],
  ['\xc5\xd0\xd3\xc6', 'application/postscript'],
  ['%!PS', 'application/postscript'],
  ['AC10', 'image/vnd.dwg'],
  ['\xd7\xcd\xc6\x9a', 'image/wmf'],
  ['!BDN', 'application/vnd.ms-outlook-pst'],
  ['ITSF', 'application/vnd.ms-htmlhelp'],
  ['\xabKTX', 'image/ktx'],
  ['\x89HDF\r\n\x1a\n', 'application/x-hdf5'],
  ['\x93NUMPY', 'application/x-npy'],
  ['BLENDER', 'application/x-blender'],
  ['dex\n', 'application/vnd.android.dex'],
  ['MThd', 'audio/midi'],
  ['#!AMR', 'audio/amr'],
  ['FLV\x01', 'video/x-flv'],
  ['\x00\x00\x01\xba', 'video/mpeg'],
  ['\x00\x00\x01\xb3', 'video/mpeg'],
  ['0&\xb2u\x8ef\xcf\x11', 'video/x-ms-asf'],
  ['CWS', 'application/x-shockwave-flash'],
  ['FWS', 'application/x-shockwave-flash'],
  ['MSCF', 'application/vnd.ms-cab-compressed'],
  ['\x1f\x9d', 'application/x-compress'],
  ['LZIP', 'application/x-lzip'],
  ['\xed\xab\xee\xdb', 'application/x-rpm'],
  ['Obj\x01', 'application/avro'],
  ['ORC', 'application/x-orc'],
  ['\xffWPC', 'application/vnd.wordperfect'],
  ['{\\pwi', 'application/x-pocketword'],
  ['GGUF', 'application/x-gguf'],
  ['bplist0', 'application/x-bplist'],
  ['L\x00\x00\x00\x01\x14\x02\x00', 'application/x-ms-shortcut'],
  ['\xde\xc0\x17\x0b', 'application/x-bitcode'],
  ['glTF', 'model/gltf-binary'],
  ['\xff\xf3', 'audio/mpeg'],
  ['\xff\xf1', 'audio/aac'],
  ['\xff\xf9', 'audio/aac'],
]

/** Programs that write packages: content types, folder and usual names of their main part. */
const PACKAGE_TYPES: readonly {
  contentType: RegExp
  folder: string
  mainParts: readonly string[]
  mediaType: string
}[] = [
  {
    contentType: /\.wordprocessingml\.|\.ms-word\./,
    folder: 'word/',
    mainParts: ['word/document.xml'],
    mediaType: `${OPEN_XML}wordprocessingml.document`,
  },
  {
    contentType: /\.ms-visio\./,
    folder: 'visio/',
    mainParts: ['visio/document.xml'],
    mediaType: 'application/vnd.ms-visio.drawing',
  },
  {
    contentType: /\.spreadsheetml\.|\.ms-excel\./,
    folder: 'xl/',
    mainParts: ['xl/workbook.xml', 'xl/workbook.bin'],
    mediaType: `${OPEN_XML}spreadsheetml.sheet`,
  },
  {
    contentType: /\.presentationml\.|\.ms-powerpoint\./,
    folder: 'ppt/',
    mainParts: ['ppt/presentation.xml'],
    mediaType: `${OPEN_XML}presentationml.presentation`,
  },
]
/** A list of relationships or content types that is larger is not read to detect a type. */
const MAX_LIST_BYTES = 8 * 1024 * 1024

/** Names of top-level entries of compound files and their media types; the order matters. */
const COMPOUND_NAMES: readonly (readonly [string, string])[] = [
  ['EncryptedPackage', 'application/x-ole-encrypted'],
  ['WordDocument', 'application/msword'],
  ['Workbook', 'application/vnd.ms-excel'],
  ['PowerPoint Document', 'application/vnd.ms-powerpoint'],
  ['__properties_version1.0', 'application/vnd.ms-outlook'],
  ['Book', 'application/vnd.ms-excel'],
  ['Quill', 'application/x-mspublisher'],
  ['VisioDocument', 'application/vnd.visio'],
  ['FileHeader', 'application/x-hwp'],
  ['SwDocContentMgr', 'application/x-solidworks'],
  ['MatOST', 'application/vnd.ms-works'],
  ['PP97_DUALSTORAGE', 'application/vnd.ms-powerpoint'],
  ['Catalog', 'application/x-thumbnails'],
]
/** Names that are searched anywhere in the file where its directory cannot be followed. */
const COMPOUND_ANYWHERE = ['EncryptedPackage', 'WordDocument', 'Workbook', 'PowerPoint Document']

/** Entries of an archive that are examined to detect its type. */
const MAX_EXAMINED_PARTS = 10_000

/** A PDF may have this many bytes before its header (ISO 32000-1, annex H.3.4.1). */
const MAX_PDF_HEADER_OFFSET = 1024

/**
 * The media type that the bytes of a file determine without doubt, else `undefined`. Archives of office formats are
 * distinguished by the names of their parts, compound files by their directory.
 */
export function sniffBinary(bytes: Buffer): string | undefined {
  const head = bytes.toString('latin1', 0, MAX_PDF_HEADER_OFFSET + 8)
  if (bytes.length >= 30 && head.startsWith('PK\x03\x04')) return sniffZip(bytes, head)
  if (head.startsWith('PK\x03\x04') || head.startsWith('PK\x05\x06')) return 'application/zip'
  if (head.startsWith('\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1')) return sniffCompound(bytes)
  if (head.includes('%PDF-')) return 'application/pdf'
  if (head.startsWith('RIFF')) return sniffRiff(head)
  if (head.slice(4, 8) === 'ftyp') return sniffBrand(head.slice(8, 12))
  if (head.slice(257, 262) === 'ustar') return 'application/x-tar'
  if (head.startsWith('DICM', 128)) return 'application/dicom'
  if (head.startsWith('BOOKMOBI', 60)) return 'application/x-mobipocket-ebook'
  if (head.startsWith(' EMF', 40) && head.startsWith('\x01\0\0\0')) return 'image/emf'
  if (/^P[4-7]\s(?:#[^\n]{0,200}\n)?\d{1,6}\s{1,4}\d{1,6}\s/.test(head)) return 'image/x-portable-anymap'
  for (const [signature, type] of SIGNATURES) {
    if (head.startsWith(signature) && (!isWeakSignature(signature) || looksBinary(bytes))) return type
  }
  return undefined
}

/** Letters are a weak signature: `BM`, `OTTO` and `ORC` also begin texts. */
function isWeakSignature(signature: string): boolean {
  return signature.length <= 2 || /^[A-Za-z0-9 ]{3,7}$/.test(signature)
}

function looksBinary(bytes: Buffer): boolean {
  return bytes.subarray(0, 512).some((byte) => byte === 0 || (byte < 9 && byte > 0))
}

function sniffZip(bytes: Buffer, head: string): string {
  const declared = bytes.readUInt32LE(22)
  if (head.startsWith('mimetype', 30) && declared < 100) {
    const mimetype = /^application\/[\w.+-]+$/.exec(head.slice(38, 38 + declared))?.[0]
    if (mimetype !== undefined) return mimetype
  }
  const parts = listEntryNames(bytes, MAX_EXAMINED_PARTS)
  // Only a truncated file has no directory: search for the names of its parts instead.
  const has = (name: string): boolean => (parts.size > 0 ? parts.has(name) : bytes.includes(name, 0, 'latin1'))
  // relationships decide, but are not unpacked where only one program has a main part
  const usual = PACKAGE_TYPES.filter(({ mainParts }) => mainParts.some(has))
  const related = usual.length !== 1 && parts.has('_rels/.rels') ? detectPackageType(bytes) : undefined
  const packageType = related ?? usual[0]?.mediaType
  if (packageType !== undefined) return packageType
  if (has('META-INF/container.xml')) return 'application/epub+zip'
  if (has('META-INF/manifest.xml') && has('content.xml')) return `${OPEN_DOCUMENT}text`
  if (has('AndroidManifest.xml')) return 'application/vnd.android.package-archive'
  if (has('META-INF/MANIFEST.MF')) return 'application/java-archive'
  if (has('Index/Document.iwa') || has('Index.zip')) return 'application/vnd.apple.iwork'
  return 'application/zip'
}

/**
 * The type of an Office Open XML package: by the folder of its main part, else by its content type. Undefined for other
 * packages and for damaged ones, which the parser reports.
 */
function detectPackageType(bytes: Buffer): string | undefined {
  try {
    const zip = openZip(bytes, 'archive', DEFAULT_LIMITS)
    const readList = (name: string): string => {
      if ((zip.entries.get(name)?.size ?? MAX_LIST_BYTES) >= MAX_LIST_BYTES) return ''
      const part = zip.read(name)
      return decodeText(part).text
    }
    const main = findMainPart(readList('_rels/.rels'))
    if (main === undefined) return undefined
    const byFolder = PACKAGE_TYPES.find(({ folder }) => main.toLowerCase().startsWith(folder))
    if (byFolder !== undefined) return byFolder.mediaType
    const declared = findContentType(readList('[Content_Types].xml'), main)
    return PACKAGE_TYPES.find(({ contentType }) => contentType.test(declared))?.mediaType
  } catch (error) {
    if (error instanceof ReadError) return undefined
    throw error
  }
}

function sniffCompound(bytes: Buffer): string {
  const names = readTopNames(bytes)
  for (const [name, type] of COMPOUND_NAMES) if (names.has(name)) return type
  for (const name of names) {
    if (name.startsWith('__substg1.0_')) return 'application/vnd.ms-outlook'
    // The tables of an installer have names in a separate alphabet.
    if (/^[\u3800-\u4840]/.test(name)) return 'application/x-msi'
  }
  for (const [name, type] of COMPOUND_NAMES) {
    if (COMPOUND_ANYWHERE.includes(name) && bytes.includes(name, 0, 'utf16le')) return type
  }
  return 'application/x-ole-storage'
}

function sniffRiff(head: string): string {
  const kind = head.slice(8, 12)
  if (kind === 'WEBP') return 'image/webp'
  return kind === 'WAVE' ? 'audio/wav' : 'video/x-msvideo'
}

function sniffBrand(brand: string): string {
  if (/^(?:heic|heix|mif1|avif)$/.test(brand)) return brand === 'avif' ? 'image/avif' : 'image/heic'
  return brand.startsWith('M4A') ? 'audio/mp4' : 'video/mp4'
}
