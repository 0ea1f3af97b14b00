import type { Block } from '../parsed.js'
import { toLatexText } from './latex-symbols.js'

/** A formula as one line of text to read and search, and in LaTeX. */
export interface Formula {
  /** `(a+b)/c`, `x_i^2`, `∑_(i=1)^n x_i` */
  text: string
  latex: string
}

export const EMPTY_FORMULA: Formula = { text: '', latex: '' }

/** A run of a formula. @param options `isUpright` of words and names of functions */
export function toRun(text: string, options?: { isUpright: boolean }): Formula {
  return { text, latex: toLatexText(text, options) }
}

/** Puts parts next to each other; words keep a space between them. */
export function joinFormulas(parts: readonly Formula[]): Formula {
  let text = ''
  let latex = ''
  for (const part of parts) {
    if (/\p{L}$/u.test(text) && /^\p{L}{2}/u.test(part.text)) text += ' '
    text += part.text
    if (/\\[A-Za-z]+$/.test(latex) && /^[A-Za-z]/.test(part.latex)) latex += ' '
    latex += part.latex
  }
  return { text, latex }
}

export function toFraction(numerator: Formula, denominator: Formula): Formula {
  return {
    text: `${parenthesize(numerator.text)}/${parenthesize(denominator.text)}`,
    latex: `\\frac{${numerator.latex}}{${denominator.latex}}`,
  }
}

/** A base with an index and a power, either of which may be absent. */
export function toScript(base: Formula, below: Formula | undefined, above: Formula | undefined): Formula {
  const isShort = /^[^\s+\-*/=]*$/u.test(base.text)
  const latex = base.latex.trim()
  return {
    text: `${isShort ? base.text : parenthesize(base.text)}${toTextScripts(below, above)}`,
    latex: `${latex.length > 1 && !/^\\[A-Za-z]+$/.test(latex) ? `{${latex}}` : latex}${toLatexScripts(below, above)}`,
  }
}

export function toRoot(radicand: Formula, degree: Formula | undefined): Formula {
  if (degree === undefined || degree.text === '' || degree.text === '2')
    return { text: `√${parenthesize(radicand.text)}`, latex: `\\sqrt{${radicand.latex}}` }
  const sign = degree.text === '3' ? '∛' : degree.text === '4' ? '∜' : `√[${degree.text}]`
  return { text: `${sign}${parenthesize(radicand.text)}`, latex: `\\sqrt[${degree.latex}]{${radicand.latex}}` }
}

/** A sum, product or integral with its bounds. */
export function toLargeOperator(
  operator: string,
  below: Formula | undefined,
  above: Formula | undefined,
  body: Formula,
): Formula {
  return joinFormulas([
    {
      text: `${operator}${toTextScripts(below, above)} `,
      latex: `${toLatexText(operator).trim()}${toLatexScripts(below, above)} `,
    },
    body,
  ])
}

/** Parts between brackets, with a separator between them. */
export function toBrackets(
  parts: readonly Formula[],
  [open, separator, close]: readonly [string, string, string],
): Formula {
  return {
    text: `${open}${parts.map(({ text }) => text).join(separator)}${close}`,
    latex: `\\left${toLatexBracket(open)}${parts.map(({ latex }) => latex).join(` ${toLatexText(separator)} `)}\\right${toLatexBracket(close)}`,
  }
}

/** Rows of a matrix, of aligned equations, or of cases. */
export function toMatrix(rows: readonly (readonly Formula[])[], environment: 'matrix' | 'aligned'): Formula {
  const isMatrix = environment === 'matrix'
  const text = rows.map((cells) => cells.map((cell) => cell.text).join(isMatrix ? ', ' : ' ')).join('; ')
  return {
    text: isMatrix && rows.length > 1 ? `[${text}]` : text,
    latex: `\\begin{${environment}}${rows.map((cells) => cells.map((cell) => cell.latex).join(' & ')).join(' \\\\ ')}\\end{${environment}}`,
  }
}

/** A base with a sign above or below it. */
export function toAccent(base: Formula, command: string): Formula {
  return { text: base.text, latex: `\\${command}{${base.latex}}` }
}

/** A base with words above or below it, such as the bound of a limit. */
export function toLimit(base: Formula, limit: Formula, side: 'below' | 'above'): Formula {
  const [below, above] = side === 'below' ? [limit, undefined] : [undefined, limit]
  const text = `${base.text}${toTextScripts(below, above)}`
  if (/^\p{L}{2,}$/u.test(base.text))
    return { text: `${text} `, latex: `${base.latex}${side === 'below' ? '_' : '^'}{${limit.latex}}` }
  return { text, latex: `\\${side === 'below' ? 'underset' : 'overset'}{${limit.latex}}{${base.latex}}` }
}

/** A formula whose spaces are single ones. */
export function tidyFormula({ text, latex }: Formula): Formula {
  return { text: text.replace(/\s+/g, ' ').trim(), latex: latex.replace(/\s+/g, ' ').trim() }
}

/** The formulas of a block in LaTeX, as its metadata contain them. */
export function getFormulas({ metadata }: Block): string[] {
  const formulas: unknown = metadata?.formulas
  return Array.isArray(formulas) ? formulas.map(String) : []
}

function toTextScripts(below: Formula | undefined, above: Formula | undefined): string {
  const index = below === undefined || below.text === '' ? '' : `_${parenthesize(below.text)}`
  return `${index}${above === undefined || above.text === '' ? '' : `^${parenthesize(above.text)}`}`
}

function toLatexScripts(below: Formula | undefined, above: Formula | undefined): string {
  const index = below === undefined || below.text === '' ? '' : `_{${below.latex}}`
  return `${index}${above === undefined || above.text === '' ? '' : `^{${above.latex}}`}`
}

/** Puts a text that is more than a word or number in parentheses. */
function parenthesize(text: string): string {
  const trimmed = text.trim()
  return /^[\p{L}\p{M}\p{N}.,'′∞*]*$/u.test(trimmed) || /^\([^()]*\)$/.test(trimmed) ? trimmed : `(${trimmed})`
}

function toLatexBracket(bracket: string): string {
  if (bracket === '') return '.'
  return /^[{}]$/.test(bracket) ? `\\${bracket}` : toLatexText(bracket).trim()
}
