import type { StateInline } from 'markdown-it'

/** Longer formulas are read as text. */
const MAX_FORMULA_LENGTH = 2000
const DOLLAR = 0x24

/**
 * Rule of the parser that keeps formulas, `$a*b$` or `$$…$$`: their asterisks, underscores and backslashes are no
 * markup. As in other parsers, a dollar before white space opens none, and one after white space or before a digit
 * closes none, so that amounts stay amounts. `\(` is an escaped bracket.
 */
export function formulaRule(state: StateInline, silent: boolean): boolean {
  const end = findFormulaEnd(state.src, state.pos, state.posMax)
  if (end === undefined) return false
  if (!silent) state.push('text', '', 0).content = state.src.slice(state.pos, end).replace(/\s*\n\s*/g, ' ')
  state.pos = end
  return true
}

function findFormulaEnd(source: string, start: number, max: number): number | undefined {
  if (source.charCodeAt(start) !== DOLLAR) return undefined
  const second = source.charAt(start + 1)
  if (second === '$') return findClosing(source, start + 2, max, '$$')
  if (/\s/.test(second)) return undefined
  const end = findClosing(source, start + 1, max, '$')
  return end === undefined || /\s/.test(source.charAt(end - 2)) || /\d/.test(source.charAt(end)) ? undefined : end
}

/** Offset after the closing mark of a formula; `undefined` for an empty or unclosed one. */
function findClosing(source: string, start: number, max: number, sign: string): number | undefined {
  const end = source.slice(start, Math.min(max, start + MAX_FORMULA_LENGTH)).indexOf(sign)
  return end <= 0 ? undefined : start + end + sign.length
}
