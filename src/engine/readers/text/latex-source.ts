import { latexToText } from './latex-text.js'

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
const MAX_DATE_LENGTH = 100
/** Title and authors are searched up to this distance after the body begins. */
const HEAD_LENGTH = 20_000

/** Removes comments (`%`); lines that are only a comment are removed entirely. */
export function removeLatexComments(source: string): string {
  return source.replace(/^[ \t]*%[^\n]*\n/gm, '').replace(/(^|[^\\])%[^\n]*/g, '$1')
}

/** Offset of the closing brace for the offset of each opening one; 0 where it is not closed. */
export function matchBraces(source: string): Int32Array {
  const closings = new Int32Array(source.length)
  const open: number[] = []
  for (let offset = 0; offset < source.length; offset++) {
    const code = source.charCodeAt(offset)
    if (code === 92) offset++
    else if (code === 123) open.push(offset)
    else if (code === 125) {
      const start = open.pop()
      if (start !== undefined) closings[start] = offset
    }
  }
  return closings
}

export function readLatexHead(source: string): LatexHead {
  const documentStart = source.indexOf('\\begin{document}')
  const body = documentStart === -1 ? 0 : documentStart + '\\begin{document}'.length
  const macros = parseMacros(source.slice(0, Math.max(body, HEAD_LENGTH)))
  const head = source.slice(0, body + HEAD_LENGTH)
  const braces = matchBraces(head)
  const readArgument = (command: string): string => {
    const match = new RegExp(`\\\\${command}(?:\\[[^\\]]{0,200}\\])?\\s?\\{`).exec(head)
    const start = match === null ? 0 : match.index + match[0].length - 1
    return match === null ? '' : head.slice(start + 1, braces[start] ?? start)
  }
  const title = latexToText(removeNotes(readArgument('title')), macros)
  const date = latexToText(readArgument('date'), macros)
  const authors = removeNotes(readArgument('author'))
    .split(/\\and\b|\\And\b|\\AND\b|\\\\|,(?=\s)/)
    .map((name) =>
      latexToText(
        name.replace(/\$[^$]{0,40}\$|\\(?:inst|textsuperscript|affil|orcid\w*|email)\{[^{}]{0,100}\}/g, ''),
        macros,
      ),
    )
    .filter((name) => /^\p{Lu}[\p{L}.'’-]*(?: [\p{L}.'’-]+){1,5}$/u.test(name))
  return {
    body,
    ...(title === '' ? {} : { title }),
    authors: [...new Set(authors)].slice(0, 100),
    ...(date === '' || date.length > MAX_DATE_LENGTH ? {} : { date }),
    macros,
  }
}

function removeNotes(source: string): string {
  return source.replace(/\\(?:thanks|footnote)\{[^{}]{0,500}\}/g, '')
}

/** Parses `\newcommand{\name}{words}` without arguments. */
function parseMacros(source: string): Map<string, string> {
  const macros = new Map<string, string>()
  const pattern = /\\(?:re)?(?:newcommand|providecommand|def)\*?\s?\{?\\([A-Za-z]{1,40})\}?\s?\{([^{}\n]{1,100})\}/g
  for (const [, name = '', words = ''] of source.matchAll(pattern)) {
    if (macros.size >= MAX_MACROS) break
    const text = latexToText(words.replace(/\\xspace\b/g, ''))
    // Formulas keep their commands.
    if (text !== '' && !/[$#]/.test(words) && !words.includes('\\ensuremath')) macros.set(name, text)
  }
  return macros
}
