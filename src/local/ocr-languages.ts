import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { gunzipSync } from 'node:zlib'

/** npm scope of the packages with language data for Tesseract */
export const LANGUAGE_SCOPE = '@tesseract.js-data'
const DEFAULT_LANGUAGES: readonly string[] = ['eng']
/** in the setting: also try installed languages of other scripts where a page needs them */
const DETECT = 'auto'
/** maximum number of languages that are tried on one picture */
const MOST_TRIED = 8
/** folder of a user's language data in the data directory */
const FOLDER = 'languages'

/** The kind of data that Tesseract's LSTM engine reads fastest, at nearly the best quality. */
const KIND = '4.0.0_best_int'
const ENDING = '.traineddata'
/** Codes of Tesseract: ISO 639-2 with additions, such as `chi_sim` and `jpn_vert`. */
const CODE = /^[a-z]{3}(?:_[a-z]{3,8})?$/

/** Whether a text may be the code of a Tesseract language. */
export function isLanguageCode(code: string): boolean {
  return CODE.test(code)
}

/**
 * The installed languages: npm packages with data next to this program, and `.traineddata` files in a folder.
 *
 * @param folder of a user's files; it need not exist
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
 * Tesseract's data for a language; a user's file takes precedence over the package.
 *
 * @returns `undefined` when it is not installed
 */
export function languageData(code: string, folder?: string): Uint8Array | undefined {
  if (!isLanguageCode(code)) return undefined
  const own = folder === undefined ? [] : [join(folder, `${code}${ENDING}`), join(folder, `${code}${ENDING}.gz`)]
  const path = [...own, ...packageFolders().map((scope) => packed(scope, code))].find(exists)
  if (path === undefined) return undefined
  const bytes = readFileSync(path)
  return path.endsWith('.gz') ? gunzipSync(bytes) : bytes
}

/** Whether a file exists and is readable: the reading process gets an error for paths outside of its folders. */
function exists(path: string): boolean {
  try {
    return existsSync(path)
  } catch {
    return false
  }
}

/** Folder of a user's language data. */
export function languagesFolder(dataDir: string): string {
  return join(dataDir, FOLDER)
}

/** The languages of a space, or of all spaces. */
export interface LanguageChoice {
  codes: readonly string[]
  /** whether installed languages of other scripts are tried where these give poor results */
  detects: boolean
}

/** Languages that are read in pictures, and the folder of their data. */
export interface ChosenLanguages {
  forAll: LanguageChoice
  /** of spaces with separate languages, by slug */
  ofSpaces: Readonly<Record<string, LanguageChoice>>
  folder: string
}

/**
 * Parses the setting `ocrLanguages`: `eng+deu` for all spaces, `letters=deu+eng` for the space letters; `auto` also
 * tries languages of other scripts.
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

/** The languages of a choice for reading pictures, and those that are tried where they give poor results. */
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
 * Installed languages with scripts other than those of `codes`, at most eight: text of another script is read as
 * nonsense, text of the same script nearly correctly.
 *
 * @param folder of a user's files; it need not exist
 */
export function languagesOfOtherScripts(codes: readonly string[], folder?: string): string[] {
  const known = new Set([undefined, ...codes.map(scriptOf)])
  return installedLanguages(folder)
    .filter((code) => !known.has(scriptOf(code)) && !code.endsWith('_vert'))
    .slice(0, MOST_TRIED)
}

/** The main script of a language, such as `Latn`; `undefined` for codes that are no language (`osd`, `equ`). */
function scriptOf(code: string): string | undefined {
  const [language = '', variant] = code.split('_')
  if (variant === 'tra') return 'Hant'
  if (variant === 'latn') return 'Latn'
  if (variant === 'cyrl') return 'Cyrl'
  return new Intl.Locale(language).maximize().script
}

/** Reads the setting. @throws Error for an invalid code */
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

/** Marks the `node_modules` of an installed package: npm does not know its files and would remove them. */
const NOT_OF_NPM = '.packed'

/** The folder in whose `node_modules` language packages are searched first, next to the bundled one. */
export function placeOfPackages(): string {
  const places = packageFolders().filter((place) => !existsSync(join(dirname(place), NOT_OF_NPM)))
  const folderOf = (place: string) => dirname(dirname(place))
  const beside = places.find((place) => existsSync(packed(place, 'eng')))
  const scope = beside ?? places.find((place) => existsSync(join(folderOf(place), 'package.json')))
  return scope === undefined ? '.' : folderOf(scope)
}

/** All folders in which a module of this program would search the scope. */
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
