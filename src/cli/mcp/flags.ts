import * as Flags from '@oclif/core/flags'

/** Flags of the commands that edit a client's configuration. */
export const installFlags = {
  project: Flags.boolean({ description: 'use the project file in the current folder instead of the user file' }),
  name: Flags.string({
    default: 'knowledge-spaces',
    helpValue: 'name',
    description: 'name of the server in the client',
  }),
}
