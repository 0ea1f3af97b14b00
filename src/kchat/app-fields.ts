import { usageError } from '../cli/cli-error.js'
import { resolveSpace } from '../cli/resolve.js'
import { modelReference } from '../cli/resources.js'
import { readStdin, readTextFile, textOrStdin } from '../cli/stdin.js'
import type { Client } from '../client/client.js'
import { defined } from '../lib/defined.js'
import { isRecord } from '../lib/json/values.js'
import { readData } from './data-file.js'
import type { Common } from './options.js'

/** Options of `kchat apps create` and `update`; `false` if a `--no-…` option removes a value. */
export interface AppOptions extends Common {
  from?: string
  name?: string
  description?: string
  tag?: string[] | false
  enabled?: boolean
  maxConcurrent?: number
  space?: string[] | false
  mode?: string
  model?: string | false
  instructions?: string
  temperature?: number | false
  maxTokens?: number | false
  citations?: boolean
  promptPrice?: string
  completionPrice?: string
  priceUnit?: string
  currency?: string
  prices?: false
  opening?: string
  question?: string[] | false
  suggest?: boolean
  form?: string | false
  variables?: string | false
  site?: string[] | false
  sensitiveWord?: string[]
  sensitiveWords?: string | false
  inputResponse?: string | false
  outputResponse?: string | false
  vision?: boolean
  images?: number
  uploadStatus?: string
  imageDetail?: string
  imageTransfer?: string[]
  speechToText?: boolean
  speechToTextModel?: string | false
  speechToTextLanguage?: string
  textToSpeech?: boolean
  textToSpeechModel?: string | false
  textToSpeechLanguage?: string
  language?: string
  voice?: string
  autoPlay?: boolean
}

type Fields = Record<string, unknown>

/** set by the service */
const READ_ONLY = ['id', 'createdAt', 'updatedAt']
const SITE_SWITCHES = ['chat_color_theme_inverted', 'show_workflow_steps', 'use_icon_as_answer_icon']

/**
 * The fields of an application from the options and `--from`. The service validates them.
 *
 * @param current reads the application: some options change one member of a field that the service only replaces as a
 * whole
 * @throws CliError exit 2 for a value of the wrong form, 5 for an unknown space
 */
export async function appFields(
  client: Client,
  options: AppOptions,
  current: () => Promise<Fields> = async () => ({}),
): Promise<Fields> {
  assertOneStdin(options)
  const from = await fromFile(options.from)
  const parts = await partsOf(options)
  let now: Fields | undefined
  const merged: Fields = {}
  for (const [name, change] of Object.entries(parts)) {
    if (Object.keys(change).length === 0) continue
    if (from[name] === undefined) now ??= await current()
    const base = from[name] ?? now?.[name]
    merged[name] = mergedPart(isRecord(base) ? base : {}, change)
  }
  return { ...from, ...merged, ...defined(await plainFields(client, options)), ...featuresOf(options, from) }
}

async function fromFile(path: string | undefined): Promise<Fields> {
  if (path === undefined) return {}
  const read = await readData(path, '--from')
  if (!isRecord(read)) throw usageError('--from must be a file with one application, a JSON or YAML object')
  return Object.fromEntries(Object.entries(read).filter(([name]) => !READ_ONLY.includes(name)))
}

async function plainFields(client: Client, options: AppOptions): Promise<Fields> {
  const { space, model, instructions, form, variables } = options
  return {
    name: options.name,
    description: options.description,
    tags: listOf(options.tag),
    enabled: options.enabled,
    maxConcurrentRequests: options.maxConcurrent,
    knowledgeSpaceIds: space === undefined ? undefined : await spaceIds(client, space === false ? [] : space),
    mode: options.mode,
    model: modelOf(model, '--model'),
    instructions: instructions === undefined ? undefined : await textOrStdin(instructions, '--instructions'),
    retrieverResource: options.citations,
    openingStatement: options.opening,
    suggestedQuestions: listOf(options.question),
    suggestedQuestionsAfterAnswer: options.suggest,
    uploadStatus: options.uploadStatus === undefined ? undefined : Number(options.uploadStatus),
    userInputForm: form === undefined ? undefined : form === false ? [] : await readData(form, '--form'),
    conversationVariables:
      variables === undefined ? undefined : variables === false ? [] : await readData(variables, '--variables'),
    ...(options.prices === false ? { prices: null } : {}),
    ...(options.site === false ? { site: {} } : {}),
  }
}

/** Changes to fields that the service only replaces as a whole; null removes a member. */
async function partsOf(options: AppOptions): Promise<Record<string, Fields>> {
  const { temperature, maxTokens, site } = options
  return {
    modelSettings: defined({
      temperature: temperature === false ? null : temperature,
      maxTokens: maxTokens === false ? null : maxTokens,
    }),
    prices: defined({
      promptUnitPrice: options.promptPrice,
      completionUnitPrice: options.completionPrice,
      priceUnit: options.priceUnit,
      currency: options.currency,
    }),
    sensitiveWords: await sensitiveWords(options),
    site: Array.isArray(site) ? siteSettings(site) : {},
  }
}

async function sensitiveWords(options: AppOptions): Promise<Fields> {
  const { sensitiveWord, sensitiveWords: file, inputResponse, outputResponse } = options
  if (file === false) return { enabled: false }
  const words = file === undefined ? sensitiveWord : [...(await wordsOf(file)), ...(sensitiveWord ?? [])]
  const side = (response: string | false | undefined) => {
    if (response === undefined) return undefined
    return response === false ? { enabled: false, response: '' } : { enabled: true, response }
  }
  const isSwitchedOn = words !== undefined || typeof inputResponse === 'string' || typeof outputResponse === 'string'
  return defined({
    enabled: isSwitchedOn ? true : undefined,
    words,
    inputs: side(inputResponse),
    outputs: side(outputResponse),
  })
}

async function wordsOf(path: string): Promise<string[]> {
  const text = path === '-' ? await readStdin('--sensitive-words') : await readTextFile(path, '--sensitive-words')
  return text.split(/\r?\n/).filter((line) => line.trim() !== '')
}

function siteSettings(settings: string[]): Fields {
  return Object.fromEntries(
    settings.map((setting) => {
      const at = setting.indexOf('=')
      if (at < 1) throw usageError(`--site must be key=value, received ${JSON.stringify(setting)}`)
      const [key, value] = [setting.slice(0, at), setting.slice(at + 1)]
      if (SITE_SWITCHES.includes(key) && /^(true|false)$/.test(value)) return [key, value === 'true']
      // An address cannot be empty: an empty value removes it.
      return [key, key === 'icon_url' && value === '' ? null : value]
    }),
  )
}

function mergedPart(base: Fields, change: Fields): Fields {
  return Object.fromEntries(Object.entries({ ...base, ...change }).filter(([name]) => change[name] !== null))
}

/** Changes to fields whose missing members the service keeps. Values of `--from` are the base. */
function featuresOf(options: AppOptions, from: Fields): Fields {
  const { language } = options
  const features = {
    vision: defined({
      enabled: options.vision,
      numberLimits: options.images,
      detail: options.imageDetail,
      transferMethods: options.imageTransfer,
    }),
    speechToText: defined({
      enabled: options.speechToText,
      model: modelOf(options.speechToTextModel, '--speech-to-text-model'),
      language: options.speechToTextLanguage ?? language,
    }),
    textToSpeech: defined({
      enabled: options.textToSpeech,
      model: modelOf(options.textToSpeechModel, '--text-to-speech-model'),
      voice: options.voice,
      language: options.textToSpeechLanguage ?? language,
      autoPlay: options.autoPlay,
    }),
  }
  const named = Object.entries(features).filter(([, change]) => Object.keys(change).length > 0)
  return Object.fromEntries(
    named.map(([name, change]) => {
      const base = from[name]
      return [name, { ...(isRecord(base) ? base : {}), ...change }]
    }),
  )
}

async function spaceIds(client: Client, words: string[]): Promise<string[]> {
  const ids: string[] = []
  for (const word of words) ids.push((await resolveSpace(client, word)).id)
  return ids
}

function modelOf(word: string | false | undefined, option: string): object | null | undefined {
  return word === undefined ? undefined : word === false ? null : modelReference(word, option)
}

function listOf(values: string[] | false | undefined): string[] | undefined {
  return values === false ? [] : values
}

/** @throws CliError exit 2 */
function assertOneStdin({ from, instructions, form, variables, sensitiveWords: words }: AppOptions): void {
  const files = { from, instructions, form, variables, 'sensitive-words': words }
  const readers = Object.entries(files).filter(([, at]) => at === '-')
  if (readers.length > 1)
    throw usageError(`only one option can read stdin, not ${readers.map(([name]) => `--${name}`).join(' and ')}`)
}
