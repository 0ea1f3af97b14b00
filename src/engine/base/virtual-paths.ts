import { KsError } from '../../contract/errors.js'
import { LIMITS } from '../../contract/limits.js'

const NAMESPACES = ['sources', 'knowledge', 'evidence', 'workspaces'] as const
export type NamespaceName = (typeof NAMESPACES)[number]

export interface VirtualPath {
  namespace: NamespaceName
  /** the path after the namespace */
  segments: string[]
  path: string
}

const CONTROL = /[\u0000-\u001f\u007f-\u009f]/
const CONTROLS = /[\u0000-\u001f\u007f-\u009f]+/g
/** a document folder, eight sections and a node of this length stay within the 1,024 bytes of a path */
const SECTION_NAME_BYTES = 80

/**
 * Reads a virtual path: a namespace, then segments.
 *
 * @throws KsError `invalid-request` that names the rule the path breaks
 */
export function parseVirtualPath(text: string): VirtualPath {
  const bytes = Buffer.byteLength(text)
  if (bytes > LIMITS.virtualPathBytes)
    throw new KsError('invalid-request', `path must hold at most ${LIMITS.virtualPathBytes} bytes, received ${bytes}`)
  if (!text.isWellFormed() || text !== text.normalize('NFC')) rejectPath(text, 'must be unicode text in form NFC')
  if (CONTROL.test(text)) rejectPath(text, 'must not hold a control character')
  const [root, first, ...segments] = text.split('/')
  const namespace = NAMESPACES.find((name) => name === first)
  if (root !== '' || namespace === undefined)
    rejectPath(text, `must start with one of ${NAMESPACES.map((name) => `/${name}`).join(', ')}`)
  if (segments.includes('')) rejectPath(text, 'must not hold an empty segment')
  if (segments.includes('.') || segments.includes('..')) rejectPath(text, 'must not hold a segment "." or ".."')
  return { namespace, segments, path: joinVirtualPath(namespace, segments) }
}

export function joinVirtualPath(namespace: NamespaceName, segments: readonly string[]): string {
  return ['', namespace, ...segments].join('/')
}

function rejectPath(text: string, rule: string): never {
  throw new KsError('invalid-request', `path ${rule}, received ${JSON.stringify(text.slice(0, 100))}`)
}

/** The folder name of a section title: one segment, without control characters, at most 80 bytes. */
export function toSectionName(title: string): string {
  const name = title
    .toWellFormed()
    .replace(CONTROLS, ' ')
    .replaceAll('/', '-')
    .replace(/\s+/g, ' ')
    .trim()
    .normalize('NFC')
  if (name === '') return 'untitled'
  if (name === '.' || name === '..') return name.replaceAll('.', '_')
  return Buffer.byteLength(name) <= SECTION_NAME_BYTES ? name : `${truncateToBytes(name, SECTION_NAME_BYTES - 3)}…`
}

/** The longest prefix of a text that fits into `maxBytes` of UTF-8, without splitting a character. */
function truncateToBytes(text: string, maxBytes: number): string {
  let byteCount = 0
  let end = 0
  for (const character of text) {
    byteCount += Buffer.byteLength(character)
    if (byteCount > maxBytes) break
    end += character.length
  }
  return text.slice(0, end).trimEnd()
}

/** Order of names: by code point, which is the order of their UTF-8 bytes and of the database. */
export function compareNames(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b))
}
