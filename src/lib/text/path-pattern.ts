/** One element of a pattern: a character or a folder, or any number of them. */
interface PatternElement {
  isStar: boolean
  matches: (text: string) => boolean
}

const STAR: PatternElement = { isStar: true, matches: () => true }

/**
 * Matches paths with a pattern: `*` and `?` within a folder, `[a-z]` and `[!a-z]` for one character, `**` for any
 * folders. A pattern also matches the last parts of a path, unless it starts with `/`, and a path that is written like
 * the pattern. The time is at most the product of the lengths, so a hostile pattern is no problem.
 */
export function createPathMatcher(pattern: string): (path: string) => boolean {
  const normalized = normalizePath(pattern)
  const parts = normalized.split('/').filter((part) => part !== '')
  const elements = [
    ...(normalized.startsWith('/') ? [] : [STAR]),
    ...parts.map((part) => (part === '**' ? STAR : parsePart(part))),
  ]
  return (path) => {
    const normalizedPath = path.normalize('NFC')
    return `/${normalizedPath}`.endsWith(`/${normalized}`) || matchesAll(elements, normalizedPath.split('/'))
  }
}

/** Whether a text is a pattern and no plain path. */
export function isPathPattern(text: string): boolean {
  return /[*?]|\[.+\]/su.test(text)
}

function normalizePath(path: string): string {
  return path
    .normalize('NFC')
    .replaceAll('\\', '/')
    .replace(/^(?:\.\/+)+/u, '')
}

/** Parses the pattern of one folder or file name. */
function parsePart(part: string): PatternElement {
  const elements = [...part.matchAll(/\*+|\?|\[([!^]?)(\]?[^\]]*)\]|./gsu)].map(
    ([text, negation, members]): PatternElement => {
      if (text.startsWith('*')) return STAR
      if (text === '?') return { isStar: false, matches: () => true }
      if (members === undefined) return { isStar: false, matches: (character) => character === text }
      const isMember = parseMembers(members)
      return { isStar: false, matches: negation === '' ? isMember : (character) => !isMember(character) }
    },
  )
  return { isStar: false, matches: (name) => matchesAll(elements, [...name]) }
}

/** Parses the characters and ranges between brackets. */
function parseMembers(members: string): (character: string) => boolean {
  const ranges = [...members.matchAll(/(.)-(.)|(.)/gsu)].map(([, first, last, single]) => ({
    first: first ?? single ?? '',
    last: last ?? single ?? '',
  }))
  return (character) => ranges.some(({ first, last }) => character >= first && character <= last)
}

/** Matches all texts. After a mismatch only the last star is extended: an earlier one cannot make more match. */
function matchesAll(elements: readonly PatternElement[], texts: readonly string[]): boolean {
  let [index, position] = [0, 0]
  let star: { index: number; position: number } | undefined
  while (position < texts.length) {
    const element = elements[index]
    if (element?.isStar === true) star = { index: index++, position }
    else if (element?.matches(texts[position] ?? '') === true) {
      index++
      position++
    } else if (star === undefined) return false
    else {
      index = star.index + 1
      position = ++star.position
    }
  }
  return elements.slice(index).every(({ isStar }) => isStar)
}
