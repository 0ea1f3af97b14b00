import {
  type ChosenLanguages,
  chosenLanguages,
  installedLanguages,
  type LanguageChoice,
  languageSetting,
  languagesOfOtherScripts,
  languagesToRead,
} from '../local/ocr-languages.js'
import { SETTINGS } from '../local/settings.js'
import { usageError } from './cli-error.js'
import { daemonConfigPath } from './daemon-config.js'
import { readJsonObject } from './json-file.js'

/**
 * Languages that the local daemon recognizes in pictures, each with the spaces that use it; `all` stands for the
 * default.
 */
export function languagesInUse(dataDir: string, env: NodeJS.ProcessEnv): Map<string, string[]> {
  const { forAll, ofSpaces, folder } = setLanguages(dataDir, env)
  const used = new Map<string, string[]>()
  const add = (codes: readonly string[], by: string): void => {
    for (const code of codes) used.set(code, [...(used.get(code) ?? []), by])
  }
  const addChoice = ({ codes, detects }: LanguageChoice, by: string): void => {
    add(codes, by)
    if (detects) add(languagesOfOtherScripts(codes, folder), `${by}, by script`)
  }
  addChoice(forAll, 'all')
  for (const [slug, choice] of Object.entries(ofSpaces)) addChoice(choice, slug)
  return used
}

/**
 * The languages for a file without a space: those of the flag, else the default of the local daemon.
 *
 * @throws CliError for an unknown language or one that is not installed
 */
export function languagesOfRead(
  flag: string | undefined,
  dataDir: string,
  env: NodeJS.ProcessEnv,
): ReturnType<typeof languagesToRead> {
  const { forAll, folder } = flag === undefined ? setLanguages(dataDir, env) : namedLanguages(flag, dataDir)
  const installed = installedLanguages(folder)
  const missing = forAll.codes.find((code) => !installed.includes(code))
  if (missing !== undefined && flag !== undefined)
    throw usageError(
      `language ${missing} for text in pictures is not installed`,
      `\`ks languages add ${missing}\` shows how to install it`,
    )
  return languagesToRead(forAll, folder)
}

function namedLanguages(flag: string, dataDir: string): ChosenLanguages {
  try {
    return chosenLanguages(dataDir, languageSetting([flag.replaceAll(',', '+')]))
  } catch {
    throw usageError(`${JSON.stringify(flag)} is not a list of languages`, 'use codes such as eng or deu+eng, or auto')
  }
}

function setLanguages(dataDir: string, env: NodeJS.ProcessEnv): ChosenLanguages {
  const { ocrLanguages } = SETTINGS
  const set = env[ocrLanguages.env] ?? readJsonObject(daemonConfigPath(dataDir)).ocrLanguages
  return chosenLanguages(dataDir, set === undefined || set === '' ? ocrLanguages.default : ocrLanguages.read(set))
}
