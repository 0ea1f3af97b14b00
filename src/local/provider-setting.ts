import { parseJson } from '../lib/json/values.js'
import { type ModelPrice, readModelPrices } from './model-prices.js'
import {
  createIntegerReader,
  readAbsolutePaths,
  readNonEmptyText,
  readRecord,
  readText,
  readWebAddress,
} from './setting-readers.js'

/** A program for speech or transcription, as the operator configured it. It is started without a shell. */
export interface ProgramSetting {
  /**
   * the program and its arguments with the placeholders `{input}`, `{output}`, `{voice}`, `{language}` and `{model}`
   */
  argv: string[]
  /** command that runs first, to convert the input to a form that the program reads; needs `{input}` and `{output}` */
  convert?: string[]
  /** additional files and folders that both may read */
  paths?: string[]
  /** default voice */
  voice?: string
  language?: string
}

/** A model provider, as the operator configured it. The operator decides where it is: loopback is allowed. */
export interface ProviderSetting {
  pluginId: string
  /** name in model references */
  provider: string
  /** with or without `/v1` at its end; programs of this machine have none */
  baseUrl?: string
  /** of a `command` provider: the programs for speech and transcription */
  speech?: ProgramSetting
  transcription?: ProgramSetting
  apiKey?: string
  /** environment variable that holds the key */
  apiKeyEnv?: string
  /** timeout of a complete call with its retries; of a streamed answer, of each pause; default 60 s */
  timeoutMs?: number
  /** timeout until a streamed answer begins; default `timeoutMs`, else 30 s */
  firstTokenTimeoutMs?: number
  /** timeout of background calls, such as those that read documents; default `timeoutMs`, else 300 s */
  ingestTimeoutMs?: number
  /** context windows of language models in tokens, by name; `*` for all others; default 8,192 */
  contextTokens?: Record<string, number>
  /** texts in one embedding request; default 64 */
  maxBatch?: number
  /** maximum of concurrent calls; default 4, and 64 answers of its models in addition */
  maxConcurrency?: number
  /** additional request headers; values are protected like the key */
  headers?: Record<string, string>
  /** by model; `*` for all others; a model without a price is free */
  prices?: Record<string, ModelPrice>
}

const PROVIDER_TEXTS = ['apiKey', 'apiKeyEnv'] as const
const PROVIDER_COUNTS = ['timeoutMs', 'firstTokenTimeoutMs', 'ingestTimeoutMs', 'maxBatch', 'maxConcurrency'] as const
const PROVIDER_KEYS: readonly string[] = [
  'pluginId',
  'provider',
  'baseUrl',
  'headers',
  'prices',
  'contextTokens',
  'speech',
  'transcription',
  ...PROVIDER_TEXTS,
  ...PROVIDER_COUNTS,
]

/** Reads a list of providers. @throws Error with the rule */
export function readProviders(value: unknown): readonly ProviderSetting[] {
  const list: unknown = typeof value === 'string' ? parseJson(value) : value
  if (!Array.isArray(list)) throw new Error('a list of providers (in the environment: as JSON)')
  return list.map(readProvider)
}

function readProvider(value: unknown): ProviderSetting {
  const fields = readRecord(value, 'a list of objects')
  const unknownKey = Object.keys(fields).find((key) => !PROVIDER_KEYS.includes(key))
  if (unknownKey !== undefined) throw new Error(`a list of providers without the key ${JSON.stringify(unknownKey)}`)
  const setting: ProviderSetting = {
    pluginId: readNonEmptyText(fields.pluginId),
    provider: readNonEmptyText(fields.provider),
    ...(fields.pluginId === 'command' ? {} : { baseUrl: readWebAddress(fields.baseUrl) }),
  }
  for (const key of ['speech', 'transcription'] as const)
    if (fields[key] !== undefined) setting[key] = readProgram(fields[key], key)
  for (const key of PROVIDER_TEXTS) if (fields[key] !== undefined) setting[key] = readNonEmptyText(fields[key])
  for (const key of PROVIDER_COUNTS) if (fields[key] !== undefined) setting[key] = createIntegerReader(1)(fields[key])
  if (fields.prices !== undefined) setting.prices = readModelPrices(fields.prices)
  if (fields.contextTokens !== undefined) setting.contextTokens = readContextTokens(fields.contextTokens)
  if (fields.headers !== undefined)
    setting.headers = Object.fromEntries(
      Object.entries(readRecord(fields.headers, 'headers as an object')).map(([name, header]) => [
        name,
        readText(header),
      ]),
    )
  return setting
}

/** A single number applies to every model. */
function readContextTokens(value: unknown): Record<string, number> {
  if (typeof value === 'number') return { '*': createIntegerReader(1)(value) }
  const fields = readRecord(value, 'contextTokens as a number, or as {"MODEL": 32768, "*": 8192}')
  return Object.fromEntries(Object.entries(fields).map(([model, tokens]) => [model, createIntegerReader(1)(tokens)]))
}

const PROGRAM_KEYS: readonly string[] = ['argv', 'convert', 'paths', 'voice', 'language']

function readProgram(value: unknown, name: string): ProgramSetting {
  const fields = readRecord(value, `${name} as {"argv": ["program", "argument", …]}`)
  const unknownKey = Object.keys(fields).find((key) => !PROGRAM_KEYS.includes(key))
  if (unknownKey !== undefined) throw new Error(`${name} without the key ${JSON.stringify(unknownKey)}`)
  const setting: ProgramSetting = { argv: readArguments(fields.argv, `${name}.argv`) }
  if (fields.convert !== undefined) setting.convert = readArguments(fields.convert, `${name}.convert`)
  if (fields.paths !== undefined) setting.paths = readAbsolutePaths(fields.paths, `${name}.paths`)
  if (fields.voice !== undefined) setting.voice = readText(fields.voice)
  if (fields.language !== undefined) setting.language = readText(fields.language)
  return setting
}

function readArguments(value: unknown, name: string): string[] {
  const list: unknown[] = Array.isArray(value) ? value : []
  const texts = list.filter((item) => typeof item === 'string')
  if (texts.length === 0 || texts.length < list.length) throw new Error(`${name} as a list of texts, the program first`)
  return texts
}
