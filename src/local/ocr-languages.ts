import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { gunzipSync } from 'node:zlib'

/** npm scope of the packages that hold what Tesseract knows of a language */
export const LANGUAGE_SCOPE = '@tesseract.js-data'
const DEFAULT_LANGUAGES: readonly string[] = ['eng']
/** in the setting: installed languages of other scripts are tried, too, where a page needs it */
const DETECT = 'auto'
/** languages that are tried at most on one picture */
const MOST_TRIED = 8
/** of the data directory, with a user's own data of languages */
const FOLDER = 'languages'

/** The kind of data that Tesseract's LSTM engine reads fastest at nearly the best quality. */
const KIND = '4.0.0_best_int'
const ENDING = '.traineddata'
/** Codes of Tesseract: ISO 639-2 with its own additions, such as `chi_sim` and `jpn_vert`. */
const CODE = /^[a-z]{3}(?:_[a-z]{3,8})?$/

/** Whether a word may be the code of a language of Tesseract. */
export function isLanguageCode(code: string): boolean {
  return CODE.test(code)
}

/**
 * The languages that are installed: data packages of npm beside this program's own, and `.traineddata` files in a folder.
 *
 * @param folder of a user's own files; it need not be there
 */
export function installedLanguages(folder?: string): string[] {
  const found = new Set<string>()
  for (const path of packageFolders()) {
    for (const name of namesIn(path)) if (isLanguageCode(name) && exists(packed(path, name))) found.add(name)
  }
  if (folder !== undefined) {
    for (const name of namesIn(folder)) {
      const code = name.replace(/\.traineddata(?:\.gz)?$/, '')
      if (code !== name && isLanguageCode(code)) found.add(code)
    }
  }
  return [...found].sort()
}

/**
 * What Tesseract knows of a language; a user's own file comes before the package.
 *
 * @returns nothing when it is not installed
 */
export function languageData(code: string, folder?: string): Uint8Array | undefined {
  if (!isLanguageCode(code)) return undefined
  const own = folder === undefined ? [] : [join(folder, `${code}${ENDING}`), join(folder, `${code}${ENDING}.gz`)]
  const path = [...own, ...packageFolders().map((scope) => packed(scope, code))].find(exists)
  if (path === undefined) return undefined
  const bytes = readFileSync(path)
  return path.endsWith('.gz') ? gunzipSync(bytes) : bytes
}

/** Whether a file is there and may be read: the reading process gets an error for paths outside of its folders. */
function exists(path: string): boolean {
  try {
    return existsSync(path)
  } catch {
    return false
  }
}

/** Where a user's own data of languages lies. */
export function languagesFolder(dataDir: string): string {
  return join(dataDir, FOLDER)
}

/** The languages of a space, or of all. */
export interface LanguageChoice {
  codes: readonly string[]
  /** whether installed languages of other scripts are tried where these read badly */
  detects: boolean
}

/** Which languages are looked for in pictures, and where their data may be found. */
export interface ChosenLanguages {
  forAll: LanguageChoice
  /** of spaces that have their own, by their slugs */
  ofSpaces: Readonly<Record<string, LanguageChoice>>
  folder: string
}

/**
 * The setting `ocrLanguages` as it is meant: `eng+deu` for all spaces, `letters=deu+eng` for the space letters; `auto`
 * among them has languages of other scripts tried.
 */
export function chosenLanguages(dataDir: string, setting: readonly string[]): ChosenLanguages {
  const forAll: string[] = []
  const ofSpaces: Record<string, LanguageChoice> = {}
  for (const entry of setting) {
    const [codes = '', slug] = entry.split('=').reverse()
    if (slug === undefined) forAll.push(...codes.split('+'))
    else ofSpaces[slug] = choiceOf(codes.split('+'))
  }
  return { forAll: choiceOf(forAll), ofSpaces, folder: languagesFolder(dataDir) }
}

/** The languages of a choice as pictures are read in them, with those that are tried where they read badly. */
export function languagesToRead(
  { codes, detects }: LanguageChoice,
  folder: string,
): { codes: readonly string[]; folder: string; others?: readonly string[] } {
  const others = detects ? languagesOfOtherScripts(codes, folder) : []
  return { codes, folder, ...(others.length > 0 ? { others } : {}) }
}

function choiceOf(named: readonly string[]): LanguageChoice {
  const codes = named.filter((code) => code !== DETECT)
  return { codes: codes.length > 0 ? codes : DEFAULT_LANGUAGES, detects: named.includes(DETECT) }
}

/**
 * Installed languages whose script is none of those of `codes`, eight at most: text of another script reads as rubbish,
 * text of the same script nearly well.
 *
 * @param folder of a user's own files; it need not be there
 */
export function languagesOfOtherScripts(codes: readonly string[], folder?: string): string[] {
  const known = new Set([undefined, ...codes.map(scriptOf)])
  return installedLanguages(folder)
    .filter((code) => !known.has(scriptOf(code)) && !code.endsWith('_vert'))
    .slice(0, MOST_TRIED)
}

/** The script a language is mostly written in, such as `Latn`; nothing for what is no language (`osd`, `equ`). */
function scriptOf(code: string): string | undefined {
  const [language = '', variant] = code.split('_')
  if (variant === 'tra') return 'Hant'
  if (variant === 'latn') return 'Latn'
  if (variant === 'cyrl') return 'Cyrl'
  return new Intl.Locale(language).maximize().script
}

/** Reads the setting. @throws Error for what is no code of a language */
export function languageSetting(entries: readonly string[]): readonly string[] {
  for (const entry of entries) {
    const parts = entry.split('=')
    const codes = parts.at(-1)?.split('+') ?? []
    if (parts.length > 2 || !codes.every((code) => code === DETECT || isLanguageCode(code)))
      throw new Error('codes of languages such as eng or deu+eng, or letters=deu+eng for the space letters, or auto')
  }
  return entries
}

function packed(scope: string, code: string): string {
  return join(scope, code, KIND, `${code}${ENDING}.gz`)
}

/** In the `node_modules` of an installed package: files that npm knows nothing of, and would remove. */
const NOT_OF_NPM = '.packed'

/** The folder in whose `node_modules` packages of languages are looked for first, beside the one that comes with ks. */
export function placeOfPackages(): string {
  const places = packageFolders().filter((place) => !existsSync(join(dirname(place), NOT_OF_NPM)))
  const folderOf = (place: string) => dirname(dirname(place))
  const beside = places.find((place) => existsSync(packed(place, 'eng')))
  const scope = beside ?? places.find((place) => existsSync(join(folderOf(place), 'package.json')))
  return scope === undefined ? '.' : folderOf(scope)
}

/** Every folder of the scope that a module of this program would be looked for in. */
function packageFolders(): string[] {
  const places = createRequire(import.meta.url).resolve.paths(`${LANGUAGE_SCOPE}/eng`) ?? []
  return places.map((place) => join(place, LANGUAGE_SCOPE)).filter((place) => dirname(place).endsWith('node_modules'))
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
