import { parseJson } from '../lib/json/values.js'
import { readAbsolutePaths, readNonEmptyText, readRecord } from './setting-readers.js'

/** A program of this machine that converts files of unsupported types. It is started without a shell. */
export interface ConverterSetting {
  /** file endings without a dot, and media types */
  types: string[]
  /**
   * the program and its arguments; `{input}` is the file, `{outdir}` the folder for its output; without `{outdir}` its
   * standard output is used
   */
  argv: string[]
  /** additional files and folders that it may read */
  paths?: string[]
}

const CONVERTER_KEYS: readonly string[] = ['types', 'argv', 'paths']

/** Reads a list of converters. @throws Error with the rule */
export function readConverters(value: unknown): readonly ConverterSetting[] {
  const list: unknown = typeof value === 'string' ? parseJson(value) : value
  if (!Array.isArray(list)) throw new Error('a list of converters (in the environment: as JSON)')
  return list.map(readConverter)
}

function readConverter(value: unknown): ConverterSetting {
  const fields = readRecord(value, 'a list of objects')
  const unknownKey = Object.keys(fields).find((key) => !CONVERTER_KEYS.includes(key))
  if (unknownKey !== undefined) throw new Error(`a list of converters without the key ${JSON.stringify(unknownKey)}`)
  const argv = readTextList(fields.argv, 'argv as a list of texts, the program first')
  if (!argv.slice(1).some((argument) => argument.includes('{input}'))) throw new Error('argv with an argument {input}')
  const types = readTextList(fields.types, 'types as a list of endings such as wpd, or media types')
  const setting: ConverterSetting = { types: types.map((type) => type.toLowerCase().replace(/^\./, '')), argv }
  if (fields.paths !== undefined) setting.paths = readAbsolutePaths(fields.paths, 'paths')
  return setting
}

function readTextList(value: unknown, rule: string): string[] {
  if (!Array.isArray(value) || value.length === 0) throw new Error(rule)
  try {
    return value.map(readNonEmptyText)
  } catch {
    throw new Error(rule)
  }
}
