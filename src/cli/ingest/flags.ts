import * as Flags from '@oclif/core/flags'

/** Which files of a folder count, for every command that takes folders. */
export const walkFlags = {
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
}
