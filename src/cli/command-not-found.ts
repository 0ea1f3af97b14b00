import type { Hook } from '@oclif/core/interfaces'
import { CliError } from './cli-error.js'
import { nearest } from './nearest.js'

/** Unknown commands are refused with the nearest one as a hint; it is never run. */
export const commandNotFound: Hook<'command_not_found'> = async ({ id, config }) => {
  throw unknownCommand(id.split(':'), config.commandIDs)
}

/** The refusal of words that name no command. */
export function unknownCommand(words: string[], commandIds: string[]): CliError {
  const typed = words.join(' ')
  const names = commandIds.map((id) => id.replaceAll(':', ' '))
  const close = nearest(typed, names)
  return new CliError(`unknown command \`ks ${typed}\``, {
    code: 'usage',
    exit: 2,
    hint: close === undefined ? '`ks --help` lists the commands' : `did you mean \`ks ${close}\`?`,
  })
}
