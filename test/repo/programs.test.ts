import { resolve } from 'node:path'
import ts from 'typescript'
import { beforeAll, describe, expect, it } from 'vitest'

const ROOT = resolve(import.meta.dirname, '../..')

/** Functions that run their argument, whether it is a program or not. */
const DRIVERS = /\/store\/(database|sqlite-snapshot|write-reply|postgres\/postgres)\.ts$/

/** Positions of calls that create a program, and assignments of programs, found by types. */
interface Found {
  programs: number
  forgotten: string[]
  assigned: string[]
  /** programs that must run synchronously, which only SQLite can do */
  now: string[]
}

function project(): ts.Program {
  const config = ts.getParsedCommandLineOfConfigFile(resolve(ROOT, 'tsconfig.json'), undefined, {
    ...ts.sys,
    onUnRecoverableConfigFileDiagnostic: () => undefined,
  })
  if (config === undefined) throw new Error('tsconfig.json cannot be read')
  return ts.createProgram(config.fileNames, { ...config.options, noEmit: true })
}

/** Whether a type is a program: a generator of statements (`src/engine/store/program.ts`). */
function isProgram(checker: ts.TypeChecker, type: ts.Type): boolean {
  if (type.isUnion()) return type.types.some((one) => isProgram(checker, one))
  if (type.getSymbol()?.getName() !== 'Generator') return false
  const [yielded] = checker.getTypeArguments(type as ts.TypeReference)
  const names = (one: ts.Type): string[] =>
    one.isUnion() ? one.types.flatMap(names) : [one.getSymbol()?.getName() ?? '']
  return yielded !== undefined && names(yielded).some((name) => name === 'ReadStatement' || name === 'WriteStatement')
}

/** The outermost expression with the same value: parentheses, branches of a condition, assertions. */
function outermost(node: ts.Expression): ts.Expression {
  const { parent } = node
  const goesOn =
    ts.isParenthesizedExpression(parent) ||
    ts.isAsExpression(parent) ||
    (ts.isConditionalExpression(parent) && parent.condition !== node)
  return goesOn ? outermost(parent) : node
}

function functionAround(node: ts.Node): ts.SignatureDeclaration | undefined {
  for (let at = node.parent; at !== undefined; at = at.parent) if (ts.isFunctionLike(at)) return at
  return undefined
}

function isGenerator(node: ts.SignatureDeclaration | undefined): boolean {
  return node !== undefined && 'asteriskToken' in node && node.asteriskToken !== undefined
}

/** Whether the program of a call is run or passed on. */
function isUsed(checker: ts.TypeChecker, call: ts.CallExpression): boolean {
  const whole = outermost(call)
  const { parent } = whole
  if (ts.isYieldExpression(parent)) return parent.asteriskToken !== undefined
  if (ts.isArrowFunction(parent)) return parent.body === whole
  if (ts.isReturnStatement(parent)) return !isGenerator(functionAround(parent))
  if (!ts.isCallExpression(parent)) return false
  // A parameter with the type of a program runs it.
  if (isProgram(checker, checker.getTypeAtLocation(parent))) return true
  return ts.isPropertyAccessExpression(parent.expression) && ['read', 'now'].includes(parent.expression.name.text)
}

/** Whether a program is run at once. */
function isNow(call: ts.CallExpression): boolean {
  const { parent } = outermost(call)
  if (!ts.isCallExpression(parent) || !ts.isPropertyAccessExpression(parent.expression)) return false
  return ['now', 'writeNow'].includes(parent.expression.name.text)
}

const ASSIGNING = new Set<ts.SyntaxKind>()
for (let kind = ts.SyntaxKind.FirstAssignment; kind <= ts.SyntaxKind.LastAssignment; kind++) ASSIGNING.add(kind)

/** The target of an assignment or increment. */
function target(node: ts.Node): ts.Expression | undefined {
  if (ts.isBinaryExpression(node) && ASSIGNING.has(node.operatorToken.kind)) return node.left
  const isStep = ts.isPrefixUnaryExpression(node) || ts.isPostfixUnaryExpression(node)
  const steps = [ts.SyntaxKind.PlusPlusToken, ts.SyntaxKind.MinusMinusToken]
  return isStep && steps.includes(node.operator) ? node.operand : undefined
}

/** Whether the target is outside of the function: a field of `this`, or a variable declared around it. */
function isOutside(checker: ts.TypeChecker, assigned: ts.Expression, program: ts.Node): boolean {
  let root = assigned
  while (ts.isPropertyAccessExpression(root) || ts.isElementAccessExpression(root)) root = root.expression
  if (root.kind === ts.SyntaxKind.ThisKeyword) return true
  if (!ts.isIdentifier(root)) return false
  const declared = checker.getSymbolAtLocation(root)?.valueDeclaration
  for (let at: ts.Node | undefined = declared; at !== undefined; at = at.parent) if (at === program) return false
  return declared !== undefined
}

function look(program: ts.Program): Found {
  const checker = program.getTypeChecker()
  const found: Found = { programs: 0, forgotten: [], assigned: [], now: [] }
  for (const file of program.getSourceFiles()) {
    if (!file.fileName.includes('/src/') || file.isDeclarationFile || DRIVERS.test(file.fileName)) continue
    const placeOf = (node: ts.Node) => {
      const { line } = file.getLineAndCharacterOfPosition(node.getStart())
      return `${file.fileName.slice(ROOT.length + 1)}:${line + 1}`
    }
    const visit = (node: ts.Node, around: ts.Node | undefined): void => {
      if (ts.isCallExpression(node) && isProgram(checker, checker.getTypeAtLocation(node))) {
        found.programs++
        if (isNow(node) && !file.fileName.includes('/engine/store/')) found.now.push(placeOf(node))
        if (!isUsed(checker, node)) found.forgotten.push(placeOf(node))
      }
      const assigned = around === undefined ? undefined : target(node)
      if (around !== undefined && assigned !== undefined && isOutside(checker, assigned, around))
        found.assigned.push(placeOf(node))
      let inside = around
      if (ts.isFunctionLike(node) && isGenerator(node)) {
        const signature = checker.getSignatureFromDeclaration(node)
        inside = signature && isProgram(checker, signature.getReturnType()) ? node : undefined
      }
      ts.forEachChild(node, (child) => visit(child, inside))
    }
    visit(file, undefined)
  }
  return found
}

describe('SQL programs', () => {
  let found: Found

  beforeAll(() => {
    found = look(project())
  }, 600_000)

  it('number more than a thousand, so that this check finds them', () => {
    expect(found.programs).toBeGreaterThan(1000)
  })

  it('must be run with `yield*` where they are created, or passed to a driver', () => {
    expect(found.forgotten).toEqual([])
  })

  it('must be awaited by all callers, since a database server does not answer synchronously', () => {
    expect(found.now).toEqual([])
  })

  it('assign no variable outside of themselves, since a driver may run them again', () => {
    expect(found.assigned).toEqual([])
  })
})
