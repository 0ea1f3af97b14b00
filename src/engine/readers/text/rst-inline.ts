/** Targets of the inline markup of a document. */
export interface RstReferences {
  /** texts of substitutions by name in lower case */
  substitutions: ReadonlyMap<string, string>
  /** The displayed label of a footnote reference such as `#name`, `#` or `*`. */
  resolveLabel(reference: string): string
  /** remaining characters of substituted text: a short reference may name a long text */
  budget: { remaining: number }
}

/** Longer markup is text: its end mark belongs to something else. */
const MAX_MARKUP_LENGTH = 2000

/** Characters that may precede and follow inline markup (reStructuredText, "Inline markup recognition rules"). */
const BEFORE = /[\s'"([{<\-/:\p{Ps}\p{Pi}\p{Pf}\p{Pd}\p{Po}]/u
const AFTER = /[\s'")\]}>\-/:.,;!?\\\p{Pe}\p{Pi}\p{Pf}\p{Pd}\p{Po}]/u
const CLOSING_OF: Readonly<Record<string, string>> = { '"': '"', "'": "'", '(': ')', '[': ']', '{': '}', '<': '>' }

/** Starts of markup in the order in which they are tried, with their ends. */
const MARKS: readonly (readonly [start: RegExp, end: string, ending: RegExp])[] = [
  [/``/y, '``', /``/y],
  [/\*\*/y, '**', /\*\*/y],
  [/\*/y, '*', /\*/y],
  [/_`/y, '`', /`/y],
  [/(?::[\w:+.-]{1,60}:)?`/y, '`', /`(?:__?|:[\w:+.-]{1,60}:)?/y],
  [/\|/y, '|', /\|_{0,2}/y],
]
const FOOTNOTE_REFERENCE = /\[(#[\w.:+-]{0,60}|\*|\d{1,9}|[\p{L}\p{N}][\w.:+-]{0,60})\]_/uy
const NAMED_REFERENCE = /__?(?![\p{L}\p{N}_])/uy
const SPECIAL = /[\\`*|[_:]/g

/** Converts text with inline markup to plain text. */
export function rstToText(source: string, references: RstReferences): string {
  const ends: MarkupEnds = new Map()
  const parts: string[] = []
  let copied = 0
  SPECIAL.lastIndex = 0
  for (let found = SPECIAL.exec(source); found !== null; found = SPECIAL.exec(source)) {
    const offset = found.index
    const next = readMarkup(source, offset, { references, ends })
    SPECIAL.lastIndex = next === undefined ? offset + 1 : next.end
    if (next === undefined) continue
    parts.push(source.slice(copied, offset), next.text)
    copied = next.end
  }
  parts.push(source.slice(copied))
  return parts.join('').trim()
}

interface MarkupText {
  text: string
  end: number
}

function readMarkup(
  source: string,
  offset: number,
  { references, ends }: { references: RstReferences; ends: MarkupEnds },
): MarkupText | undefined {
  const char = source.charAt(offset)
  if (char === '\\') {
    const escaped = source.charAt(offset + 1)
    return { text: /\s/.test(escaped) ? '' : escaped, end: offset + 1 + escaped.length }
  }
  const before = source.charAt(offset - 1)
  if (char === '_' && /[\p{L}\p{N}]/u.test(before)) {
    const end = matchAt(NAMED_REFERENCE, source, offset)
    return end === undefined ? undefined : { text: '', end: offset + end[0].length }
  }
  if (before !== '' && !BEFORE.test(before)) return undefined
  if (char === '[') {
    const [reference = '', label = ''] = matchAt(FOOTNOTE_REFERENCE, source, offset) ?? []
    if (reference === '' || !isFollowed(source, offset + reference.length)) return undefined
    return { text: `[${references.resolveLabel(label)}]`, end: offset + reference.length }
  }
  for (const [start, end, ending] of MARKS) {
    const opening = matchAt(start, source, offset)
    if (opening === undefined) continue
    const inner = offset + opening[0].length
    const first = source.charAt(inner)
    if (first === '' || /\s/.test(first) || CLOSING_OF[before] === first) continue
    const range = findEnd(source, inner, { mark: end, pattern: ending, ends })
    if (range !== undefined && range.start - inner < MAX_MARKUP_LENGTH)
      return { text: toContent(source.slice(inner, range.start), opening[0], range.mark, references), end: range.end }
  }
  return undefined
}

function matchAt(pattern: RegExp, source: string, offset: number): RegExpExecArray | undefined {
  pattern.lastIndex = offset
  return pattern.exec(source) ?? undefined
}

function isFollowed(source: string, offset: number): boolean {
  return offset >= source.length || AFTER.test(source.charAt(offset))
}

interface MarkupEnd {
  start: number
  end: number
  mark: string
}

/** The last search for each end mark, so that a text is searched once. */
type MarkupEnds = Map<string, { offset: number; found: MarkupEnd | undefined }>

function findEnd(
  source: string,
  offset: number,
  { mark, pattern, ends }: { mark: string; pattern: RegExp; ends: MarkupEnds },
): MarkupEnd | undefined {
  const last = ends.get(mark)
  if (last !== undefined && offset >= last.offset && (last.found === undefined || offset < last.found.start))
    return last.found
  const found = searchEnd(source, offset, { mark, pattern })
  ends.set(mark, { offset, found })
  return found
}

/** The first end mark that no white space precedes and no letter follows. */
function searchEnd(
  source: string,
  offset: number,
  { mark, pattern }: { mark: string; pattern: RegExp },
): MarkupEnd | undefined {
  for (let start = source.indexOf(mark, offset + 1); start !== -1; start = source.indexOf(mark, start + 1)) {
    const before = source.charAt(start - 1)
    const isEscaped = before === '\\' && mark !== '``'
    if (isEscaped || /\s/.test(before)) continue
    const full = matchAt(pattern, source, start)?.[0] ?? mark
    for (const length of full.length === mark.length ? [mark.length] : [full.length, mark.length])
      if (isFollowed(source, start + length))
        return { start, end: start + length, mark: source.slice(start, start + length) }
  }
  return undefined
}

function toContent(content: string, opening: string, ending: string, references: RstReferences): string {
  if (opening === '``' || /^:(?:math|code|raw|literal):/.test(opening) || /:(?:math|code|raw|literal):$/.test(ending))
    return content
  const text = content.replace(/\\([\s\S])/g, (_all, escaped: string) => (/\s/.test(escaped) ? '' : escaped))
  if (opening === '|') {
    const replacement = references.substitutions.get(content.replace(/\s+/g, ' ').toLowerCase())
    if (replacement === undefined || replacement.length > references.budget.remaining) return text
    references.budget.remaining -= replacement.length
    return replacement
  }
  if (opening.startsWith('*')) return text
  // `title <target>` of links and roles is displayed as its title.
  const [, title, target] = /^([\s\S]*?)\s*<([^<>]{1,1000})>$/.exec(text) ?? []
  if (target !== undefined && (ending.endsWith('_') || opening.startsWith(':') || ending.length > 1))
    return title === undefined || title === '' ? target.replace(/_$/, '') : title
  // Sphinx displays `~module.name` as `name`.
  return opening.startsWith(':') ? text.replace(/^(?:~(?:[^.]{0,200}\.){0,20}|!)/, '') : text
}
