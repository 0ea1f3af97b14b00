import { isUtf8 } from 'node:buffer'
import chardet from 'chardet'
import iconv from 'iconv-lite'

/** Bytes that are examined to detect the encoding. */
const SAMPLE_BYTES = 64 * 1024
/** Minimum fraction of zeros among the high (or low) bytes of UTF-16 text without a byte order mark. */
const MIN_UTF16_ZERO_FRACTION = 0.3
/** Minimum fraction of valid characters among all non-ASCII ones for UTF-8 with some damage. */
const MIN_UTF8_FRACTION = 0.9

export interface DecodedText {
  text: string
  encoding: string
}

/**
 * Decodes bytes. The encoding is the first that applies: byte order mark, UTF-16 without a mark, UTF-8, the declared
 * charset, damaged UTF-8, statistics, Windows-1252. Never throws; what cannot be decoded becomes U+FFFD.
 *
 * @param declared a charset named by the header of the response, otherwise by the document itself (`<meta charset>`,
 *   `encoding=`)
 */
export function decodeText(bytes: Buffer, declared?: string): DecodedText {
  const encoding = detectEncoding(bytes, declared)
  if (encoding === 'utf-8') {
    const start = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0
    return { text: bytes.toString('utf8', start), encoding }
  }
  const isKnown = iconv.encodingExists(encoding)
  return { text: isKnown ? iconv.decode(bytes, encoding) : new TextDecoder(encoding).decode(bytes), encoding }
}

/** The encoding that a name stands for on the web (WHATWG), or in iconv. */
function resolveCharset(name: string): string | undefined {
  try {
    return new TextDecoder(name).encoding
  } catch {
    return iconv.encodingExists(name) ? name : undefined
  }
}

function detectEncoding(bytes: Buffer, declared: string | undefined): string {
  const mark = findByteOrderMark(bytes)
  if (mark !== undefined) return mark
  const utf16 = detectUtf16(bytes)
  if (utf16 !== undefined) return utf16
  const charset = declared === undefined ? undefined : resolveCharset(declared.trim().toLowerCase())
  if (charset === 'iso-2022-jp') return charset // Its text is ASCII, too.
  if (isUtf8(bytes)) return 'utf-8'
  if (charset !== undefined && charset !== 'utf-8' && !charset.startsWith('utf-16')) return charset
  if (isMostlyUtf8(bytes)) return 'utf-8'
  return guessEncoding(bytes)
}

function findByteOrderMark(bytes: Buffer): string | undefined {
  const [a, b, c, d] = bytes
  if (a === 0xef && b === 0xbb && c === 0xbf) return 'utf-8'
  if (a === 0xff && b === 0xfe) return c === 0 && d === 0 ? 'utf-32le' : 'utf-16le'
  if (a === 0xfe && b === 0xff) return 'utf-16be'
  return a === 0 && b === 0 && c === 0xfe && d === 0xff ? 'utf-32be' : undefined
}

/** Detects Latin text in UTF-16: many zeros in one half of the byte pairs, almost none in the other. */
function detectUtf16(bytes: Buffer): 'utf-16le' | 'utf-16be' | undefined {
  const length = Math.min(bytes.length, SAMPLE_BYTES) & ~1
  if (length < 4 || !bytes.subarray(0, length).includes(0)) return undefined
  let evenZeros = 0
  let oddZeros = 0
  for (let i = 0; i < length; i += 2) {
    if (bytes[i] === 0) evenZeros++
    if (bytes[i + 1] === 0) oddZeros++
  }
  const pairs = length / 2
  if (oddZeros / pairs > MIN_UTF16_ZERO_FRACTION && evenZeros / pairs < 0.02) return 'utf-16le'
  return evenZeros / pairs > MIN_UTF16_ZERO_FRACTION && oddZeros / pairs < 0.02 ? 'utf-16be' : undefined
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

function guessEncoding(bytes: Buffer): string {
  const detected = chardet.detect(bytes.subarray(0, SAMPLE_BYTES))?.toLowerCase()
  // Detection cannot distinguish Western single-byte encodings reliably; Windows-1252 has all characters of Latin-1.
  const isWestern = detected === undefined || /^(?:iso-8859-(?:1|15|9)|ascii|utf-|windows-1252|iso-2022)/.test(detected)
  return isWestern || !iconv.encodingExists(detected) ? 'windows-1252' : detected
}

/** The charset declared in the first bytes of an HTML or XML document. */
export function findDeclaredCharset(bytes: Buffer): string | undefined {
  const head = bytes.toString('latin1', 0, 2048)
  const xml = /^\s*<\?xml[^>]{0,200}\sencoding\s*=\s*["']([\w.:-]{2,40})["']/i.exec(head)
  return xml?.[1] ?? /<meta[^>]{0,300}charset\s*=\s*["']?\s*([\w.:-]{2,40})/i.exec(head)?.[1]
}

/** The charset in a header `Content-Type`. */
export function findHeaderCharset(contentType: string | undefined): string | undefined {
  return /;\s*charset\s*=\s*["']?\s*([\w.:+-]{2,40})/i.exec(contentType ?? '')?.[1]?.toLowerCase()
}
