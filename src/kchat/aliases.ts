import { checkAlias, readAliases, withoutAlias, writeAliases } from '../cli/aliases.js'
import { CliError } from '../cli/cli-error.js'
import { EXIT } from '../contract/errors.js'
import { localDirs } from '../local/dirs.js'
import type { Common } from './options.js'
import { outputOf, printList } from './output.js'

/** `kchat alias`: a user's short names, like those of `ks`, in a separate file. */

/** Replaces an alias at the start of a command line by its command. @param commands names that cannot be aliases */
export function meant(argv: readonly string[], commands: ReadonlySet<string>): string[] {
  return withoutAlias(argv, localDirs().config, (word) => commands.has(word), 'kchat') ?? [...argv]
}

export async function listAliases(options: Common): Promise<void> {
  const all = Object.entries(readAliases(localDirs().config, 'kchat')).map(([name, command]) => ({ name, command }))
  await printList(all, options, {
    columns: [{ field: 'name' }, { field: 'command' }],
    empty: 'No aliases yet.',
    hint: "`kchat alias set NAME 'send $1 --conversation last'` creates one",
  })
}

export function setAlias(name: string, command: string, commands: ReadonlySet<string>, options: Common): void {
  checkAlias(name, command, commands, 'kchat')
  const { config } = localDirs()
  writeAliases(config, { ...readAliases(config, 'kchat'), [name]: command }, 'kchat')
  outputOf(options).note(`\`kchat ${name}\` now runs \`kchat ${command}\`.`)
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
