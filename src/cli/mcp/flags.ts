import * as Flags from '@oclif/core/flags'

/** Flags of both commands that edit the configuration of a client. */
export const installFlags = {
  project: Flags.boolean({ description: 'the file of the project in the current folder, not that of the user' }),
  name: Flags.string({
    default: 'knowledge-spaces',
    helpValue: 'name',
    description: 'what the client calls the server',
  }),
}
