import { chosenLanguages, type LanguageChoice, languagesOfOtherScripts } from '../local/ocr-languages.js'
import { SETTINGS } from '../local/settings.js'
import { daemonConfigPath } from './daemon-config.js'
import { readJsonObject } from './json-file.js'

/**
 * Which languages the daemon of this machine looks for in pictures, each with the spaces that ask for it; `all` for those
 * that name none of their own.
 */
export function languagesInUse(dataDir: string, env: NodeJS.ProcessEnv): Map<string, string[]> {
  const { ocrLanguages } = SETTINGS
  const set = env[ocrLanguages.env] ?? readJsonObject(daemonConfigPath(dataDir)).ocrLanguages
  const { forAll, ofSpaces, folder } = chosenLanguages(
    dataDir,
    set === undefined || set === '' ? ocrLanguages.default : ocrLanguages.read(set),
  )
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
