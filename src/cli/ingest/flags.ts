import * as Flags from '@oclif/core/flags'

/** Flags of file selection, for every command that takes folders. */
export const walkFlags = {
  glob: Flags.string({
    multiple: true,
    multipleNonGreedy: true,
    helpValue: 'pattern',
    description: 'only matching files',
  }),
  ignore: Flags.string({
    multiple: true,
    multipleNonGreedy: true,
    helpValue: 'pattern',
    description: 'exclude matching files and folders',
  }),
  'no-ignore': Flags.boolean({ description: 'do not apply .gitignore and .ksignore' }),
  hidden: Flags.boolean({ description: 'include files and folders whose names start with a dot' }),
}
