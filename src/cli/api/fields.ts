import { usageError } from '../cli-error.js'
import { readInputFile } from '../input-file.js'

/** Fields of `ks api`: values by key. */
export type ApiFields = Record<string, unknown>

/**
 * Parses `key=value` pairs. `a[b]=c` sets a key of an object, `a[]=c` appends to a list.
 *
 * @param typed values that become JSON: numbers, `true`, `false` and `null`; `@file` is the content of a file
 * @param raw values that stay text
 * @throws CliError exit 2
 */
export function parseApiFields(typed: readonly string[], raw: readonly string[]): ApiFields {
  const fields: ApiFields = {}
  for (const field of typed) assign(fields, splitField(field, '-F'), parseTyped)
  for (const field of raw) assign(fields, splitField(field, '-f'), (value) => value)
  return fields
}

function splitField(field: string, flag: string): [string, string] {
  const index = field.indexOf('=')
  if (index < 1) throw usageError(`${flag} must be key=value, received ${JSON.stringify(field)}`)
  return [field.slice(0, index), field.slice(index + 1)]
}

function assign(fields: ApiFields, [key, value]: [string, string], parse: (value: string) => unknown): void {
  const [, name = key, rest = ''] = /^([^[\]]+)((?:\[[^[\]]*\])*)$/.exec(key) ?? []
  const path = [name, ...[...rest.matchAll(/\[([^[\]]*)\]/g)].map((match) => match[1] ?? '')]
  let target: Record<string, unknown> | unknown[] = fields
  for (const [index, part] of path.entries()) {
    const next = path[index + 1]
    const child: unknown = next === undefined ? parse(value) : next === '' ? [] : {}
    target = putChild(target, part, child, key)
  }
}

/** Puts a value into a list or object, and returns the container for the next part of a key. */
function putChild(
  target: Record<string, unknown> | unknown[],
  part: string,
  child: unknown,
  key: string,
): Record<string, unknown> | unknown[] {
  if (Array.isArray(target)) {
    if (part !== '') throw usageError(`${JSON.stringify(key)} uses a list as an object: \`[]\` appends to a list`)
    target.push(child)
    return isContainer(child) ? child : target
  }
  const existing = target[part]
  if (isContainer(child) && isContainer(existing)) {
    if (Array.isArray(child) !== Array.isArray(existing))
      throw usageError(`${JSON.stringify(key)} is a list in one field and an object in another`)
    return existing
  }
  target[part] = child
  return isContainer(child) ? child : target
}

function isContainer(value: unknown): value is Record<string, unknown> | unknown[] {
  return typeof value === 'object' && value !== null
}

function parseTyped(value: string): unknown {
  if (value === 'true') return true
  if (value === 'false') return false
  if (value === 'null') return null
  if (value.startsWith('@')) return readInputFile(value.slice(1), 'the value of a field')
  return /^-?\d{1,15}(\.\d+)?$/.test(value) ? Number(value) : value
}
