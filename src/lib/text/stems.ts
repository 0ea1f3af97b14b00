import { createRequire } from 'node:module'
import { stemmer as porter } from 'stemmer'
import { foldAccents } from './fold.js'
import { type Language, MODULE_NAMES } from './languages.js'

type Stemmer = (word: string) => string

const require = createRequire(import.meta.url)
const loaded = new Map<Language, Stemmer>()
const identity: Stemmer = (word) => word

function isStemmerModule(value: unknown): value is { stemmer: Stemmer } {
  return typeof value === 'object' && value !== null && 'stemmer' in value && typeof value.stemmer === 'function'
}

/** Loads the stemmer with the first word of its language: loading all would cost a process 50 ms. */
function loadStemmer(language: Language): Stemmer {
  const cached = loaded.get(language)
  if (cached !== undefined) return cached
  const name = MODULE_NAMES[language]
  const found: unknown = name === undefined ? undefined : require(`@orama/stemmers/${name}`)
  const stemmer = isStemmerModule(found) ? found.stemmer : identity
  loaded.set(language, stemmer)
  return stemmer
}

/** `kostet`, `geöffnet`: Snowball keeps the endings of the third person and of participles. */
const GERMAN_VERB = /^(?:ge)?(?=.{5})(.+(?:e|[lrngbzm]))t$/
/** `cuesta` and `costar`, `cierra` and `cerrar` */
const SPANISH_DIPHTHONG = /(?<=[^aeiouq])(?:ue|ie)(?=[^aeiou])/

/** `coûtent` and `coûte`, `ouvrent` and `ouvre`; nouns in `-ent` lose it as well, in both numbers */
const FRENCH_PLURAL = /(?<=.{3}[^m])ents?$/
/** Endings of Polish and Czech nouns, adjectives and verbs, accents folded. At least four letters remain. */
const SLAVIC_ENDING =
  /(?<=.{4})(?:owie|iego|iemu|ujemy|ujecie|ujesz|ujac|ami|emi|ymi|imi|ach|ech|ich|ych|ego|eho|emu|iej|owi|ovi|ow|ym|im|om|em|am|um|uje|uja|amy|acie|emy|ecie|isz|ysz|ej|ie|ia|iu|io|ou|ał|ac|ec|ic|yc|at|et|it|a|e|i|o|u|y)$/

/** Applies regular inflections that Snowball's rules do not cover. */
function prepareWord(word: string, language: Language): string {
  if (language === 'de') return word.replace(GERMAN_VERB, '$1')
  if (language === 'fr') return word.replace(FRENCH_PLURAL, 'e')
  if (language === 'pl' || language === 'cs') return foldAccents(word).replace(SLAVIC_ENDING, '')
  return word
}

const ASCII_WORD = /^[a-z]+$/

/** Porter's stem of a lower-case English word; other words are unchanged. */
export function stemEnglish(word: string): string {
  return ASCII_WORD.test(word) ? porter(word) : word
}

/** Stem of a lower-case word with its accents, never empty. */
export function stemIn(word: string, language: Language): string {
  const stem = loadStemmer(language)(prepareWord(word, language))
  if (stem === '') return word
  return language === 'es' ? stem.replace(SPANISH_DIPHTHONG, (sound) => (sound === 'ue' ? 'o' : 'e')) : stem
}
