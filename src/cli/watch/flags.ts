import * as Flags from '@oclif/core/flags'
import { LIMITS } from '../../contract/limits.js'
import { usageError } from '../cli-error.js'
import { walkFlags } from '../ingest/flags.js'
import { parseSpan } from '../units.js'
import type { WatchRules } from './rules.js'

const ON_DELETE = ['remove', 'keep'] as const

/** Flags of both `ks watch` and `ks watch add`. */
export const watchFlags = {
  ...walkFlags,
  as: Flags.string({ helpValue: 'path', description: 'name of the folder in the space' }),
  'on-delete': Flags.option({
    options: ON_DELETE,
    default: 'remove' as const,
    description: 'what to do with the document of a deleted file',
  })(),
  poll: Flags.string({
    helpValue: '2s',
    description: 'poll the disk at this interval instead of waiting for its events',
  }),
  'accept-missing': Flags.boolean({
    description: 'treat files as deleted if another disk at their path does not have them',
  }),
}

/** Converts the flags to rules. @param ignore patterns of the project file */
export function toWatchRules(
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

/** Parses `--poll` to milliseconds. @throws CliError exit 2 */
export function parsePollMs(flag: string | undefined): number | undefined {
  if (flag === undefined) return undefined
  const ms = parseSpan(flag, '--poll')
  if (ms >= LIMITS.pollMs.min && ms <= LIMITS.pollMs.max) return ms
  throw usageError(`--poll must be between 1s and 1h, received ${JSON.stringify(flag)}`)
}
