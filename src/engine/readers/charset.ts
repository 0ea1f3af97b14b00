import { isUtf8 } from 'node:buffer'
import { createRequire } from 'node:module'
import iconv from 'iconv-lite'
import type * as jschardet from 'jschardet'

const require = createRequire(import.meta.url)

/** Bytes that are examined to detect the encoding. */
const SAMPLE_BYTES = 64 * 1024
/** Minimum fraction of zeros among the high (or low) bytes of UTF-16 text without a byte order mark. */
const MIN_UTF16_ZERO_FRACTION = 0.05
/** Minimum fraction of valid characters among all non-ASCII ones for UTF-8 with some damage. */
const MIN_UTF8_FRACTION = 0.9
/** A declared charset that leaves more undecodable characters than this fraction is wrong. */
const MAX_UNDECODABLE_FRACTION = 0.05
/** Shorter texts, and texts with one character outside of ASCII, have too few letters for statistics. */
const MIN_STATISTICS_BYTES = 20
const MAX_SHORT_CHARACTERS = 3
const WESTERN = 'windows-1252'

/** Encodings of texts in the wild: those of systems that are in use, and of their predecessors. */
const DETECTED_ENCODINGS = [
  ...Array.from({ length: 9 }, (_, index) => `windows-125${index}`),
  ...[2, 5, 6, 7, 8, 9].map((part) => `iso-8859-${part}`),
  ...'windows-874 koi8-r koi8-u cp437 cp850 cp852 cp866 mac-roman mac-cyrillic mac-latin2'.split(' '),
  ...'shift_jis cp932 euc-jp iso-2022-jp gb18030 big5 euc-kr cp949 utf-8 utf-16 utf-16-le utf-16-be'.split(' '),
]
/** Encodings of DOS and of the Mac before 2001. */
const OLD_SYSTEM = /^(?:cp(?:437|850|852|866)|mac)/
/** Names that the decoders do not know, and encodings whose other codes only their Windows version has. */
const ENCODING_NAMES = new Map([
  ['iso-8859-1', WESTERN],
  ['iso-8859-9', 'windows-1254'],
  ['utf-16-le', 'utf-16le'],
  ['utf-16-be', 'utf-16be'],
  ['mac-roman', 'macroman'],
  ['mac-cyrillic', 'maccyrillic'],
  ['mac-latin2', 'maccenteuro'],
])
/** Declarations that state no more than that a text has bytes. */
const EMPTY_DECLARATION = /^(?:us-ascii|ascii|ansi_x3\.4-1968|unknown(?:-8bit)?|x-unknown|default|binary|none|8bit)$/
/** Encodings of several bytes for each character that consist of ASCII codes, as mails use them. */
const SEVEN_BIT = /^(?:iso-2022-|utf-7|hz-gb)/
const JAPANESE_ESCAPE = Buffer.from('\x1b$')

/** Charsets in the first lines of a text: of HTML, XML, CSS, LaTeX, message catalogues, and for editors. */
const DECLARATIONS = [
  /^\s*<\?xml[^>]{0,200}\sencoding\s*=\s*["']([\w.:-]{2,40})["']/i,
  /<meta[^>]{0,300}charset\s*=\s*["']?\s*([\w.:-]{2,40})/i,
  /^@charset\s+"([\w.:-]{2,40})"/i,
  /\\usepackage\s*\[([\w-]{2,40})\]\s*\{inputenc\}/,
  /^"?Content-Type:[^\n]{0,100}charset=([\w.:-]{2,40})/im,
  /^(?:[^\n]{0,300}\n)?[^\n]{0,300}(?:coding[:=][ \t]{0,4}|fileencoding=)([\w.:-]{2,40})/,
]
/** Encodings by the names of LaTeX. */
const LATEX_NAMES = new Map([
  ['latin1', WESTERN],
  ['latin5', 'windows-1254'],
  ['latin9', 'iso-8859-15'],
  ['ansinew', WESTERN],
  ['applemac', 'macroman'],
])

export interface DecodedText {
  text: string
  encoding: string
}

/**
 * Decodes bytes. The encoding is the first that applies: byte order mark, UTF-16 without a mark, UTF-8, the declared
 * charset, damaged UTF-8, statistics. Never throws; what cannot be decoded becomes U+FFFD.
 *
 * @param declared a charset that a header names; absent: the one that the text itself declares
 */
export function decodeText(bytes: Buffer, declared?: string): DecodedText {
  const encoding = detectEncoding(bytes, declared)
  return { text: decodeBytes(bytes, encoding), encoding }
}

/** Decodes bytes in a known encoding; an unknown encoding is detected. */
export function decodeBytes(bytes: Buffer, encoding: string): string {
  if (encoding === 'utf-8') {
    const start = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0
    return bytes.toString('utf8', start)
  }
  if (iconv.encodingExists(encoding)) return iconv.decode(bytes, encoding)
  try {
    return new TextDecoder(encoding).decode(bytes)
  } catch {
    return decodeText(bytes).text
  }
}

function detectEncoding(bytes: Buffer, declared: string | undefined): string {
  const mark = findByteOrderMark(bytes) ?? detectUtf16(bytes)
  if (mark !== undefined) return mark
  const isValidUtf8 = isUtf8(bytes)
  const charset = normalizeCharset(declared)
  if (charset !== undefined && SEVEN_BIT.test(charset)) return charset
  if (isValidUtf8) return bytes.includes(JAPANESE_ESCAPE) ? 'iso-2022-jp' : 'utf-8'
  for (const candidate of [charset, normalizeCharset(findDeclaredCharset(bytes))])
    if (candidate !== undefined && isDecodable(bytes, candidate)) return candidate
  if (isMostlyUtf8(bytes)) return 'utf-8'
  return guessEncoding(bytes)
}

/** The encoding that a declaration means; undefined if it means none, or UTF, which the bytes show. */
function normalizeCharset(declared: string | undefined): string | undefined {
  const name =
    declared
      ?.trim()
      .toLowerCase()
      .replace(/^["']|["']$/g, '') ?? ''
  if (name === '' || EMPTY_DECLARATION.test(name) || /^utf-?(?:8|16|32)/.test(name)) return undefined
  const charset = ENCODING_NAMES.get(name) ?? LATEX_NAMES.get(name) ?? name
  return isKnownCharset(charset) ? charset : undefined
}

/** Whether there is a decoder for a charset. */
export function isKnownCharset(charset: string): boolean {
  if (iconv.encodingExists(charset)) return true
  try {
    return new TextDecoder(charset).encoding !== ''
  } catch {
    return false
  }
}

/** Whether bytes are text in an encoding: a wrong one leaves characters that do not exist. */
function isDecodable(bytes: Buffer, encoding: string): boolean {
  const text = decodeBytes(bytes.subarray(0, SAMPLE_BYTES), encoding)
  const characters = text.match(/[^\0-\x7f]/g) ?? []
  const unknown = text.match(/\ufffd/g)?.length ?? 0
  return unknown <= characters.length * MAX_UNDECODABLE_FRACTION || unknown === 1
}

function findByteOrderMark(bytes: Buffer): string | undefined {
  const [a, b, c, d] = bytes
  if (a === 0xef && b === 0xbb && c === 0xbf) return 'utf-8'
  if (a === 0xff && b === 0xfe) return c === 0 && d === 0 ? 'utf-32le' : 'utf-16le'
  if (a === 0xfe && b === 0xff) return 'utf-16be'
  return a === 0 && b === 0 && c === 0xfe && d === 0xff ? 'utf-32be' : undefined
}

/**
 * Detects UTF-16 of texts with spaces: one half of the byte pairs has at most two common values, one of them zero, and
 * the other half almost no zeros.
 */
function detectUtf16(bytes: Buffer): 'utf-16le' | 'utf-16be' | undefined {
  const length = Math.min(bytes.length, SAMPLE_BYTES) & ~1
  if (length < 4 || !bytes.subarray(0, length).includes(0)) return undefined
  const counts = [new Uint32Array(256), new Uint32Array(256)] as const
  for (let i = 0; i < length; i++) {
    const values = counts[i & 1 ? 1 : 0]
    values[bytes[i] ?? 0] = (values[bytes[i] ?? 0] ?? 0) + 1
  }
  const [even, odd] = counts
  const pairs = length / 2
  const isHighHalf = (high: Uint32Array, low: Uint32Array): boolean => {
    const [first = 0, second = 0] = [...high.slice(1)].sort((one, other) => other - one)
    const zeros = high[0] ?? 0
    const isOneScript = (zeros + first + second) / pairs > 0.95 && zeros / pairs > MIN_UTF16_ZERO_FRACTION
    return isOneScript && (low[0] ?? 0) / pairs < 0.02
  }
  if (isHighHalf(odd, even)) return 'utf-16le'
  return isHighHalf(even, odd) ? 'utf-16be' : undefined
}

/** Tolerates a character cut at the end of the sample and a few bytes of another encoding. */
function isMostlyUtf8(bytes: Buffer): boolean {
  const text = bytes
    .subarray(0, SAMPLE_BYTES)
    .toString('utf8')
    .replace(/\uFFFD{1,3}$/, '')
  let damaged = 0
  let multibyte = 0
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === 0xfffd) damaged++
    else if (code >= 0x80) multibyte++
  }
  return multibyte / (multibyte + damaged) >= MIN_UTF8_FRACTION
}

/** The encoding in which the bytes are most likely words of a language; of very few letters, the Western one. */
function guessEncoding(bytes: Buffer): string {
  const sample = bytes.subarray(0, SAMPLE_BYTES)
  const isWestern = looksWestern(sample)
  const maxCharacters = sample.length < MIN_STATISTICS_BYTES ? MAX_SHORT_CHARACTERS : 1
  if (isWestern && countHighBytes(sample) <= maxCharacters) return WESTERN
  // Statistics of a hundred languages take a tenth of a second to load, and few files need them.
  const { chardet }: typeof jschardet = require('jschardet')
  const detected = chardet.detect(sample, { includeEncodings: DETECTED_ENCODINGS }).encoding?.toLowerCase()
  const encoding = detected === undefined ? WESTERN : (ENCODING_NAMES.get(detected) ?? detected)
  // English texts have too few accents and signs for the statistics to tell Windows from older systems.
  return !isKnownCharset(encoding) || (isWestern && OLD_SYSTEM.test(encoding)) ? WESTERN : encoding
}

function countHighBytes(sample: Buffer): number {
  let count = 0
  for (const byte of sample) if (byte > 0x7f) count++
  return count
}

/** Whether the text has letters and signs of Windows-1252 where Western texts have them. */
function looksWestern(sample: Buffer): boolean {
  const text = iconv.decode(sample, WESTERN)
  return !/[\x80-\x9f\ufffd]|\p{L}[\u2018\u201c-\u203a¡-¿×÷ˆ˜]\p{L}|\p{Ll}[ŠŒŽŸÀ-ÖØ-Þ]/u.test(text)
}

/** The charset declared in the first bytes of a document. */
function findDeclaredCharset(bytes: Buffer): string | undefined {
  const head = bytes.toString('latin1', 0, 2048)
  for (const pattern of DECLARATIONS) {
    const charset = pattern.exec(head)?.[1]
    if (charset !== undefined) return charset
  }
  return undefined
}

/** The charset in a header `Content-Type`. */
export function findHeaderCharset(contentType: string | undefined): string | undefined {
  return /;\s*charset\s*=\s*["']?\s*([\w.:+-]{2,40})/i.exec(contentType ?? '')?.[1]?.toLowerCase()
}
