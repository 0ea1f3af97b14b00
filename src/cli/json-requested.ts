import { type Env, getEnvValue } from './environment.js'

/** Whether the arguments or the environment request JSON errors; used before, or instead of, a full parse. */
export function isJsonRequested(argv: readonly string[], env: Env): boolean {
  const end = argv.indexOf('--')
  const options = end === -1 ? argv : argv.slice(0, end)
  if (options.includes('--json')) return true
  const index = options.indexOf('--format')
  const inline = options.find((word) => word.startsWith('--format='))?.slice('--format='.length)
  const format = (index === -1 ? inline : options[index + 1]) ?? getEnvValue(env, 'KS_FORMAT')
  return format === 'json' || format === 'jsonl'
}
