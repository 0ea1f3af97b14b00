import { parseArgs } from 'node:util'
import type { SendMessageOptions } from './send.js'

const text = { type: 'string' } as const
const strings = { type: 'string', multiple: true } as const
const flag = { type: 'boolean' } as const

/** The options of `kchat send`, as declared in `program.ts`. */
export const SEND_OPTIONS = {
  url: text,
  context: text,
  format: text,
  json: flag,
  fields: text,
  jq: text,
  template: text,
  'no-pager': flag,
  'no-header': flag,
  'no-truncate': flag,
  quiet: { ...flag, short: 'q' },
  verbose: { ...flag, short: 'v' },
  color: flag,
  'no-color': flag,
  timeout: text,
  'no-autostart': flag,
  debug: flag,
  app: text,
  user: text,
  conversation: text,
  input: strings,
  image: strings,
  file: strings,
  blocking: flag,
  thoughts: flag,
  sources: flag,
  'no-name': flag,
  speak: flag,
  output: { ...text, short: 'o' },
} as const

/**
 * Parses `kchat send` without the full command parser, whose loading takes a quarter of the time to the first answer.
 *
 * @returns undefined for cases of the full parser: other commands, help, mistakes
 */
export function parseSend(argv: readonly string[]): { query: string; options: SendMessageOptions } | undefined {
  const [command, ...args] = argv
  if (command !== 'send') return undefined
  try {
    const { values, positionals } = parseArgs({ args, options: SEND_OPTIONS, allowPositionals: true })
    const [query, ...more] = positionals
    if (query === undefined || more.length > 0) return undefined
    return { query, options: applyNegations(values) }
  } catch {
    return undefined
  }
}

/** `--no-name` is the option `name` with the value false. */
function applyNegations(values: Record<string, unknown>): SendMessageOptions {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => (name.startsWith('no-') ? [name.slice(3), false] : [name, value])),
  )
}
