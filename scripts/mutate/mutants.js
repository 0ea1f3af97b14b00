/** The mutants of one file: small wrong changes of its syntax tree, each of which a test should notice. */
import ts from 'typescript'
import { isSql, sqlChanges } from './sql.js'

const { SyntaxKind: Kind } = ts

/**
 * @typedef {object} Mutant
 * @property {number} start where what it replaces begins
 * @property {number} end
 * @property {string} text what stands there instead; of a removed statement nothing
 * @property {boolean} isStatement
 * @property {string} name what kind of change it is
 */

const COMPARISONS = {
  '===': '!==',
  '!==': '===',
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
}
const ARITHMETIC = { '+': '-', '-': '+', '*': '/', '/': '*', '%': '*', '**': '*' }
const ASSIGNED = { '+=': '-=', '-=': '+=', '*=': '/=', '/=': '*=' }
const METHODS = { some: 'every', every: 'some', min: 'max', max: 'min', floor: 'ceil', ceil: 'floor' }
/** calls that choose or order: without them everything is taken as it comes */
const DROPPED_CALLS = new Set(['filter', 'sort', 'toSorted', 'reverse', 'toReversed', 'trim'])
/** from here on a number is a size or a time, not a count or a place */
const LARGE = 100
/** names of times and sizes in bytes */
const MEASURED =
  /(\bnow\b|\bnow\(|_(MS|MILLISECONDS|SECONDS|BYTES)\b|(Ms|Milliseconds|Seconds|Bytes|At|Until)\b|\b(milliseconds|seconds|bytes|until)\b)/

/**
 * @param {string} path for the messages of the parser and for `tsx`
 * @param {string} code
 * @returns {Mutant[]} in the order of the file
 */
export function mutantsOf(path, code) {
  const source = ts.createSourceFile(path, code, ts.ScriptTarget.ES2022, true)
  /** @type {Mutant[]} */
  const found = []
  const textOf = (/** @type {ts.Node} */ node) => code.slice(node.getStart(source), node.end)
  /** @param {ts.Node} node @param {string} text @param {string} name */
  const replace = (node, text, name) =>
    found.push({ start: node.getStart(source), end: node.end, text, isStatement: false, name })
  /** @param {ts.Node} node */
  const visit = (node) => {
    if (isLeftOut(node)) return
    if (ts.isBinaryExpression(node)) ofBinary(node, textOf, replace)
    else if (ts.isPrefixUnaryExpression(node)) ofPrefix(node, textOf, replace)
    else if (ts.isPostfixUnaryExpression(node)) ofPostfix(node, textOf, replace)
    else if (ts.isCallExpression(node)) ofCall(node, textOf, replace)
    else if (node.kind === Kind.TrueKeyword) replace(node, 'false', 'true becomes false')
    else if (node.kind === Kind.FalseKeyword) replace(node, 'true', 'false becomes true')
    else if (ts.isNumericLiteral(node)) ofNumber(node, replace)
    else if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node) || ts.isTemplateExpression(node))
      ofText(node, textOf, replace)
    else if (ts.isExpressionStatement(node) && isEffect(node.expression))
      found.push({
        start: node.getStart(source),
        end: node.end,
        text: '',
        isStatement: true,
        name: 'a statement is removed',
      })
    ofCondition(node, replace)
    ts.forEachChild(node, visit)
  }
  ts.forEachChild(source, visit)
  return found.sort((a, b) => a.start - b.start || b.end - a.end || Number(b.isStatement) - Number(a.isStatement))
}

/** Types, imports and names say nothing at run time; what is logged, and said in errors, is for people. @param {ts.Node} node */
function isLeftOut(node) {
  if (ts.isTypeNode(node) || ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)) return true
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node) || ts.isTaggedTemplateExpression(node)) return true
  if (ts.isCallExpression(node) && node.expression.kind === Kind.ImportKeyword) return true
  if (isUnread(node)) return true
  return ts.isCallExpression(node) && /(^|\.)log(\??\.\w+)?$/.test(node.expression.getText())
}

/** What an error says to people: of ours the second argument, behind the code, of others the first. @param {ts.Node} node */
function isUnread(node) {
  const { parent } = node
  if (!ts.isNewExpression(parent) || !/Error$/.test(parent.expression.getText())) return false
  return parent.arguments?.[/^(Ks|Chat)Error$/.test(parent.expression.getText()) ? 1 : 0] === node
}

/** @param {ts.Expression} expression */
function isEffect(expression) {
  const inner = ts.isAwaitExpression(expression) ? expression.expression : expression
  if (ts.isVoidExpression(inner)) return isEffect(inner.expression)
  if (ts.isCallExpression(inner))
    return (
      inner.expression.kind !== Kind.SuperKeyword && !/(^|\.)(log(\??\.\w+)?|unref)$/.test(inner.expression.getText())
    )
  if (ts.isBinaryExpression(inner)) {
    const operator = inner.operatorToken.kind
    return operator >= Kind.FirstAssignment && operator <= Kind.LastAssignment
  }
  return ts.isDeleteExpression(inner) || ts.isPostfixUnaryExpression(inner)
}

function ofCondition(node, replace) {
  const branch = ts.isIfStatement(node)
    ? node.expression
    : ts.isConditionalExpression(node)
      ? node.condition
      : undefined
  if (branch !== undefined && !isBoolean(branch)) {
    replace(branch, 'true', 'a condition always holds')
    replace(branch, 'false', 'a condition never holds')
  }
  const loop = ts.isWhileStatement(node) ? node.expression : ts.isForStatement(node) ? node.condition : undefined
  if (loop !== undefined && !isBoolean(loop)) replace(loop, 'false', 'a loop is not entered')
}

/** Of what is a condition by itself, `true` and `false` are mutants: its negation would say nothing more. @param {ts.Node} node */
function isCondition(node) {
  const { parent } = node
  return (
    (ts.isIfStatement(parent) && parent.expression === node) ||
    (ts.isConditionalExpression(parent) && parent.condition === node)
  )
}

const isBoolean = (node) => node.kind === Kind.TrueKeyword || node.kind === Kind.FalseKeyword

function ofBinary(node, textOf, replace) {
  const { left, right, operatorToken } = node
  const operator = operatorToken.getText()
  const swap = (to) => replace(node, `${textOf(left)} ${to} ${textOf(right)}`, `${operator} becomes ${to}`)
  if (operator in COMPARISONS) {
    const isNegation = operator.endsWith('==')
    if (ts.isTypeOfExpression(left) || (isNegation && isCondition(node))) return
    if (isNegation || !(isMeasured(left) || isMeasured(right))) swap(COMPARISONS[operator])
  } else if (operator === '&&' || operator === '||') {
    replace(node, textOf(left), `the right side of ${operator} is dropped`)
    replace(node, textOf(right), `the left side of ${operator} is dropped`)
  } else if (operator === '??') replace(node, textOf(left), 'the default of ?? is dropped')
  else if (operator in ARITHMETIC && !isTextual(left) && !isTextual(right)) swap(ARITHMETIC[operator])
  else if (operator in ASSIGNED && !isTextual(right)) swap(ASSIGNED[operator])
}

/** Times and bytes: nobody may rely on what happens in just that millisecond. @param {ts.Node} node */
function isMeasured(node) {
  return MEASURED.test(node.getText())
}

/** @param {ts.Node} node */
function isTextual(node) {
  if (ts.isStringLiteralLike(node) || ts.isTemplateExpression(node)) return true
  return ts.isBinaryExpression(node) && (isTextual(node.left) || isTextual(node.right))
}

function ofPrefix(node, textOf, replace) {
  const { operator, operand } = node
  if (operator === Kind.ExclamationToken && !isCondition(node)) replace(node, textOf(operand), '! is dropped')
  if (operator === Kind.MinusToken) replace(node, textOf(operand), '- is dropped')
  if (operator === Kind.PlusPlusToken) replace(node, `--${textOf(operand)}`, '++ becomes --')
  if (operator === Kind.MinusMinusToken) replace(node, `++${textOf(operand)}`, '-- becomes ++')
}

function ofPostfix(node, textOf, replace) {
  const [to, name] = node.operator === Kind.PlusPlusToken ? ['--', '++ becomes --'] : ['++', '-- becomes ++']
  replace(node, `${textOf(node.operand)}${to}`, name)
}

function ofCall(node, textOf, replace) {
  const called = node.expression
  if (!ts.isPropertyAccessExpression(called) || called.questionDotToken !== undefined || inChain(node)) return
  const method = called.name.text
  const given = node.arguments.map(textOf).join(', ')
  if (Object.hasOwn(METHODS, method))
    replace(node, `${textOf(called.expression)}.${METHODS[method]}(${given})`, `${method} becomes ${METHODS[method]}`)
  else if (DROPPED_CALLS.has(method)) replace(node, textOf(called.expression), `.${method}() is dropped`)
}

/** Whether parentheses around a node would cut an optional chain short. @param {ts.Node} node */
function inChain(node) {
  return (node.flags & ts.NodeFlags.OptionalChain) !== 0
}

function ofNumber(node, replace) {
  if (isName(node)) return
  const value = Number(node.text)
  const isLimit = Number.isInteger(value) && value > 1 && isNamed(node)
  const to = value === 0 ? '1' : value === 1 || value >= LARGE || isLimit ? '0' : String(value + 1)
  replace(node, to, `${node.text} becomes ${to}`)
}

/** Whether it is all that a named constant holds: how many, which may be one more or less. @param {ts.Node} node */
function isNamed(node) {
  const { parent } = node
  return ts.isVariableDeclaration(parent) && /^[A-Z][A-Z0-9_]+$/.test(parent.name.getText())
}

/** Whether it is the name of a property or part of a type, not a value. @param {ts.Node} node */
function isName(node) {
  const { parent } = node
  if (ts.isEnumMember(parent) || ts.isLiteralTypeNode(parent)) return true
  if (ts.isBindingElement(parent)) return parent.propertyName === node
  return (ts.isPropertyAssignment(parent) || ts.isMethodDeclaration(parent)) && parent.name === node
}

function ofText(node, textOf, replace) {
  if (isName(node) || ts.isTypeOfExpression(node.parent)) return
  const { parent } = node
  if (ts.isBinaryExpression(parent) && (ts.isTypeOfExpression(parent.left) || parent.operatorToken.getText() === 'in'))
    return
  const text = textOf(node)
  const inner = text.slice(1, -1)
  if (isSql(inner) || isPieceOfSql(node)) {
    for (const change of sqlChanges(inner))
      if (!insideHole(node, change))
        replace(
          node,
          `${text[0]}${inner.slice(0, change.from)}${change.text}${inner.slice(change.to)}${text[0]}`,
          change.name,
        )
  } else if (ts.isStringLiteral(node) && /^[\w.:/-]+$/.test(inner)) replace(node, "''", `'${inner}' becomes ''`)
}

/** A condition that stands in a constant of its own: `status = 'open' AND until IS NULL`. @param {ts.Node} node */
function isPieceOfSql(node) {
  return /\s(=|<>|IS|IS NOT|IN)\s/.test(node.getText()) && /\b(AND|NULL|IN \()/.test(node.getText())
}

/** Whether a change lies in `${…}`, which is code. @param {ts.Node} node @param {{ from: number, to: number }} change */
function insideHole(node, { from, to }) {
  if (!ts.isTemplateExpression(node)) return false
  const start = node.getStart() + 1
  return node.templateSpans.some(
    ({ expression }) => start + to > expression.getStart() - 2 && start + from < expression.end + 1,
  )
}
