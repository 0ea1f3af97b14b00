import { deleteAlias, readAliases, resolveAlias, setAlias } from '../cli/aliases.js'
import { resolveLocalDirs } from '../local/dirs.js'
import type { KchatOptions } from './options.js'
import { createOutput, printList } from './output.js'

/** Replaces an alias at the start of a command line by its command. @param commands names that cannot be aliases */
export function expandAlias(argv: readonly string[], commands: ReadonlySet<string>): string[] {
  return resolveAlias(argv, resolveLocalDirs().config, (word) => commands.has(word), 'kchat') ?? [...argv]
}

export async function listAliases(options: KchatOptions): Promise<void> {
  const aliases = Object.entries(readAliases(resolveLocalDirs().config, 'kchat'))
  const entries = aliases.map(([name, command]) => ({ name, command }))
  await printList(entries, options, {
    columns: [{ field: 'name' }, { field: 'command' }],
    empty: 'No aliases yet.',
    hint: "`kchat alias set NAME 'send $1 --conversation last'` creates one",
  })
}

export function createAlias(name: string, command: string, commands: ReadonlySet<string>, options: KchatOptions): void {
  setAlias(resolveLocalDirs().config, { name, command }, commands, 'kchat')
  createOutput(options).note(`\`kchat ${name}\` now runs \`kchat ${command}\`.`)
}

export function removeAlias(name: string, options: KchatOptions): void {
  deleteAlias(resolveLocalDirs().config, name, 'kchat')
  createOutput(options).note(`Removed ${name}.`)
}
