import {
  findLanguagesOfOtherScripts,
  type LanguageChoice,
  type LanguageSelection,
  listInstalledLanguages,
  parseLanguageSelection,
  readLanguageSetting,
  selectLanguages,
} from '../local/ocr-languages.js'
import { SETTINGS } from '../local/settings.js'
import { usageError } from './cli-error.js'
import { getDaemonConfigPath } from './daemon-config.js'
import { readJsonObject } from './json-file.js'

/** Languages that the local daemon recognizes in pictures, each with the spaces that use it; `all` is the default. */
export function findLanguagesInUse(dataDir: string, env: NodeJS.ProcessEnv): Map<string, string[]> {
  const { forAll, bySpace, folder } = readConfiguredLanguages(dataDir, env)
  const usersByCode = new Map<string, string[]>()
  const addCodes = (codes: readonly string[], user: string): void => {
    for (const code of codes) usersByCode.set(code, [...(usersByCode.get(code) ?? []), user])
  }
  const addChoice = ({ codes, detectsScripts }: LanguageChoice, user: string): void => {
    addCodes(codes, user)
    if (detectsScripts) addCodes(findLanguagesOfOtherScripts(codes, folder), `${user}, by script`)
  }
  addChoice(forAll, 'all')
  for (const [slug, choice] of Object.entries(bySpace)) addChoice(choice, slug)
  return usersByCode
}

/**
 * The languages for a file without a space: those of the flag, else the default of the local daemon.
 *
 * @throws CliError for an unknown language or one that is not installed
 */
export function resolveReadLanguages(
  flag: string | undefined,
  dataDir: string,
  env: NodeJS.ProcessEnv,
): ReturnType<typeof selectLanguages> {
  const { forAll, folder } =
    flag === undefined ? readConfiguredLanguages(dataDir, env) : parseLanguagesFlag(flag, dataDir)
  const installed = listInstalledLanguages(folder)
  const missing = forAll.codes.find((code) => !installed.includes(code))
  if (missing !== undefined && flag !== undefined)
    throw usageError(
      `language ${missing} for text in pictures is not installed`,
      '`ks doctor --languages` shows how to install it',
    )
  return selectLanguages(forAll, folder)
}

function parseLanguagesFlag(flag: string, dataDir: string): LanguageSelection {
  try {
    return parseLanguageSelection(dataDir, readLanguageSetting([flag.replaceAll(',', '+')]))
  } catch {
    throw usageError(`${JSON.stringify(flag)} is not a list of languages`, 'use codes such as eng or deu+eng, or auto')
  }
}

function readConfiguredLanguages(dataDir: string, env: NodeJS.ProcessEnv): LanguageSelection {
  const { ocrLanguages } = SETTINGS
  const configured = env[ocrLanguages.env] ?? readJsonObject(getDaemonConfigPath(dataDir)).ocrLanguages
  return parseLanguageSelection(
    dataDir,
    configured === undefined || configured === '' ? ocrLanguages.default : ocrLanguages.read(configured),
  )
}
