import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { listReadableNames } from './file-system.js'

/** npm scope of the packages with language data for Tesseract */
export const LANGUAGE_SCOPE = '@tesseract.js-data'
const DEFAULT_LANGUAGES: readonly string[] = ['eng']
/** in the setting: also try installed languages of other scripts where a page needs them */
const DETECT_SETTING = 'auto'
/** maximum number of languages that are tried on one picture */
const MAX_TRIED_LANGUAGES = 8
/** folder of a user's language data in the data directory */
const LANGUAGES_FOLDER = 'languages'

/** The kind of data that Tesseract's LSTM engine reads fastest, at nearly the best quality. */
const DATA_KIND = '4.0.0_best_int'
const DATA_ENDING = '.traineddata'
/** Codes of Tesseract: ISO 639-2 with additions, such as `chi_sim` and `jpn_vert`. */
const LANGUAGE_CODE = /^[a-z]{3}(?:_[a-z]{3,8})?$/

/** Whether a text may be the code of a Tesseract language. */
function isLanguageCode(code: string): boolean {
  return LANGUAGE_CODE.test(code)
}

/**
 * The installed languages: npm packages with data next to this program, and `.traineddata` files in a folder.
 *
 * @param folder of a user's files; it need not exist
 */
export function listInstalledLanguages(folder?: string): string[] {
  const codes = new Set<string>()
  for (const path of listPackageFolders()) {
    for (const name of listReadableNames(path))
      if (isLanguageCode(name) && isReadable(getPackedPath(path, name))) codes.add(name)
  }
  if (folder !== undefined) {
    for (const name of listReadableNames(folder)) {
      const code = name.replace(/\.traineddata(?:\.gz)?$/, '')
      if (code !== name && isLanguageCode(code)) codes.add(code)
    }
  }
  return [...codes].sort()
}

/**
 * Tesseract's data for a language; a user's file takes precedence over the package.
 *
 * @returns `undefined` when it is not installed
 */
export function readLanguageData(code: string, folder?: string): Uint8Array | undefined {
  if (!isLanguageCode(code)) return undefined
  const userFiles =
    folder === undefined ? [] : [join(folder, `${code}${DATA_ENDING}`), join(folder, `${code}${DATA_ENDING}.gz`)]
  const path = [...userFiles, ...listPackageFolders().map((scope) => getPackedPath(scope, code))].find(isReadable)
  if (path === undefined) return undefined
  const bytes = readFileSync(path)
  return path.endsWith('.gz') ? gunzipSync(bytes) : bytes
}

/** Whether a file exists and is readable: the reading process gets an error for paths outside of its folders. */
function isReadable(path: string): boolean {
  try {
    return existsSync(path)
  } catch {
    return false
  }
}

export function getLanguagesFolder(dataDir: string): string {
  return join(dataDir, LANGUAGES_FOLDER)
}

/** The languages of a space, or of all spaces. */
export interface LanguageChoice {
  codes: readonly string[]
  /** whether installed languages of other scripts are tried where these give poor results */
  detectsScripts: boolean
}

/** Languages that are read in pictures, and the folder of their data. */
export interface LanguageSelection {
  forAll: LanguageChoice
  /** of spaces with separate languages, by slug */
  bySpace: Readonly<Record<string, LanguageChoice>>
  folder: string
}

/**
 * Parses the setting `ocrLanguages`: `eng+deu` for all spaces, `letters=deu+eng` for the space letters; `auto` also
 * tries languages of other scripts.
 */
export function parseLanguageSelection(dataDir: string, setting: readonly string[]): LanguageSelection {
  const forAll: string[] = []
  const bySpace: Record<string, LanguageChoice> = {}
  for (const entry of setting) {
    const [codes = '', slug] = entry.split('=').reverse()
    if (slug === undefined) forAll.push(...codes.split('+'))
    else bySpace[slug] = toLanguageChoice(codes.split('+'))
  }
  return { forAll: toLanguageChoice(forAll), bySpace, folder: getLanguagesFolder(dataDir) }
}

/** The languages of a choice for reading pictures, and those that are tried where they give poor results. */
export function selectLanguages(
  { codes, detectsScripts }: LanguageChoice,
  folder: string,
): { codes: readonly string[]; folder: string; others?: readonly string[] } {
  const others = detectsScripts ? findLanguagesOfOtherScripts(codes, folder) : []
  return { codes, folder, ...(others.length > 0 ? { others } : {}) }
}

function toLanguageChoice(entries: readonly string[]): LanguageChoice {
  const codes = entries.filter((code) => code !== DETECT_SETTING)
  return { codes: codes.length > 0 ? codes : DEFAULT_LANGUAGES, detectsScripts: entries.includes(DETECT_SETTING) }
}

/**
 * Installed languages with scripts other than those of `codes`, at most eight: text of another script is read as
 * nonsense, text of the same script nearly correctly.
 *
 * @param folder of a user's files; it need not exist
 */
export function findLanguagesOfOtherScripts(codes: readonly string[], folder?: string): string[] {
  const knownScripts = new Set([undefined, ...codes.map(getScript)])
  return listInstalledLanguages(folder)
    .filter((code) => !knownScripts.has(getScript(code)) && !code.endsWith('_vert'))
    .slice(0, MAX_TRIED_LANGUAGES)
}

/** The main script of a language, such as `Latn`; `undefined` for codes that are no language (`osd`, `equ`). */
function getScript(code: string): string | undefined {
  const [language = '', variant] = code.split('_')
  if (variant === 'tra') return 'Hant'
  if (variant === 'latn') return 'Latn'
  if (variant === 'cyrl') return 'Cyrl'
  return new Intl.Locale(language).maximize().script
}

/** Reads the setting. @throws Error for an invalid code */
export function readLanguageSetting(entries: readonly string[]): readonly string[] {
  for (const entry of entries) {
    const parts = entry.split('=')
    const codes = parts.at(-1)?.split('+') ?? []
    if (parts.length > 2 || !codes.every((code) => code === DETECT_SETTING || isLanguageCode(code)))
      throw new Error('codes of languages such as eng or deu+eng, or letters=deu+eng for the space letters, or auto')
  }
  return entries
}

function getPackedPath(scopeFolder: string, code: string): string {
  return join(scopeFolder, code, DATA_KIND, `${code}${DATA_ENDING}.gz`)
}

/** Marks the `node_modules` of an installed package: npm does not know its files and would remove them. */
const PACKED_MARKER = '.packed'

/** The folder in whose `node_modules` language packages are searched first, next to the bundled one. */
export function findPackagesFolder(): string {
  const folders = listPackageFolders().filter((folder) => !existsSync(join(dirname(folder), PACKED_MARKER)))
  const getInstallFolder = (folder: string) => dirname(dirname(folder))
  const bundled = folders.find((folder) => existsSync(getPackedPath(folder, 'eng')))
  const scope = bundled ?? folders.find((folder) => existsSync(join(getInstallFolder(folder), 'package.json')))
  return scope === undefined ? '.' : getInstallFolder(scope)
}

/** All folders in which a module of this program would search the scope. */
function listPackageFolders(): string[] {
  const folders = createRequire(import.meta.url).resolve.paths(`${LANGUAGE_SCOPE}/eng`) ?? []
  return folders
    .map((folder) => join(folder, LANGUAGE_SCOPE))
    .filter((folder) => dirname(folder).endsWith('node_modules'))
}
