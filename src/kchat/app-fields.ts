import { usageError } from '../cli/cli-error.js'
import { resolveSpace } from '../cli/resolve.js'
import { parseModelReference } from '../cli/resources.js'
import { readStdin, readTextFile, readTextOrStdin } from '../cli/stdin.js'
import type { Client } from '../client/client.js'
import { isRecord } from '../lib/json/values.js'
import { omitUndefined } from '../lib/omit-undefined.js'
import { readData } from './data-file.js'
import type { KchatOptions } from './options.js'

/** Options of `kchat apps create` and `update`. A value is `false` if a `--no-…` option removes it. */
export interface AppOptions extends KchatOptions {
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
  documents?: boolean
  maxDocuments?: number
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

type AppRequestFields = Record<string, unknown>

/** fields that only the service sets; `--from` may contain them */
const READ_ONLY = ['id', 'createdAt', 'updatedAt']
/** boolean settings of the web page */
const SITE_SWITCHES = ['chat_color_theme_inverted', 'show_workflow_steps', 'use_icon_as_answer_icon']

/**
 * Builds the fields of an application from the options and `--from`. The service validates them.
 *
 * @param loadCurrentApp loads the existing application: some options change one member of a field that the service only
 * replaces completely
 * @throws CliError exit 2 for a value of the wrong form, 5 for an unknown space
 */
export async function buildAppFields(
  client: Client,
  options: AppOptions,
  loadCurrentApp: () => Promise<AppRequestFields> = async () => ({}),
): Promise<AppRequestFields> {
  assertOneStdin(options)
  const fileFields = await readFromFile(options.from)
  const changes = await collectChanges(options)
  let currentApp: AppRequestFields | undefined
  const merged: AppRequestFields = {}
  for (const [name, change] of Object.entries(changes)) {
    if (Object.keys(change).length === 0) continue
    if (fileFields[name] === undefined) currentApp ??= await loadCurrentApp()
    const base = fileFields[name] ?? currentApp?.[name]
    merged[name] = mergeChange(isRecord(base) ? base : {}, change)
  }
  return {
    ...fileFields,
    ...merged,
    ...omitUndefined(await toPlainFields(client, options)),
    ...toFeatures(options, fileFields),
  }
}

async function readFromFile(path: string | undefined): Promise<AppRequestFields> {
  if (path === undefined) return {}
  const data = await readData(path, '--from')
  if (!isRecord(data)) throw usageError('--from must be a file with one application, a JSON or YAML object')
  return Object.fromEntries(Object.entries(data).filter(([name]) => !READ_ONLY.includes(name)))
}

async function toPlainFields(client: Client, options: AppOptions): Promise<AppRequestFields> {
  const { space, model, instructions, form, variables } = options
  return {
    name: options.name,
    description: options.description,
    tags: toList(options.tag),
    enabled: options.enabled,
    maxConcurrentRequests: options.maxConcurrent,
    knowledgeSpaceIds: space === undefined ? undefined : await resolveSpaceIds(client, space === false ? [] : space),
    mode: options.mode,
    model: toModel(model, '--model'),
    instructions: instructions === undefined ? undefined : await readTextOrStdin(instructions, '--instructions'),
    retrieverResource: options.citations,
    openingStatement: options.opening,
    suggestedQuestions: toList(options.question),
    suggestedQuestionsAfterAnswer: options.suggest,
    uploadStatus: options.uploadStatus === undefined ? undefined : Number(options.uploadStatus),
    userInputForm: form === undefined ? undefined : form === false ? [] : await readData(form, '--form'),
    conversationVariables:
      variables === undefined ? undefined : variables === false ? [] : await readData(variables, '--variables'),
    ...(options.prices === false ? { prices: null } : {}),
    ...(options.site === false ? { site: {} } : {}),
  }
}

/** Collects changes to members of fields that the service only replaces completely; null removes a member. */
async function collectChanges(options: AppOptions): Promise<Record<string, AppRequestFields>> {
  const { temperature, maxTokens, site } = options
  return {
    modelSettings: omitUndefined({
      temperature: temperature === false ? null : temperature,
      maxTokens: maxTokens === false ? null : maxTokens,
    }),
    prices: omitUndefined({
      promptUnitPrice: options.promptPrice,
      completionUnitPrice: options.completionPrice,
      priceUnit: options.priceUnit,
      currency: options.currency,
    }),
    sensitiveWords: await toSensitiveWords(options),
    site: Array.isArray(site) ? parseSiteSettings(site) : {},
  }
}

async function toSensitiveWords(options: AppOptions): Promise<AppRequestFields> {
  const { sensitiveWord, sensitiveWords: file, inputResponse, outputResponse } = options
  if (file === false) return { enabled: false }
  const words = file === undefined ? sensitiveWord : [...(await readWords(file)), ...(sensitiveWord ?? [])]
  const toResponse = (response: string | false | undefined) => {
    if (response === undefined) return undefined
    return response === false ? { enabled: false, response: '' } : { enabled: true, response }
  }
  const blocksWords = words !== undefined || typeof inputResponse === 'string' || typeof outputResponse === 'string'
  return omitUndefined({
    enabled: blocksWords ? true : undefined,
    words,
    inputs: toResponse(inputResponse),
    outputs: toResponse(outputResponse),
  })
}

async function readWords(path: string): Promise<string[]> {
  const text = path === '-' ? await readStdin('--sensitive-words') : await readTextFile(path, '--sensitive-words')
  return text.split(/\r?\n/).filter((line) => line.trim() !== '')
}

function parseSiteSettings(settings: string[]): AppRequestFields {
  return Object.fromEntries(
    settings.map((setting) => {
      const separatorIndex = setting.indexOf('=')
      if (separatorIndex < 1) throw usageError(`--site must be key=value, received ${JSON.stringify(setting)}`)
      const [key, value] = [setting.slice(0, separatorIndex), setting.slice(separatorIndex + 1)]
      if (SITE_SWITCHES.includes(key) && /^(true|false)$/.test(value)) return [key, value === 'true']
      // An address cannot be empty: an empty value removes it.
      return [key, key === 'icon_url' && value === '' ? null : value]
    }),
  )
}

function mergeChange(base: AppRequestFields, change: AppRequestFields): AppRequestFields {
  return Object.fromEntries(Object.entries({ ...base, ...change }).filter(([name]) => change[name] !== null))
}

/** Collects changes to fields whose missing members the service keeps. Values of `--from` are the base. */
function toFeatures(options: AppOptions, fileFields: AppRequestFields): AppRequestFields {
  const { language } = options
  const features = {
    vision: omitUndefined({
      enabled: options.vision,
      numberLimits: options.images,
      detail: options.imageDetail,
      transferMethods: options.imageTransfer,
    }),
    documents: omitUndefined({ enabled: options.documents, numberLimits: options.maxDocuments }),
    speechToText: omitUndefined({
      enabled: options.speechToText,
      model: toModel(options.speechToTextModel, '--speech-to-text-model'),
      language: options.speechToTextLanguage ?? language,
    }),
    textToSpeech: omitUndefined({
      enabled: options.textToSpeech,
      model: toModel(options.textToSpeechModel, '--text-to-speech-model'),
      voice: options.voice,
      language: options.textToSpeechLanguage ?? language,
      autoPlay: options.autoPlay,
    }),
  }
  const changed: AppRequestFields = {}
  for (const [name, change] of Object.entries(features)) {
    const base = fileFields[name]
    if (Object.keys(change).length > 0) changed[name] = { ...(isRecord(base) ? base : {}), ...change }
  }
  return changed
}

async function resolveSpaceIds(client: Client, spaces: string[]): Promise<string[]> {
  const ids: string[] = []
  for (const space of spaces) ids.push((await resolveSpace(client, space)).id)
  return ids
}

function toModel(reference: string | false | undefined, option: string): object | null | undefined {
  return reference === undefined ? undefined : reference === false ? null : parseModelReference(reference, option)
}

function toList(values: string[] | false | undefined): string[] | undefined {
  return values === false ? [] : values
}

/** @throws CliError exit 2 if several options read stdin */
function assertOneStdin({ from, instructions, form, variables, sensitiveWords }: AppOptions): void {
  const files = { from, instructions, form, variables, 'sensitive-words': sensitiveWords }
  const flags = Object.entries(files).flatMap(([name, path]) => (path === '-' ? [`--${name}`] : []))
  if (flags.length > 1) throw usageError(`only one option can read stdin, not ${flags.join(' and ')}`)
}
