import * as Flags from '@oclif/core/flags'
import type { WatchRules } from './rules.js'

const ON_DELETE = ['remove', 'keep'] as const

/** What `ks watch` and `ks watch add` have in common. */
export const watchFlags = {
  glob: Flags.string({
    ...{ multiple: true, multipleNonGreedy: true, helpValue: 'pattern', description: 'only files it names' },
  }),
  ignore: Flags.string({
    ...{ multiple: true, multipleNonGreedy: true, helpValue: 'pattern', description: 'leave these out' },
  }),
  'no-ignore': Flags.boolean({ description: 'do not heed .gitignore and .ksignore' }),
  hidden: Flags.boolean({ description: 'also files and folders that begin with a dot' }),
  'on-delete': Flags.option({
    options: ON_DELETE,
    default: 'remove' as const,
    description: 'what becomes of the document of a deleted file',
  })(),
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
