/** Converts LaTeX within a paragraph to text: removes commands, keeps their words and formulas. */

const SYMBOLS: Record<string, string> = {
  ldots: '…',
  dots: '…',
  cdots: '…',
  textbackslash: '\\',
  textasciitilde: '~',
  textendash: '–',
  textemdash: '—',
  textquoteright: '’',
  textquoteleft: '‘',
  textquotedblleft: '“',
  textquotedblright: '”',
  textdegree: '°',
  textregistered: '®',
  texttrademark: '™',
  texteuro: '€',
  euro: '€',
  pounds: '£',
  copyright: '©',
  ss: 'ß',
  o: 'ø',
  O: 'Ø',
  ae: 'æ',
  AE: 'Æ',
  oe: 'œ',
  OE: 'Œ',
  aa: 'å',
  AA: 'Å',
  l: 'ł',
  L: 'Ł',
  i: 'ı',
  S: '§',
  P: '¶',
  LaTeX: 'LaTeX',
  TeX: 'TeX',
  BibTeX: 'BibTeX',
  quad: ' ',
  qquad: ' ',
  newline: ' ',
  space: ' ',
  par: ' ',
  hfill: ' ',
  and: ', ',
  textbar: '|',
  textless: '<',
  textgreater: '>',
  textunderscore: '_',
  textquotesingle: "'",
  textasciigrave: '`',
  textasciicircum: '^',
  textbullet: '•',
  textellipsis: '…',
  textdollar: '$',
  textbraceleft: '{',
  textbraceright: '}',
}

/** Combining marks for the next letter. */
const ACCENTS: Record<string, string> = {
  "'": '\u0301',
  '`': '\u0300',
  '^': '\u0302',
  '"': '\u0308',
  '~': '\u0303',
  '=': '\u0304',
  '.': '\u0307',
  c: '\u0327',
  v: '\u030c',
  u: '\u0306',
  H: '\u030b',
  k: '\u0328',
  r: '\u030a',
  b: '\u0331',
  d: '\u0323',
}

/** Commands with arguments that are no text, and the number of these arguments. */
const IGNORED_ARGUMENTS = new Map<string, number>()
for (const name of 'label vspace hspace vskip hskip includegraphics index pagestyle thispagestyle bibliographystyle bibliography usepackage documentclass pagenumbering setcounter addtocounter setlength addtolength color rule phantom hphantom vphantom input include ref eqref cref Cref autoref pageref nameref vref hypersetup captionsetup graphicspath newtheorem theoremstyle RequirePackage PassOptionsToPackage bibitem footnotemark fontsize selectfont linespread geometry lstset markboth addcontentsline resizebox scalebox raisebox multirow cline cmidrule tabularnewline'.split(
  ' ',
))
  IGNORED_ARGUMENTS.set(name, 1)
for (const [name, count] of [
  ['setlength', 2],
  ['addtolength', 2],
  ['setcounter', 2],
  ['markboth', 2],
  ['addcontentsline', 3],
  ['fontsize', 2],
  ['textcolor', 1],
  ['colorbox', 1],
  ['href', 1],
  ['multicolumn', 2],
  ['multirow', 2],
  ['resizebox', 2],
  ['rule', 2],
  ['newtheorem', 2],
  ['setlist', 1],
  ['hypertarget', 1],
  ['texorpdfstring', 1],
  ['end', 1],
  ['parbox', 1],
  ['labelwidth', 0],
  ['definecolor', 3],
  ['selectfont', 0],
  ['footnotemark', 0],
  ['tabularnewline', 0],
] as const)
  IGNORED_ARGUMENTS.set(name, count)

/** Citations keep their keys. */
const CITATION_COMMANDS =
  /^(?:cite|citep|citet|citeauthor|citeyear|parencite|textcite|autocite|footcite|nocite|citealp|citealt)$/
const TOKEN = /\\([A-Za-z@]+)\*?[ \t]*|\\([\s\S])|\$\$?|[{}~]|``|''|---?/g

/**
 * Converts LaTeX to text.
 *
 * @param macros texts of the commands that the document defines
 */
export function latexToText(source: string, macros: ReadonlyMap<string, string> = new Map()): string {
  if (!/[\\${}~`'-]/.test(source)) return normalizeSpaces(source)
  const parts: string[] = []
  let offset = 0
  const pattern = new RegExp(TOKEN)
  for (let match = pattern.exec(source); match !== null; match = pattern.exec(source)) {
    parts.push(source.slice(offset, match.index))
    const { text, next } = replaceToken(source, match, pattern.lastIndex, macros)
    parts.push(text)
    // A replacement never ends before its token.
    offset = Math.max(next, pattern.lastIndex)
    pattern.lastIndex = offset
  }
  parts.push(source.slice(offset))
  return normalizeSpaces(parts.join(''))
}

function replaceToken(
  source: string,
  match: RegExpExecArray,
  next: number,
  macros: ReadonlyMap<string, string>,
): { text: string; next: number } {
  const [token, name, sign] = match
  if (token === '$' || token === '$$') return copyFormula(source, match.index, next, token)
  if (name !== undefined) return replaceCommand(source, name, next, macros)
  if (sign === '(' || sign === '[') return copyFormula(source, match.index, next, sign === '(' ? '\\)' : '\\]')
  if (sign !== undefined)
    return ACCENTS[sign] === undefined ? { text: unescapeSign(sign), next } : combineAccent(source, sign, next)
  if (token === '~') return { text: ' ', next }
  if (token === '``' || token === "''") return { text: '"', next }
  if (token === '--' || token === '---') return { text: token === '--' ? '–' : '—', next }
  return { text: '', next }
}

/** A formula is kept up to its closing mark; one that is longer than this is taken as unclosed. */
const MAX_FORMULA_LENGTH = 2000

function copyFormula(source: string, start: number, next: number, end: string): { text: string; next: number } {
  const excerpt = source.slice(next, next + MAX_FORMULA_LENGTH)
  const close = excerpt.indexOf(end)
  return close === -1
    ? { text: '', next }
    : { text: source.slice(start, next + close + end.length), next: next + close + end.length }
}

function unescapeSign(sign: string): string {
  if (sign === '\\' || sign === ',' || sign === ';' || sign === ':' || sign === ' ' || sign === '\n') return ' '
  return /[%&_#${}]/.test(sign) ? sign : ''
}

function combineAccent(source: string, mark: string, next: number): { text: string; next: number } {
  // `\^{}` is the sign itself.
  if (source.startsWith('{}', next)) return { text: mark === '^' || mark === '~' ? mark : '', next: next + 2 }
  const match = /^\s?(?:\{\\?([\p{L}])\}|\\?(\p{L}))/u.exec(source.slice(next, next + 8))
  const letter = match?.[1] ?? match?.[2]
  if (match === null || letter === undefined) return { text: '', next }
  return { text: `${letter}${ACCENTS[mark] ?? ''}`.normalize('NFC'), next: next + match[0].length }
}

function replaceCommand(
  source: string,
  name: string,
  next: number,
  macros: ReadonlyMap<string, string>,
): { text: string; next: number } {
  const macroText = macros.get(name)
  const precedesWord = /^\w/.test(source.charAt(next))
  if (macroText !== undefined) return { text: precedesWord ? `${macroText} ` : macroText, next }
  if (CITATION_COMMANDS.test(name)) {
    const keys = readArgument(source, skipOptions(source, next))
    return keys === undefined ? { text: '', next } : { text: `[${keys.text.trim()}]`, next: keys.next }
  }
  if (name.length === 1 && ACCENTS[name] !== undefined) return combineAccent(source, name, next)
  const symbol = SYMBOLS[name]
  if (symbol !== undefined)
    return { text: precedesWord && /\w$/.test(symbol) && symbol.length > 2 ? `${symbol} ` : symbol, next }
  if (DEFINITIONS.test(name)) return { text: '', next: skipDefinition(source, next) }
  if (name === 'begin') return { text: '', next: skipBegin(source, next) }
  let offset = skipOptions(source, next)
  for (let count = IGNORED_ARGUMENTS.get(name) ?? 0; count > 0; count--) {
    const ignored = readArgument(source, offset)
    if (ignored === undefined) break
    offset = ignored.next
  }
  if (name === 'url' || name === 'path') {
    const address = readArgument(source, offset)
    if (address !== undefined) return address
  }
  return { text: '', next: offset }
}

const DEFINITIONS = /^(?:g?def|edef|let|(?:re)?newcommand|providecommand|DeclareMathOperator|(?:re)?newenvironment)$/
/** Environments with a width after their name. */
export const SIZED_ENVIRONMENT =
  /^(?:minipage|multicols|adjustbox|wrapfigure|wraptable|subfigure|subtable|column|tcolorbox)\*?$/

/** Skips the name and the definition of a command that is defined. */
function skipDefinition(source: string, offset: number): number {
  const nameMatch = /^\s{0,5}\{?\\?[A-Za-z@]{1,60}\*?\}?(?:\s{0,3}(?:\[[^\]]{0,40}\]|#\d)){0,9}\s{0,3}/.exec(
    source.slice(offset, offset + 300),
  )
  const start = offset + (nameMatch?.[0].length ?? 0)
  return readArgument(source, start)?.next ?? start
}

/** Skips the name, options and width of an environment within a line. */
function skipBegin(source: string, offset: number): number {
  const name = readArgument(source, offset)
  if (name === undefined) return offset
  const next = skipOptions(source, name.next)
  return SIZED_ENVIRONMENT.test(name.text) ? (readArgument(source, next)?.next ?? next) : next
}

const MAX_OPTION_LENGTH = 300
const MAX_ARGUMENT_LENGTH = 600

function skipOptions(source: string, offset: number): number {
  let next = offset
  for (let count = 0; count < 3 && source.charAt(next) === '['; count++) {
    const close = source.slice(next, next + MAX_OPTION_LENGTH).indexOf(']')
    if (close === -1) break
    next += close + 1
  }
  return next
}

/** The short argument in braces at an offset. */
function readArgument(source: string, offset: number): { text: string; next: number } | undefined {
  if (source.charAt(offset) !== '{') return undefined
  let depth = 0
  for (let end = offset; end < Math.min(source.length, offset + MAX_ARGUMENT_LENGTH); end++) {
    const char = source.charAt(end)
    if (char === '\\') end++
    else if (char === '{') depth++
    else if (char === '}' && --depth === 0) return { text: source.slice(offset + 1, end), next: end + 1 }
  }
  return undefined
}

function normalizeSpaces(text: string): string {
  return text
    .replace(/\s+/g, ' ')
    .replace(/ (?=[,.;:!?)])/g, '')
    .trim()
}
