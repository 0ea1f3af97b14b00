import { type Env, envValue } from './environment.js'

/** Whether the arguments or the environment request JSON errors; used before, or instead of, a full parse. */
export function asksForJson(argv: readonly string[], env: Env): boolean {
  const end = argv.indexOf('--')
  const own = end === -1 ? argv : argv.slice(0, end)
  if (own.includes('--json')) return true
  const at = own.indexOf('--format')
  const inline = own.find((word) => word.startsWith('--format='))?.slice('--format='.length)
  const format = (at === -1 ? inline : own[at + 1]) ?? envValue(env, 'KS_FORMAT')
  return format === 'json' || format === 'jsonl'
}
