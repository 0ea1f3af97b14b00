import ts from 'typescript'

/** A condition doubles the number of texts; no statement has this many conditional parts. */
const MOST_TEXTS = 512

/** An expression, and the values of the parameters of the functions around it. */
interface Bound {
  node: ts.Expression
  given: Given
}
type Given = ReadonlyMap<ts.Symbol, Bound>

/** Computes the possible values of expressions, as far as the source code contains them. */
export class Evaluator {
  readonly #checker: ts.TypeChecker
  readonly #calls = new Map<ts.Symbol, ts.CallExpression[]>()
  unknown: string[] = []
  #depth = 0

  constructor(checker: ts.TypeChecker, files: readonly ts.SourceFile[]) {
    this.#checker = checker
    const visit = (node: ts.Node): void => {
      const symbol = ts.isCallExpression(node) ? this.#symbolOf(node.expression) : undefined
      if (symbol !== undefined && ts.isCallExpression(node))
        this.#calls.set(symbol, [...(this.#calls.get(symbol) ?? []), node])
      ts.forEachChild(node, visit)
    }
    for (const file of files) visit(file)
  }

  /** Every text that an expression may evaluate to. */
  texts({ node, given }: Bound): string[] {
    if (this.#depth > 40) return this.#isUnknown(node)
    this.#depth += 1
    const found = this.#texts(node, given)
    this.#depth -= 1
    if (found.length > MOST_TEXTS) throw new Error(`more than ${MOST_TEXTS} texts: ${node.getText()}`)
    return [...new Set(found)]
  }

  /** The values of loop variables around a node, for loops over literal lists. */
  turns(node: ts.Node): Given[] {
    for (let at = node.parent; at !== undefined; at = at.parent) {
      if (ts.isFunctionLike(at)) break
      if (!ts.isForOfStatement(at) || !ts.isVariableDeclarationList(at.initializer)) continue
      const name = at.initializer.declarations[0]?.name
      const elements = this.#lists({ node: at.expression, given: new Map() })
      if (name !== undefined && elements.length > 0) return elements.map((element) => this.#bind(name, element))
    }
    return [new Map()]
  }

  /** The elements of a literal list. */
  #lists({ node, given }: Bound): Bound[] {
    if (ts.isAsExpression(node) || ts.isSatisfiesExpression(node)) return this.#lists({ node: node.expression, given })
    if (ts.isArrayLiteralExpression(node)) return node.elements.map((element) => ({ node: element, given }))
    if (ts.isCallExpression(node) && /^Object\.(entries|values|keys)$/.test(node.expression.getText())) return []
    return this.#sources(node, given).flatMap((source) => this.#lists(source))
  }

  #bind(name: ts.BindingName, { node, given }: Bound): Given {
    const names = ts.isArrayBindingPattern(name) ? name.elements : [{ name }]
    const values = ts.isArrayBindingPattern(name) ? this.#lists({ node, given }) : [{ node, given }]
    const bound = new Map(given)
    names.forEach((element, place) => {
      const symbol = 'name' in element ? this.#checker.getSymbolAtLocation(element.name) : undefined
      const value = values[place]
      if (symbol !== undefined && value !== undefined) bound.set(symbol, value)
    })
    return bound
  }

  #texts(node: ts.Expression, given: Given): string[] {
    if (ts.isStringLiteralLike(node) || ts.isNumericLiteral(node)) return [node.text]
    if (ts.isParenthesizedExpression(node) || ts.isAsExpression(node) || ts.isSatisfiesExpression(node))
      return this.texts({ node: node.expression, given })
    if (ts.isTemplateExpression(node))
      return node.templateSpans.reduce<string[]>(
        (heads, { expression, literal }) => {
          const parts = this.texts({ node: expression, given })
          return heads.flatMap((head) => parts.map((part) => head + part + literal.text))
        },
        [node.head.text],
      )
    if (ts.isConditionalExpression(node))
      return [node.whenTrue, node.whenFalse].flatMap((branch) => this.texts({ node: branch, given }))
    if (ts.isCallExpression(node)) return this.#ofCall(node, given)
    const sources = this.#sources(node, given)
    if (sources.length > 0) return sources.flatMap((source) => this.texts(source))
    return this.#ofType(node)
  }

  /** The initializer of a name, a property or an element. */
  #sources(node: ts.Expression, given: Given): Bound[] {
    if (ts.isAsExpression(node) || ts.isParenthesizedExpression(node) || ts.isSatisfiesExpression(node))
      return this.#sources(node.expression, given)
    if (ts.isIdentifier(node)) return this.#ofName(node, given)
    if (ts.isPropertyAccessExpression(node))
      return this.#objects({ node: node.expression, given }).flatMap(({ node: object, given: inner }) =>
        members(object)
          .filter(({ name }) => name === node.name.text)
          .map(({ value }) => ({ node: value, given: inner })),
      )
    if (ts.isElementAccessExpression(node))
      return this.#objects({ node: node.expression, given }).flatMap(({ node: object, given: inner }) =>
        members(object).map(({ value }) => ({ node: value, given: inner })),
      )
    return []
  }

  #ofName(node: ts.Identifier, given: Given): Bound[] {
    const symbol = this.#symbolOf(node)
    const declared = symbol?.valueDeclaration
    if (symbol === undefined || declared === undefined) return []
    const bound = given.get(symbol)
    if (bound !== undefined) return [bound]
    if (ts.isVariableDeclaration(declared) && declared.initializer !== undefined)
      return [{ node: declared.initializer, given }]
    if (ts.isBindingElement(declared)) return this.#ofPart(declared, given)
    if (ts.isParameter(declared)) return this.#ofParameter(declared)
    return []
  }

  /** `const { column } = OBJECT` */
  #ofPart(declared: ts.BindingElement, given: Given): Bound[] {
    const whole = declared.parent.parent
    const name = (declared.propertyName ?? declared.name).getText()
    const wholes = ts.isParameter(whole)
      ? this.#ofParameter(whole)
      : ts.isVariableDeclaration(whole) && whole.initializer !== undefined
        ? [{ node: whole.initializer, given }]
        : []
    return wholes
      .flatMap((one) => this.#objects(one))
      .flatMap(({ node, given: inner }) =>
        members(node)
          .filter((member) => member.name === name)
          .map(({ value }) => ({ node: value, given: inner })),
      )
  }

  /** The arguments of all callers. */
  #ofParameter(declared: ts.ParameterDeclaration): Bound[] {
    const called = this.#symbolOfFunction(declared.parent)
    const place = declared.parent.parameters.indexOf(declared)
    const calls = called === undefined ? [] : (this.#calls.get(called) ?? [])
    const values = calls.map((call) => call.arguments[place] ?? declared.initializer)
    return values.flatMap((node) => (node === undefined ? [] : [{ node, given: new Map() }]))
  }

  /** The object literals that an expression may evaluate to. */
  #objects({ node, given }: Bound): Bound[] {
    if (ts.isObjectLiteralExpression(node)) return [{ node, given }]
    if (ts.isConditionalExpression(node))
      return [node.whenTrue, node.whenFalse].flatMap((branch) => this.#objects({ node: branch, given }))
    if (ts.isCallExpression(node)) {
      const made = this.#called(node)
      return made === undefined ? [] : returned(made).flatMap((one) => this.#objects({ node: one, given }))
    }
    return this.#sources(node, given).flatMap((source) => this.#objects(source))
  }

  #ofCall(node: ts.CallExpression, given: Given): string[] {
    const { expression } = node
    if (ts.isPropertyAccessExpression(expression) && expression.name.text === 'join')
      return this.#ofJoin(expression.expression, node.arguments[0], given)
    if (ts.isPropertyAccessExpression(expression) && expression.name.text === 'replace')
      return this.#replaced(node, given)
    const made = this.#called(node)
    if (made === undefined || !('body' in made)) return this.#ofType(node)
    return this.#ofFunction(
      made,
      node.arguments.map((argument) => ({ node: argument, given })),
    )
  }

  #called({ expression }: ts.CallExpression): ts.SignatureDeclaration | undefined {
    const declared = this.#symbolOf(expression)?.valueDeclaration
    const made = declared !== undefined && ts.isVariableDeclaration(declared) ? declared.initializer : declared
    return made !== undefined && ts.isFunctionLike(made) ? made : undefined
  }

  #ofFunction(made: ts.SignatureDeclaration, values: readonly Bound[]): string[] {
    const given = new Map<ts.Symbol, Bound>()
    made.parameters.forEach((parameter, place) => {
      const symbol = this.#checker.getSymbolAtLocation(parameter.name)
      const value = values[place] ?? (parameter.initializer && { node: parameter.initializer, given: new Map() })
      if (symbol !== undefined && value !== undefined) given.set(symbol, value)
    })
    return returned(made).flatMap((node) => this.texts({ node, given }))
  }

  /** `TEXT.replace('a', 'b')` */
  #replaced({ expression, arguments: [from, to] }: ts.CallExpression, given: Given): string[] {
    if (!ts.isPropertyAccessExpression(expression) || from === undefined || to === undefined) return []
    const [pattern = ''] = this.texts({ node: from, given })
    const [by = ''] = this.texts({ node: to, given })
    return this.texts({ node: expression.expression, given }).map((text) => text.replace(pattern, () => by))
  }

  /** A list of values is tried with two. */
  #ofJoin(list: ts.Expression, separator: ts.Expression | undefined, given: Given): string[] {
    const [between = ', '] = separator === undefined ? [','] : this.texts({ node: separator, given })
    const elements = this.#elements({ node: list, given })
    if (elements === undefined) return this.#isUnknown(list)
    return elements
      .reduce<string[][]>((heads, parts) => heads.flatMap((head) => parts.map((part) => [...head, part])), [[]])
      .map((parts) => parts.join(between))
  }

  /** The texts of each element of a list. */
  #elements({ node, given }: Bound): string[][] | undefined {
    if (ts.isArrayLiteralExpression(node))
      return node.elements.flatMap((element) =>
        ts.isSpreadElement(element)
          ? (this.#elements({ node: element.expression, given }) ?? [])
          : [this.texts({ node: element, given })],
      )
    if (ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression)) {
      const { name, expression } = node.expression
      const [arrow] = node.arguments
      if (name.text === 'filter') return this.#elements({ node: expression, given })
      if (name.text === 'map' && arrow !== undefined && ts.isArrowFunction(arrow))
        return this.#mapped(expression, arrow, given)
      if (name.text === 'keys' && node.arguments[0] !== undefined)
        return this.#objects({ node: node.arguments[0], given }).flatMap((object) =>
          members(object.node).map((member) => [member.name]),
        )
    }
    for (const source of this.#sources(node, given)) {
      const found = this.#elements(source)
      if (found !== undefined) return found
    }
    return undefined
  }

  #mapped(list: ts.Expression, arrow: ts.ArrowFunction, given: Given): string[][] {
    const [parameter] = arrow.parameters
    const symbol = parameter && this.#checker.getSymbolAtLocation(parameter.name)
    const elements = symbol === undefined ? undefined : this.#elements({ node: list, given })
    const body = returned(arrow)
    if (symbol === undefined || elements === undefined) {
      const texts = body.flatMap((node) => this.texts({ node, given })).slice(0, 1)
      return [texts, texts]
    }
    return elements.map((texts) =>
      texts.flatMap((text) => {
        const value = { node: ts.factory.createStringLiteral(text), given: new Map() }
        return body.flatMap((node) => this.texts({ node, given: new Map([...given, [symbol, value]]) }))
      }),
    )
  }

  /** The value by type only: one of several texts, or some number. */
  #ofType(node: ts.Expression): string[] {
    const type = this.#checker.getTypeAtLocation(node)
    const types = type.isUnion() ? type.types : [type]
    const texts = types.flatMap((one) => (one.isStringLiteral() || one.isNumberLiteral() ? [String(one.value)] : []))
    if (texts.length === types.length && texts.length > 0) return texts
    return type.flags & ts.TypeFlags.NumberLike ? ['1'] : this.#isUnknown(node)
  }

  #isUnknown(node: ts.Node): string[] {
    this.unknown.push(node.getText())
    return ['']
  }

  #symbolOf(node: ts.Node): ts.Symbol | undefined {
    const symbol = ts.isShorthandPropertyAssignment(node.parent)
      ? this.#checker.getShorthandAssignmentValueSymbol(node.parent)
      : this.#checker.getSymbolAtLocation(node)
    return symbol !== undefined && symbol.flags & ts.SymbolFlags.Alias ? this.#checker.getAliasedSymbol(symbol) : symbol
  }

  #symbolOfFunction(made: ts.SignatureDeclaration): ts.Symbol | undefined {
    const named = made.name ?? (ts.isVariableDeclaration(made.parent) ? made.parent.name : undefined)
    return named === undefined ? undefined : this.#checker.getSymbolAtLocation(named)
  }
}

function members(node: ts.Node): { name: string; value: ts.Expression }[] {
  if (!ts.isObjectLiteralExpression(node)) return []
  return node.properties.flatMap((property) => {
    if (ts.isPropertyAssignment(property)) {
      const name = ts.isStringLiteral(property.name) ? property.name.text : property.name.getText()
      return [{ name, value: property.initializer }]
    }
    return ts.isShorthandPropertyAssignment(property) ? [{ name: property.name.text, value: property.name }] : []
  })
}

/** The return values of a function. */
function returned(made: ts.SignatureDeclaration): ts.Expression[] {
  const body = 'body' in made ? made.body : undefined
  if (body === undefined) return []
  if (!ts.isBlock(body)) return [body as ts.Expression]
  const found: ts.Expression[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isReturnStatement(node) && node.expression !== undefined) found.push(node.expression)
    else if (!ts.isFunctionLike(node)) ts.forEachChild(node, visit)
  }
  ts.forEachChild(body, visit)
  return found
}
