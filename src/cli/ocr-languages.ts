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
 * Which languages the daemon of this machine looks for in pictures, each with the spaces that ask for it; `all` for those
 * that name none of their own.
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
 * The languages in which a file is read that belongs to no space: those of a flag, else those that the daemon of this
 * machine looks for in all spaces.
 *
 * @throws CliError for what is no language, or none that is installed
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
      `text in pictures cannot be read in ${missing}, which is not installed`,
      `\`ks languages add ${missing}\` says how it is`,
    )
  return languagesToRead(forAll, folder)
}

function namedLanguages(flag: string, dataDir: string): ChosenLanguages {
  try {
    return chosenLanguages(dataDir, languageSetting([flag.replaceAll(',', '+')]))
  } catch {
    throw usageError(`${JSON.stringify(flag)} names no languages`, 'codes are as eng or deu+eng, or auto')
  }
}

function setLanguages(dataDir: string, env: NodeJS.ProcessEnv): ChosenLanguages {
  const { ocrLanguages } = SETTINGS
  const set = env[ocrLanguages.env] ?? readJsonObject(daemonConfigPath(dataDir)).ocrLanguages
  return chosenLanguages(dataDir, set === undefined || set === '' ? ocrLanguages.default : ocrLanguages.read(set))
}
