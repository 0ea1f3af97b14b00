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
  const latex = findTex(root)?.trim()
  return latex === undefined || latex === '' ? formula : { ...formula, latex }
}

/** The LaTeX that a formula contains as an annotation at its top. */
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
      return toRun(text, { isUpright: text.length > 1 })
    case 'mn':
      return toRun(text)
    case 'mo':
      // Function application and invisible times are not written.
      return /^[\u2061-\u2064]?$/.test(text) ? EMPTY_FORMULA : toRun(text)
    case 'mtext':
    case 'ms':
      return toRun(` ${text} `, { isUpright: true })
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
      return convertChild(node, 0)
    case 'mfrac':
      return attributes.get('linethickness') === '0'
        ? {
            text: `${convertChild(node, 0).text}¦${convertChild(node, 1).text}`,
            latex: `{${convertChild(node, 0).latex} \\atop ${convertChild(node, 1).latex}}`,
          }
        : toFraction(convertChild(node, 0), convertChild(node, 1))
    case 'msqrt':
      return toRoot(convertAll(children), undefined)
    case 'mroot':
      return toRoot(convertChild(node, 0), convertChild(node, 1))
    case 'msub':
      return toScript(convertChild(node, 0), convertChild(node, 1), undefined)
    case 'msup':
      return toScript(convertChild(node, 0), undefined, convertChild(node, 1))
    case 'msubsup':
    case 'mmultiscripts':
      return toScript(convertChild(node, 0), convertChild(node, 1), convertChild(node, 2))
    case 'munder':
      return toUnderOver(convertChild(node, 0), convertChild(node, 1), undefined)
    case 'mover':
      return toUnderOver(convertChild(node, 0), undefined, convertChild(node, 1))
    case 'munderover':
      return toUnderOver(convertChild(node, 0), convertChild(node, 1), convertChild(node, 2))
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

function convertChild(node: MathNode, index: number): Formula {
  const found = node.children[index]
  return found === undefined ? EMPTY_FORMULA : convert(found)
}

function toUnderOver(base: Formula, below: Formula | undefined, above: Formula | undefined): Formula {
  if (below !== undefined && above !== undefined) return toScript(base, below, above)
  const accent = findAccentCommand(above?.text.trim() ?? below?.text.trim() ?? '')
  if (accent !== undefined) return toAccent(base, accent)
  if (LARGE_OPERATOR.test(base.text.trim())) return toScript(base, below, above)
  return below === undefined ? toLimit(base, above ?? EMPTY_FORMULA, 'above') : toLimit(base, below, 'below')
}
