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
const SILENT = new Map<string, number>()
for (const name of 'label vspace hspace vskip hskip includegraphics index pagestyle thispagestyle bibliographystyle bibliography usepackage documentclass pagenumbering setcounter addtocounter setlength addtolength color rule phantom hphantom vphantom input include ref eqref cref Cref autoref pageref nameref vref hypersetup captionsetup graphicspath newtheorem theoremstyle RequirePackage PassOptionsToPackage bibitem footnotemark fontsize selectfont linespread geometry lstset markboth addcontentsline resizebox scalebox raisebox multirow cline cmidrule tabularnewline'.split(
  ' ',
))
  SILENT.set(name, 1)
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
  SILENT.set(name, count)

/** Citations keep their keys. */
const CITES = /^(?:cite|citep|citet|citeauthor|citeyear|parencite|textcite|autocite|footcite|nocite|citealp|citealt)$/
const TOKEN = /\\([A-Za-z@]+)\*?[ \t]*|\\([\s\S])|\$\$?|[{}~]|``|''|---?/g

/**
 * Converts LaTeX to text.
 *
 * @param macros texts of the commands that the document defines
 */
export function latexText(source: string, macros: ReadonlyMap<string, string> = new Map()): string {
  if (!/[\\${}~`'-]/.test(source)) return tidy(source)
  const parts: string[] = []
  let from = 0
  const pattern = new RegExp(TOKEN)
  for (let found = pattern.exec(source); found !== null; found = pattern.exec(source)) {
    parts.push(source.slice(from, found.index))
    const { text, next } = replacement(source, found, pattern.lastIndex, macros)
    parts.push(text)
    // A replacement never ends before its token.
    from = Math.max(next, pattern.lastIndex)
    pattern.lastIndex = from
  }
  parts.push(source.slice(from))
  return tidy(parts.join(''))
}

function replacement(
  source: string,
  found: RegExpExecArray,
  next: number,
  macros: ReadonlyMap<string, string>,
): { text: string; next: number } {
  const [token, name, sign] = found
  if (token === '$' || token === '$$') return formula(source, found.index, next, token)
  if (name !== undefined) return command(source, name, next, macros)
  if (sign === '(' || sign === '[') return formula(source, found.index, next, sign === '(' ? '\\)' : '\\]')
  if (sign !== undefined)
    return ACCENTS[sign] === undefined ? { text: escaped(sign), next } : accented(source, sign, next)
  if (token === '~') return { text: ' ', next }
  if (token === '``' || token === "''") return { text: '"', next }
  if (token === '--' || token === '---') return { text: token === '--' ? '–' : '—', next }
  return { text: '', next }
}

/** A formula is kept up to its closing mark; one that is longer than this is taken as unclosed. */
const MAX_FORMULA = 2000

function formula(source: string, start: number, next: number, end: string): { text: string; next: number } {
  const stretch = source.slice(next, next + MAX_FORMULA)
  const close = stretch.indexOf(end)
  return close === -1
    ? { text: '', next }
    : { text: source.slice(start, next + close + end.length), next: next + close + end.length }
}

function escaped(sign: string): string {
  if (sign === '\\' || sign === ',' || sign === ';' || sign === ':' || sign === ' ' || sign === '\n') return ' '
  return /[%&_#${}]/.test(sign) ? sign : ''
}

function accented(source: string, mark: string, next: number): { text: string; next: number } {
  const found = /^\s?(?:\{\\?([\p{L}])\}|\\?(\p{L}))/u.exec(source.slice(next, next + 8))
  const letter = found?.[1] ?? found?.[2]
  if (found === null || letter === undefined) return { text: '', next }
  return { text: `${letter}${ACCENTS[mark] ?? ''}`.normalize('NFC'), next: next + found[0].length }
}

function command(
  source: string,
  name: string,
  next: number,
  macros: ReadonlyMap<string, string>,
): { text: string; next: number } {
  const own = macros.get(name)
  const glued = /^\w/.test(source.charAt(next))
  if (own !== undefined) return { text: glued ? `${own} ` : own, next }
  if (CITES.test(name)) {
    const keys = argument(source, afterOptions(source, next))
    return keys === undefined ? { text: '', next } : { text: `[${keys.text.trim()}]`, next: keys.next }
  }
  if (name.length === 1 && ACCENTS[name] !== undefined) return accented(source, name, next)
  const symbol = SYMBOLS[name]
  if (symbol !== undefined)
    return { text: glued && /\w$/.test(symbol) && symbol.length > 2 ? `${symbol} ` : symbol, next }
  if (DEFINITIONS.test(name)) return { text: '', next: afterDefinition(source, next) }
  if (name === 'begin') return { text: '', next: afterBegin(source, next) }
  let at = afterOptions(source, next)
  for (let count = SILENT.get(name) ?? 0; count > 0; count--) {
    const one = argument(source, at)
    if (one === undefined) break
    at = one.next
  }
  if (name === 'url' || name === 'path') {
    const address = argument(source, at)
    if (address !== undefined) return address
  }
  return { text: '', next: at }
}

const DEFINITIONS = /^(?:g?def|edef|let|(?:re)?newcommand|providecommand|DeclareMathOperator|(?:re)?newenvironment)$/
/** Environments with a width after their name. */
const SIZED = /^(?:minipage|multicols|adjustbox|wrapfigure|wraptable|subfigure|subtable|column|tcolorbox)\*?$/

/** Skips the name and the definition of a command that is defined. */
function afterDefinition(source: string, at: number): number {
  const named = /^\s{0,5}\{?\\?[A-Za-z@]{1,60}\*?\}?(?:\s{0,3}(?:\[[^\]]{0,40}\]|#\d)){0,9}\s{0,3}/.exec(
    source.slice(at, at + 300),
  )
  const start = at + (named?.[0].length ?? 0)
  return argument(source, start)?.next ?? start
}

/** Skips the name, options and width of an environment within a line. */
function afterBegin(source: string, at: number): number {
  const name = argument(source, at)
  if (name === undefined) return at
  const next = afterOptions(source, name.next)
  return SIZED.test(name.text) ? (argument(source, next)?.next ?? next) : next
}

const MAX_OPTION = 300
const MAX_ARGUMENT = 600

function afterOptions(source: string, at: number): number {
  let next = at
  for (let count = 0; count < 3 && source.charAt(next) === '['; count++) {
    const close = source.slice(next, next + MAX_OPTION).indexOf(']')
    if (close === -1) break
    next += close + 1
  }
  return next
}

/** The short argument in braces at an offset. */
function argument(source: string, at: number): { text: string; next: number } | undefined {
  if (source.charAt(at) !== '{') return undefined
  let depth = 0
  for (let end = at; end < Math.min(source.length, at + MAX_ARGUMENT); end++) {
    const char = source.charAt(end)
    if (char === '\\') end++
    else if (char === '{') depth++
    else if (char === '}' && --depth === 0) return { text: source.slice(at + 1, end), next: end + 1 }
  }
  return undefined
}

function tidy(text: string): string {
  return text
    .replace(/\s+/g, ' ')
    .replace(/ (?=[,.;:!?)])/g, '')
    .trim()
}
