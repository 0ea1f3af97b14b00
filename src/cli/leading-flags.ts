import { commonFlags, spaceFlag } from './common-flags.js'

const FLAGS: Readonly<Record<string, { type: string; char?: string | undefined }>> = { ...commonFlags, ...spaceFlag }

/**
 * Splits a command line into the common flags before its command, and the rest. Unknown flags stay in the rest; without
 * a command, everything does.
 */
export function splitLeadingFlags(argv: readonly string[]): { leading: string[]; rest: string[] } {
  let index = 0
  for (let size = getFlagSize(argv[index]); size > 0; size = getFlagSize(argv[index])) index += size
  if (index >= argv.length) return { leading: [], rest: [...argv] }
  return { leading: argv.slice(0, index), rest: argv.slice(index) }
}

/** Number of words of a common flag with its value; 0 for other words. */
export function getFlagSize(word: string | undefined): number {
  const [, name = '', value] = /^(--?[a-z][\w-]*)(=.*)?$/s.exec(word ?? '') ?? []
  const flag = Object.entries(FLAGS).find(([id, { char }]) => name === `--${id}` || name === `-${char}`)?.[1]
  if (flag === undefined) return name === '--no-color' ? 1 : 0
  return flag.type === 'boolean' || value !== undefined ? 1 : 2
}
