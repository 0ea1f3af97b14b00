import { relative, resolve } from 'node:path'
import ts from 'typescript'
import { Evaluator } from './statement-texts.js'

/** A call with an SQL statement, and all texts of that statement. */
export interface Site {
  place: string
  texts: string[]
  /** parts of the text that are unknown before it runs */
  unknown: string[]
}

const ROOT = resolve(import.meta.dirname, '../..')
const VERBS = new Set(
  'get exists count all run returning inserted getAsStored allAsStored cellsAsStored getEach allEach runEach returningEach'.split(
    ' ',
  ),
)

/** Computes the texts of all statements of programs in a folder, with the compiler. */
export function statementSites(...folders: string[]): Site[] {
  const config = ts.getParsedCommandLineOfConfigFile(resolve(ROOT, 'tsconfig.json'), undefined, {
    ...ts.sys,
    onUnRecoverableConfigFileDiagnostic: () => undefined,
  })
  if (config === undefined) throw new Error('tsconfig.json cannot be read')
  const program = ts.createProgram(config.fileNames, { ...config.options, noEmit: true })
  const files = program.getSourceFiles().filter(({ fileName }) => fileName.startsWith(resolve(ROOT, 'src/engine')))
  const evaluator = new Evaluator(program.getTypeChecker(), files)
  return (
    files
      .filter(({ fileName }) => folders.some((folder) => fileName.startsWith(resolve(ROOT, folder))))
      // its functions pass on the texts of their callers
      .filter(({ fileName }) => fileName !== resolve(ROOT, 'src/engine/store/program.ts'))
      .flatMap((file) => sitesOf(file, evaluator))
  )
}

function sitesOf(file: ts.SourceFile, evaluator: Evaluator): Site[] {
  const sites: Site[] = []
  const visit = (node: ts.Node): void => {
    const text = ts.isCallExpression(node) ? askedText(node) : undefined
    if (text !== undefined) {
      evaluator.unknown = []
      const texts = [...new Set(evaluator.turns(node).flatMap((given) => evaluator.texts({ node: text, given })))]
      const line = file.getLineAndCharacterOfPosition(node.getStart()).line + 1
      sites.push({ place: `${relative(ROOT, file.fileName)}:${line}`, texts, unknown: [...new Set(evaluator.unknown)] })
    }
    ts.forEachChild(node, visit)
  }
  visit(file)
  return sites
}

/** The first argument of `sql.get(text, …)` and its variants. */
function askedText({ expression, arguments: given }: ts.CallExpression): ts.Expression | undefined {
  if (!ts.isPropertyAccessExpression(expression) || expression.expression.getText() !== 'sql') return undefined
  return VERBS.has(expression.name.text) ? given[0] : undefined
}
