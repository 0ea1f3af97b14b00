import { findFileLanguage, toLanguageMediaType } from './languages.js'
import { sniffBinary } from './magic.js'
import { isMail, isMbox } from './mail/detect-mail.js'
import { detectXmlType } from './markup/xml-roots.js'
import { looksLikeLog } from './text/log.js'
import { detectTextFormat, TEXT_FORMAT_ENDINGS } from './text-formats.js'

const TEXT_ENDINGS = new Map(
  Object.entries({
    md: 'text/markdown',
    markdown: 'text/markdown',
    mdown: 'text/markdown',
    mkd: 'text/markdown',
    mdx: 'text/markdown',
    qmd: 'text/markdown',
    rmd: 'text/markdown',
    txt: 'text/plain',
    text: 'text/plain',
    log: 'text/plain',
    htm: 'text/html',
    html: 'text/html',
    xhtml: 'text/html',
    csv: 'text/csv',
    tsv: 'text/tab-separated-values',
    tab: 'text/tab-separated-values',
    json: 'application/json',
    geojson: 'application/json',
    jsonl: 'application/x-ndjson',
    ndjson: 'application/x-ndjson',
    yaml: 'application/yaml',
    yml: 'application/yaml',
    xml: 'application/xml',
    xsd: 'application/xml',
    xsl: 'application/xml',
    xslt: 'application/xml',
    rss: 'application/rss+xml',
    atom: 'application/atom+xml',
    svg: 'image/svg+xml',
    rst: 'text/x-rst',
    rest: 'text/x-rst',
    org: 'text/x-org',
    eml: 'message/rfc822',
    ...TEXT_FORMAT_ENDINGS,
  }),
)

/** Declared types that are believed where neither content nor name decides. */
const DECLARED_TEXT = new Set([...TEXT_ENDINGS.values(), 'text/css', 'text/javascript'])

/** Maximum fraction of control characters in text. */
const MAX_CONTROL_FRACTION = 0.02
const SAMPLE_LENGTH = 8192

/**
 * The media type of a file that is not text: by its first bytes, for archives by their entries. `undefined` for what
 * may be text.
 */
export function sniffBytes(bytes: Buffer): string | undefined {
  return sniffBinary(bytes) ?? (isMbox(bytes) ? 'application/mbox' : undefined)
}

/** Whether decoded content looks like text rather than like bytes that happened to decode. */
export function looksLikeText(text: string): boolean {
  const sample = text.slice(0, SAMPLE_LENGTH)
  let control = 0
  for (let i = 0; i < sample.length; i++) {
    const code = sample.charCodeAt(i)
    if (code < 32 && code !== 9 && code !== 10 && code !== 13 && code !== 12 && code !== 27) control++
    else if (code === 0xfffd) control += 0.25
  }
  return control <= sample.length * MAX_CONTROL_FRACTION
}

/**
 * The media type of a text: its content first, then the file's ending, then what the client declared.
 *
 * Content only overrules the ending where it cannot be mistaken: an HTML page, an XML declaration, JSON.
 */
export function sniffText(text: string, filename: string, declaredType: string | undefined): string {
  const ending = getFileEnding(filename)
  const typeByName = TEXT_ENDINGS.get(ending) ?? detectCodeType(filename)
  const head = text.slice(0, 1024).trimStart()
  const contentType = detectByContent(head, text)
  if (contentType !== undefined && !(contentType === 'application/xml' && typeByName?.includes('xml') === true)) {
    const isSourceCode = typeByName !== undefined && /^text\/(?:x-|css|javascript)/.test(typeByName)
    if (!isSourceCode) return contentType
  }
  if (ending === 'txt' && /^mime-version:/im.test(text.slice(0, SAMPLE_LENGTH)) && isMail(text)) return 'message/rfc822'
  if (ending === 'emlx') return 'message/rfc822'
  // Some programs export tab-separated tables as workbooks.
  if (/^xl[st][xm]?$/.test(ending) && /^[^\n]{0,4000}\t/.test(head)) return 'text/tab-separated-values'
  if (typeByName === 'application/json') return isLineDelimited(text) ? 'application/x-ndjson' : typeByName
  if (typeByName !== undefined && typeByName !== 'text/plain') return typeByName
  if (typeByName === undefined && /^[1-9][a-z]{0,3}$/.test(ending) && /^\.(?:SH|Sh|TH|Dd)\b/m.test(text.slice(0, 8192)))
    return 'text/troff'
  if ((typeByName === undefined || ending === 'log') && mayBeLogName(ending, filename) && looksLikeLog(text))
    return 'text/x-log'
  if (looksLikeJson(text)) return 'application/json'
  if (head.startsWith('{') && isLineDelimited(text)) return 'application/x-ndjson'
  if (typeByName !== undefined) return typeByName
  // The files of a Maildir have names without an ending, or with one that means nothing.
  if (isMail(text)) return 'message/rfc822'
  if (/^#!.{0,60}\b(?:sh|bash|zsh)\b/.test(head)) return 'text/x-bash'
  if (/^#!.{0,60}\bpython/.test(head)) return 'text/x-python'
  const declared = declaredType?.split(';', 1)[0]?.trim().toLowerCase()
  if (declared !== undefined && DECLARED_TEXT.has(declared)) return declared
  return /<\/(?:p|div|table|body|h[1-6])>/i.test(text.slice(0, 4096)) && head.startsWith('<')
    ? 'text/html'
    : 'text/plain'
}

/** The ending of a file name in lower case without its dot, or an empty string. */
export function getFileEnding(filename: string): string {
  const name = filename.slice(filename.lastIndexOf('/') + 1)
  const dot = name.lastIndexOf('.')
  return dot > 0 ? name.slice(dot + 1).toLowerCase() : ''
}

function detectCodeType(filename: string): string | undefined {
  const language = findFileLanguage(filename)
  return language === undefined ? undefined : toLanguageMediaType(language)
}

/** Log files are named so, with the number or date of their rotation after it, or have no ending. */
function mayBeLogName(ending: string, filename: string): boolean {
  return ['', 'log', 'out', 'err'].includes(ending) || /\.log[.-][\w.-]{1,20}$/i.test(filename)
}

function detectByContent(head: string, text: string): string | undefined {
  const format = detectTextFormat(head)
  if (format !== undefined) return format
  if (/^(?:<!--[^>]{0,200}-->\s*)?(?:<!doctype\s+html|<html[\s>])/i.test(head)) return 'text/html'
  if (!head.startsWith('<')) return undefined
  if (head.startsWith('<?xml') && /<html[\s>]|<!doctype\s+html/i.test(head)) return 'text/html'
  const known = detectXmlType(text)
  if (/^<\?xml[^>]*\?>/.test(head)) return known ?? 'application/xml'
  // Without an XML declaration, a picture or a feed may be part of a page or a note.
  return known === 'image/svg+xml' ||
    known?.startsWith('application/rss') === true ||
    known?.startsWith('application/atom') === true
    ? undefined
    : known
}

function looksLikeJson(text: string): boolean {
  const first = text.trimStart().charAt(0)
  const last = text.trimEnd().at(-1)
  if (!((first === '{' && last === '}') || (first === '[' && last === ']'))) return false
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** Whether each of the first two non-empty lines is a JSON object. */
function isLineDelimited(text: string): boolean {
  const firstLines = text
    .split('\n', 3)
    .filter((line) => line.trim() !== '')
    .slice(0, 2)
  return firstLines.length === 2 && firstLines.every((line) => line.trim().startsWith('{') && looksLikeJson(line))
}
