import * as Flags from '@oclif/core/flags'
import { LIMITS } from '../../contract/limits.js'
import { usageError } from '../cli-error.js'
import { parseSpan } from '../units.js'
import type { WatchRules } from './rules.js'

const ON_DELETE = ['remove', 'keep'] as const

/** What `ks watch` and `ks watch add` have in common. */
export const watchFlags = {
  glob: Flags.string({
    multiple: true,
    multipleNonGreedy: true,
    helpValue: 'pattern',
    description: 'only files it names',
  }),
  ignore: Flags.string({
    multiple: true,
    multipleNonGreedy: true,
    helpValue: 'pattern',
    description: 'leave these out',
  }),
  'no-ignore': Flags.boolean({ description: 'do not heed .gitignore and .ksignore' }),
  hidden: Flags.boolean({ description: 'also files and folders that begin with a dot' }),
  'on-delete': Flags.option({
    options: ON_DELETE,
    default: 'remove' as const,
    description: 'what becomes of the document of a deleted file',
  })(),
  poll: Flags.string({
    helpValue: '2s',
    description: 'ask the disk so often, in place of waiting for its events',
  }),
  'accept-missing': Flags.boolean({
    description: 'take files as deleted that another disk in their place does not have',
  }),
}

/** @param ignore patterns of the project file */
export function rulesOf(
  flags: { glob?: string[] | undefined; ignore?: string[] | undefined; hidden: boolean; 'no-ignore': boolean },
  ignore: readonly string[],
): WatchRules {
  return {
    glob: flags.glob ?? [],
    ignore: [...ignore, ...(flags.ignore ?? [])],
    hidden: flags.hidden,
    ignoreFiles: !flags['no-ignore'],
  }
}

/** The value of `--poll` in milliseconds. @throws CliError exit 2 */
export function pollMsOf(flag: string | undefined): number | undefined {
  if (flag === undefined) return undefined
  const ms = parseSpan(flag, '--poll')
  if (ms >= LIMITS.pollMs.min && ms <= LIMITS.pollMs.max) return ms
  throw usageError(`--poll must be between 1s and 1h, received ${JSON.stringify(flag)}`)
}
