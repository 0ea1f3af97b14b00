import ts from 'typescript'
import { expect, test } from 'vitest'
import { filesBelow, readFile } from './tree.js'

const MAX_PARAMETERS = 4

/** The functions, methods and function types of a source text with too many parameters; `this` is not counted. */
function findLongParameterLists(path: string, text: string): string[] {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest)
  const found: string[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node)) {
      const count = node.parameters.filter(({ name }) => name.getText(source) !== 'this').length
      const { line } = source.getLineAndCharacterOfPosition(node.getStart(source))
      if (count > MAX_PARAMETERS) found.push(`${path}:${line + 1} has ${count} parameters`)
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return found
}

const found = filesBelow('src')
  .filter((path) => /\.tsx?$/.test(path))
  .flatMap((path) => findLongParameterLists(path, readFile(path)))

test('a function has at most four positional parameters', () => {
  expect(found).toEqual([])
})

test('parameters of functions, methods, constructors and function types are counted, without this', () => {
  const text = `
    function f(this: Date, a: 1, b: 2, c: 3, d: 4) {}
    const g = (a: 1, b: 2, c: 3, d: 4, e: 5) => a
    interface H { m(a: 1, b: 2, c: 3, d: 4, e: 5): void }
    class C { constructor(a: 1, b: 2, c: 3, d: 4, { e }: { e: 5 }) {} }
    type T = (a: 1, b: 2, c: 3, d: 4, ...e: 5[]) => void`
  expect(findLongParameterLists('a.ts', text)).toEqual([3, 4, 5, 6].map((line) => `a.ts:${line} has 5 parameters`))
})
