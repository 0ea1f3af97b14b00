import {
  EMPTY_FORMULA,
  type Formula,
  joinFormulas,
  tidyFormula,
  toAccent,
  toBrackets,
  toFraction,
  toLimit,
  toMatrix,
  toRoot,
  toRun,
  toScript,
} from './formula.js'
import { findAccentCommand } from './latex-symbols.js'
import type { MathNode } from './math-tree.js'

/** Operators whose bounds are set below and above. */
const LARGE_OPERATOR = /^[∑∏∐∫∬∭∮⋃⋂⋁⋀]$/u

/** Converts a formula in MathML (Core and 3.0, presentation). The depth of a tree is limited. */
export function convertMathml(root: MathNode): Formula {
  const formula = tidyFormula(convert(root))
  const stated = findTex(root)?.trim()
  return stated === undefined || stated === '' ? formula : { ...formula, latex: stated }
}

/** The LaTeX that a formula states itself, as an annotation at its top. */
function findTex(root: MathNode): string | undefined {
  const semantics = root.children.find(({ name }) => name === 'semantics')
  return semantics?.children.find(
    ({ name, attributes }) => name === 'annotation' && /tex/i.test(attributes.get('encoding') ?? ''),
  )?.text
}

function convert(node: MathNode): Formula {
  const { name, children, attributes } = node
  const text = node.text.replace(/\s+/g, ' ').trim()
  switch (name) {
    case 'mi':
      return toRun(text, text.length > 1)
    case 'mn':
      return toRun(text)
    case 'mo':
      return toOperator(text)
    case 'mtext':
    case 'ms':
      return joinFormulas([toRun(` ${text} `, true)])
    case 'mspace':
      return { text: ' ', latex: ' ' }
    case 'mphantom':
    case 'annotation':
    case 'annotation-xml':
    case 'none':
    case 'mprescripts':
      return EMPTY_FORMULA
    case 'semantics':
    case 'maction':
      return child(node, 0)
    case 'mfrac':
      return attributes.get('linethickness') === '0'
        ? {
            text: `${child(node, 0).text}¦${child(node, 1).text}`,
            latex: `{${child(node, 0).latex} \\atop ${child(node, 1).latex}}`,
          }
        : toFraction(child(node, 0), child(node, 1))
    case 'msqrt':
      return toRoot(convertAll(children), undefined)
    case 'mroot':
      return toRoot(child(node, 0), child(node, 1))
    case 'msub':
      return toScript(child(node, 0), child(node, 1), undefined)
    case 'msup':
      return toScript(child(node, 0), undefined, child(node, 1))
    case 'msubsup':
      return toScript(child(node, 0), child(node, 1), child(node, 2))
    case 'munder':
      return toUnderOver(child(node, 0), child(node, 1), undefined)
    case 'mover':
      return toUnderOver(child(node, 0), undefined, child(node, 1))
    case 'munderover':
      return toUnderOver(child(node, 0), child(node, 1), child(node, 2))
    case 'mmultiscripts':
      return toScript(child(node, 0), children[1] && convert(children[1]), children[2] && convert(children[2]))
    case 'mfenced':
      return toBrackets(children.map(convert), [
        attributes.get('open') ?? '(',
        (attributes.get('separators') ?? ',').trim().charAt(0),
        attributes.get('close') ?? ')',
      ])
    case 'mtable':
      return toMatrix(
        children.map((row) =>
          row.children.filter((cell) => cell.name === 'mtd').map((cell) => convertAll(cell.children)),
        ),
        'matrix',
      )
    default:
      return children.length === 0 ? toRun(text) : convertAll(children)
  }
}

function convertAll(nodes: readonly MathNode[]): Formula {
  return joinFormulas(nodes.map(convert))
}

function child(node: MathNode, index: number): Formula {
  const found = node.children[index]
  return found === undefined ? EMPTY_FORMULA : convert(found)
}

/** Function application and invisible times are not written. */
function toOperator(text: string): Formula {
  if (/^[\u2061-\u2064]?$/.test(text)) return EMPTY_FORMULA
  return toRun(text)
}

function toUnderOver(base: Formula, below: Formula | undefined, above: Formula | undefined): Formula {
  if (below !== undefined && above !== undefined) return toScript(base, below, above)
  const accent = findAccentCommand(above?.text.trim() ?? below?.text.trim() ?? '')
  if (accent !== undefined) return toAccent(base, accent)
  if (LARGE_OPERATOR.test(base.text.trim())) return toScript(base, below, above)
  return below === undefined ? toLimit(base, above ?? EMPTY_FORMULA, 'above') : toLimit(base, below, 'below')
}
