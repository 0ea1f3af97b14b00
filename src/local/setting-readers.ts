import { isIP } from 'node:net'
import { isAbsolute } from 'node:path'
import { isRecord } from '../lib/json/values.js'
import { resolveLocalPath } from './local-path.js'

/*
 * Readers of single values from `config.json` or the text of an environment variable. The message of their errors is the
 * rule, which continues a sentence such as "listen must be".
 */

export function readText(value: unknown): string {
  if (typeof value !== 'string') throw new Error('a text')
  return value
}

export function readNonEmptyText(value: unknown): string {
  if (readText(value).trim() === '') throw new Error('a text that is not empty')
  return readText(value)
}

/** Reads the path of a file or folder, which may begin with `~` or an environment variable. */
export function readLocalPath(value: unknown): string {
  return resolveLocalPath(readNonEmptyText(value))
}

export function readWebAddress(value: unknown): string {
  if (!/^https?:\/\/\S+$/.test(readText(value))) throw new Error('an http or https URL')
  return readText(value)
}

export function createIntegerReader(min: number): (value: unknown) => number {
  return (value) => {
    const number = toNumber(value)
    if (!Number.isSafeInteger(number) || number < min) throw new Error(`an integer of at least ${min}`)
    return number
  }
}

export function toNumber(value: unknown): number {
  if (typeof value === 'number') return value
  return typeof value === 'string' && /^\d+(\.\d+)?$/.test(value) ? Number(value) : Number.NaN
}

export function readRecord(value: unknown, rule: string): Record<string, unknown> {
  if (!isRecord(value)) throw new Error(rule)
  return Object.fromEntries(Object.entries(value))
}

export function readTexts(value: unknown): readonly string[] {
  const list: unknown = typeof value === 'string' ? value.split(',') : value
  if (!Array.isArray(list) || !list.every((item) => typeof item === 'string'))
    throw new Error('a list of texts (in the environment: separated by commas)')
  return list.map((item) => item.trim()).filter((item) => item !== '')
}

/** Reads absolute paths of files and folders. @param rule name of the field */
export function readAbsolutePaths(value: unknown, rule: string): string[] {
  const list: unknown[] = Array.isArray(value) ? value : []
  const paths = list.map((item) => (typeof item === 'string' ? resolveLocalPath(item) : ''))
  if (!Array.isArray(value) || paths.some((path) => !isAbsolute(path) || path.includes('\0')))
    throw new Error(`${rule} as a list of absolute paths`)
  return paths
}

export function readAddressRanges(value: unknown): readonly string[] {
  const list = readTexts(value)
  const invalid = list.find((item) => {
    const [address = '', bits = '0', ...rest] = item.split('/')
    const maxBits = isIP(address) === 4 ? 32 : 128
    return isIP(address) === 0 || rest.length > 0 || !/^\d{1,3}$/.test(bits) || Number(bits) > maxBits
  })
  if (invalid === undefined) return list
  throw new Error(`addresses or ranges such as 10.0.0.0/8, not ${JSON.stringify(invalid)}`)
}

/** Reads origins in the form of a content security policy. */
export function readOrigins(value: unknown): readonly string[] {
  const list = readTexts(value)
  const invalid = list.find((item) => !/^https?:\/\/[a-z0-9.*[\]:-]+$/i.test(item))
  if (invalid === undefined) return list
  throw new Error(`origins such as https://www.example.com, not ${JSON.stringify(invalid)}`)
}

export function createChoiceReader<const T extends string>(choices: readonly T[]): (value: unknown) => T {
  return (value) => {
    const found = choices.find((choice) => choice === value)
    if (found === undefined) throw new Error(`one of ${choices.join(', ')}`)
    return found
  }
}

export function readFlag(value: unknown): boolean {
  if (typeof value === 'boolean') return value
  if (value === 'true' || value === '1') return true
  if (value === 'false' || value === '0') return false
  throw new Error('true or false')
}
