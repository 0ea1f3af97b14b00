import { checkAlias, readAliases, withoutAlias, writeAliases } from '../cli/aliases.js'
import { CliError } from '../cli/cli-error.js'
import { EXIT } from '../contract/errors.js'
import { localDirs } from '../local/dirs.js'
import type { Common } from './options.js'
import { outputOf, printList } from './output.js'

/** `kchat alias`: short names of a user, as `ks` has them, in a file of their own. */

/** The command line, or what an alias at its beginning stands for. @param commands names that are no aliases */
export function meant(argv: readonly string[], commands: ReadonlySet<string>): string[] {
  return withoutAlias(argv, localDirs().config, (word) => commands.has(word), 'kchat') ?? [...argv]
}

export async function listAliases(options: Common): Promise<void> {
  const all = Object.entries(readAliases(localDirs().config, 'kchat')).map(([name, command]) => ({ name, command }))
  await printList(all, options, {
    columns: [{ field: 'name' }, { field: 'command' }],
    empty: 'No aliases yet.',
    hint: "`kchat alias set NAME 'send $1 --conversation last'` makes one",
  })
}

export function setAlias(name: string, command: string, commands: ReadonlySet<string>, options: Common): void {
  checkAlias(name, command, commands, 'kchat')
  const { config } = localDirs()
  writeAliases(config, { ...readAliases(config, 'kchat'), [name]: command }, 'kchat')
  outputOf(options).note(`\`kchat ${name}\` is \`kchat ${command}\` from now on.`)
}

export function deleteAlias(name: string, options: Common): void {
  const { config } = localDirs()
  const { [name]: command, ...others } = readAliases(config, 'kchat')
  if (command === undefined)
    throw new CliError(`there is no alias ${JSON.stringify(name)}`, {
      code: 'not-found',
      exit: EXIT.notFound,
      hint: '`kchat alias` lists them',
    })
  writeAliases(config, others, 'kchat')
  outputOf(options).note(`Removed ${name}.`)
}
