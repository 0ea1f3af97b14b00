import { latexText } from './latex-text.js'

/** The head of a document, and the offset where its body begins. */
export interface LatexHead {
  body: number
  title?: string
  authors: string[]
  date?: string
  /** commands that the document defines as short texts */
  macros: Map<string, string>
}

const MAX_MACROS = 500
const MAX_WORDS = 100
/** Title and authors are searched up to this distance after the body begins. */
const HEAD = 20_000

/** Removes comments (`%`); lines that are only a comment are removed entirely. */
export function withoutComments(source: string): string {
  return source.replace(/^[ \t]*%[^\n]*\n/gm, '').replace(/(^|[^\\])%[^\n]*/g, '$1')
}

/** Offset of the closing brace for the offset of each opening one; 0 where it is not closed. */
export function bracesOf(source: string): Int32Array {
  const closed = new Int32Array(source.length)
  const open: number[] = []
  for (let at = 0; at < source.length; at++) {
    const code = source.charCodeAt(at)
    if (code === 92) at++
    else if (code === 123) open.push(at)
    else if (code === 125) {
      const start = open.pop()
      if (start !== undefined) closed[start] = at
    }
  }
  return closed
}

/** Offset of the end of an environment, or -1. */
export function environmentEnd(source: string, name: string, at: number): number {
  return source.indexOf(`\\end{${name}}`, at)
}

export function readHead(source: string): LatexHead {
  const found = source.indexOf('\\begin{document}')
  const body = found === -1 ? 0 : found + '\\begin{document}'.length
  const macros = macrosOf(source.slice(0, Math.max(body, HEAD)))
  const head = source.slice(0, body + HEAD)
  const braces = bracesOf(head)
  const read = (command: string): string => {
    const match = new RegExp(`\\\\${command}(?:\\[[^\\]]{0,200}\\])?\\s?\\{`).exec(head)
    const start = match === null ? 0 : match.index + match[0].length - 1
    return match === null ? '' : head.slice(start + 1, braces[start] ?? start)
  }
  const title = latexText(withoutNotes(read('title')), macros)
  const date = latexText(read('date'), macros)
  const authors = withoutNotes(read('author'))
    .split(/\\and\b|\\And\b|\\AND\b|\\\\|,(?=\s)/)
    .map((name) =>
      latexText(
        name.replace(/\$[^$]{0,40}\$|\\(?:inst|textsuperscript|affil|orcid\w*|email)\{[^{}]{0,100}\}/g, ''),
        macros,
      ),
    )
    .filter((name) => /^\p{Lu}[\p{L}.'’-]*(?: [\p{L}.'’-]+){1,5}$/u.test(name))
  return {
    body,
    ...(title === '' ? {} : { title }),
    authors: [...new Set(authors)].slice(0, 100),
    ...(date === '' || date.length > MAX_WORDS ? {} : { date }),
    macros,
  }
}

function withoutNotes(source: string): string {
  return source.replace(/\\(?:thanks|footnote)\{[^{}]{0,500}\}/g, '')
}

/** Parses `\newcommand{\name}{words}` without arguments. */
function macrosOf(source: string): Map<string, string> {
  const macros = new Map<string, string>()
  const pattern = /\\(?:re)?(?:newcommand|providecommand|def)\*?\s?\{?\\([A-Za-z]{1,40})\}?\s?\{([^{}\n]{1,100})\}/g
  for (const [, name = '', words = ''] of source.matchAll(pattern)) {
    if (macros.size >= MAX_MACROS) break
    const text = latexText(words.replace(/\\xspace\b/g, ''))
    // Formulas keep their commands.
    if (text !== '' && !/[$#]/.test(words) && !words.includes('\\ensuremath')) macros.set(name, text)
  }
  return macros
}
