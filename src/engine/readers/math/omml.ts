import {
  EMPTY_FORMULA,
  type Formula,
  joinFormulas,
  tidyFormula,
  toAccent,
  toBrackets,
  toFraction,
  toLargeOperator,
  toLimit,
  toMatrix,
  toRoot,
  toRun,
  toScript,
} from './formula.js'
import { findAccentCommand } from './latex-symbols.js'
import { findChild, type MathNode } from './math-tree.js'

/** Converts a formula in Office Math Markup (ISO/IEC 29500-1, 22.1). The depth of a tree is limited. */
export function convertOmml(root: MathNode): Formula {
  return tidyFormula(convert(root))
}

const CONVERTERS: Readonly<Record<string, (node: MathNode) => Formula>> = {
  t: ({ text }) => toRun(text),
  r: convertRun,
  f: (node) =>
    getProperty(node, 'fPr', 'type') === 'noBar'
      ? {
          text: `${convertPart(node, 'num').text}¦${convertPart(node, 'den').text}`,
          latex: `{${convertPart(node, 'num').latex} \\atop ${convertPart(node, 'den').latex}}`,
        }
      : toFraction(convertPart(node, 'num'), convertPart(node, 'den')),
  sSub: (node) => toScript(convertPart(node, 'e'), convertPart(node, 'sub'), undefined),
  sSup: (node) => toScript(convertPart(node, 'e'), undefined, convertPart(node, 'sup')),
  sSubSup: (node) => toScript(convertPart(node, 'e'), convertPart(node, 'sub'), convertPart(node, 'sup')),
  sPre: (node) =>
    joinFormulas([toScript(EMPTY_FORMULA, convertPart(node, 'sub'), convertPart(node, 'sup')), convertPart(node, 'e')]),
  rad: (node) => toRoot(convertPart(node, 'e'), isSet(node, 'radPr', 'degHide') ? undefined : convertPart(node, 'deg')),
  nary: (node) =>
    toLargeOperator(
      getProperty(node, 'naryPr', 'chr') ?? '∫',
      isSet(node, 'naryPr', 'subHide') ? undefined : convertPart(node, 'sub'),
      isSet(node, 'naryPr', 'supHide') ? undefined : convertPart(node, 'sup'),
      convertPart(node, 'e'),
    ),
  d: (node) =>
    toBrackets(convertParts(node, 'e'), [
      getProperty(node, 'dPr', 'begChr') ?? '(',
      getProperty(node, 'dPr', 'sepChr') ?? '|',
      getProperty(node, 'dPr', 'endChr') ?? ')',
    ]),
  m: (node) =>
    toMatrix(
      node.children.filter(({ name }) => name === 'mr').map((row) => convertParts(row, 'e')),
      'matrix',
    ),
  eqArr: (node) =>
    toMatrix(
      convertParts(node, 'e').map((row) => [row]),
      'aligned',
    ),
  func: (node) => joinFormulas([convertPart(node, 'fName'), { text: ' ', latex: ' ' }, convertPart(node, 'e')]),
  limLow: (node) => toLimit(convertPart(node, 'e'), convertPart(node, 'lim'), 'below'),
  limUpp: (node) => toLimit(convertPart(node, 'e'), convertPart(node, 'lim'), 'above'),
  acc: (node) =>
    toAccent(convertPart(node, 'e'), findAccentCommand(getProperty(node, 'accPr', 'chr') ?? '\u0302') ?? 'hat'),
  bar: (node) =>
    toAccent(convertPart(node, 'e'), getProperty(node, 'barPr', 'pos') === 'top' ? 'overline' : 'underline'),
  groupChr: (node) =>
    toAccent(convertPart(node, 'e'), findAccentCommand(getProperty(node, 'groupChrPr', 'chr') ?? '⏟') ?? 'underbrace'),
  borderBox: (node) => toAccent(convertPart(node, 'e'), 'boxed'),
  oMathPara: (node) => convertAll(node.children.flatMap((child) => [child, SPACE])),
  br: () => ({ text: ' ', latex: ' \\\\ ' }),
  tab: () => ({ text: ' ', latex: ' ' }),
  // deleted and moved text
  del: () => EMPTY_FORMULA,
  moveFrom: () => EMPTY_FORMULA,
}
const SPACE: MathNode = { name: 'tab', attributes: new Map(), children: [], text: '' }

function convert(node: MathNode): Formula {
  if (/.Pr$|^ctrlPr$/.test(node.name)) return EMPTY_FORMULA
  const converter = CONVERTERS[node.name]
  return converter === undefined ? convertAll(node.children) : converter(node)
}

function convertAll(nodes: readonly MathNode[]): Formula {
  return joinFormulas(nodes.map(convert))
}

function convertRun(node: MathNode): Formula {
  const properties = findChild(node, 'rPr')
  const isUpright =
    properties !== undefined &&
    (findChild(properties, 'nor') !== undefined || findChild(properties, 'sty')?.attributes.get('val') === 'p')
  return joinFormulas(
    node.children.map((child) => (child.name === 't' ? toRun(child.text, { isUpright }) : convert(child))),
  )
}

/** Converts the part of a node with a name; empty without one. */
function convertPart(node: MathNode, name: string): Formula {
  const child = findChild(node, name)
  return child === undefined ? EMPTY_FORMULA : convertAll(child.children)
}

function convertParts(node: MathNode, name: string): Formula[] {
  return node.children.filter((child) => child.name === name).map((child) => convertAll(child.children))
}

function getProperty(node: MathNode, group: string, name: string): string | undefined {
  const properties = findChild(node, group)
  return properties === undefined ? undefined : findChild(properties, name)?.attributes.get('val')
}

function isSet(node: MathNode, group: string, name: string): boolean {
  const properties = findChild(node, group)
  const property = properties === undefined ? undefined : findChild(properties, name)
  return property !== undefined && !/^(?:0|off|false)$/.test(property.attributes.get('val') ?? '1')
}
