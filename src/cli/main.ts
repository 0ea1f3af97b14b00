import type { Config } from '@oclif/core/config'
import { run } from '@oclif/core/run'
import { localDirs } from '../local/dirs.js'
import { withoutAlias } from './aliases.js'
import { fail } from './fail.js'
import { guardOutput } from './guard-output.js'
import { wholeConfig } from './whole-config.js'

/**
 * Runs one command line from the compiled modules, if there is no bundle (`start.ts`), and sets the exit code. oclif
 * finds and parses the command; errors are reported here.
 *
 * @param root folder of package.json
 */
export async function main(argv: string[], root: string): Promise<void> {
  guardOutput('ks')
  let config: Config | undefined
  try {
    config = await wholeConfig(root)
    const { commandIDs } = config
    const isCommand = (word: string) => commandIDs.some((id) => id === word || id.startsWith(`${word}:`))
    await run(withoutAlias(argv, localDirs().config, isCommand) ?? argv, config)
  } catch (error) {
    process.exitCode = await fail(error, argv, () => config?.commandIDs ?? [])
  }
}
