import type { Config } from '@oclif/core/config'
import { normalizeArgv } from '@oclif/core/help'
import { run } from '@oclif/core/run'
import { resolveLocalDirs } from '../local/dirs.js'
import { resolveAlias } from './aliases.js'
import { replaceMovedCommand } from './command-not-found.js'
import { reportFailure } from './fail.js'
import { loadFullConfig } from './full-config.js'
import { guardOutput } from './guard-output.js'
import { splitLeadingFlags } from './leading-flags.js'

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
    config = await loadFullConfig(root)
    const { commandIDs } = config
    const isCommand = (word: string) => commandIDs.some((id) => id === word || id.startsWith(`${word}:`))
    const { leading, rest } = splitLeadingFlags(argv)
    const words = replaceMovedCommand(resolveAlias(rest, resolveLocalDirs().config, isCommand) ?? rest)
    const [id, ...args] = normalizeArgv(config, words)
    await run(leading.length === 0 || id === undefined ? words : [id, ...leading, ...args], config)
  } catch (error) {
    process.exitCode = await reportFailure(error, argv, () => config?.commandIDs ?? [])
  }
}
