import type { EntityMention } from './entities.js'

/** Words of a long name that contribute no letter to its short form. */
const UNCOUNTED_WORDS = new Set(['of', 'the', 'and', 'for', 'de', 'der', 'für', 'von', 'du', 'la', 'on', 'in', 'to'])
const SHORT_FORM =
  /^(?:(?:the|or|hereinafter|also known as|abbreviated|short)[ :,]*)?["“'‘]?([\p{L}][\p{L}\p{N}&.-]{1,11})["”'’]?$/u

/**
 * `the European Central Bank, or ECB,` and `…, known as the IMF,`: short forms in capitals only, since lists look the
 * same.
 */
const NAMED_ASIDE =
  /^, ?(?:or|also known as|better known as|known as|abbreviated(?: as| to)?|in short|for short|called|kurz|abgekürzt|dit|sigle) (?:(?:the|die|der|das|la|le) )?(\p{Lu}[\p{Lu}\p{N}&.-]{1,7})(?![\p{L}\p{N}])/u
/** Legal forms of companies, which may or may not contribute a letter to a short form: `DB`, `BMW AG`. */
const LEGAL_FORM =
  /^(?:ag|bv|co|corp|corporation|company|gmbh|inc|incorporated|kg|limited|llc|llp|ltd|nv|oy|plc|sa|sarl|se|spa|srl)$/u

/**
 * Finds short forms and the names that they stand for: `Federal Reserve (Fed)`, where the letters of the short form
 * come from the long name, and the reverse, `NHS (National Health Service)`.
 */
export function findAliases(
  text: string,
  mentions: readonly EntityMention[],
): { alias: EntityMention; entity: EntityMention }[] {
  const found: { alias: EntityMention; entity: EntityMention }[] = []
  for (const mention of mentions) {
    const end = mention.offset + mention.name.length
    const aside = text.startsWith(',', end) ? NAMED_ASIDE.exec(text.slice(end, end + 60)) : null
    const shortName = aside?.[1]
    if (aside !== null && shortName !== undefined && isShortFor(shortName, mention.name)) {
      const offset = end + aside[0].length - shortName.length
      const own = mentions.find((other) => other.offset === offset)
      found.push({ alias: own ?? { ...mention, name: shortName, canonicalKey: '', offset }, entity: mention })
    }
    const open = text.slice(end, end + 2)
    if (open !== ' (') continue
    const close = text.indexOf(')', end)
    if (close < 0 || close - end > 80) continue
    const inside = text.slice(end + 2, close)
    const short = SHORT_FORM.exec(inside)?.[1]
    const within = mentions.find(({ offset }) => offset >= end && offset < close)
    if (short !== undefined && isShortFor(short, mention.name)) {
      const offset = text.indexOf(short, end)
      found.push({ alias: within ?? { ...mention, name: short, canonicalKey: '', offset }, entity: mention })
    } else if (within !== undefined && isShortFor(mention.name, within.name))
      found.push({ alias: mention, entity: within })
  }
  return found
}

/** Whether a short form consists of the first letters of a name's words, or is the beginning of one of them. */
export function isShortFor(short: string, name: string): boolean {
  const letters = short.replace(/[^\p{L}\p{N}]/gu, '').toLowerCase()
  const all = name.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
  if (letters.length < 2 || all.join('').length <= letters.length) return false
  const content = all.filter((word) => !UNCOUNTED_WORDS.has(word))
  const plain = content.filter((word, index) => index === 0 || !LEGAL_FORM.test(word))
  if ([all, content, plain].some((words) => words.map((word) => word[0]).join('') === letters)) return true
  // `Fed` for the Federal Reserve, `Volvo` for the Volvo Group
  if (letters.length >= 3 && /^\p{Lu}/u.test(short) && content.some((word) => word.startsWith(letters))) return true
  return matchesWordStarts(letters, content)
}

/** Whether letters consist of beginnings of all words, at least one letter of each: `DARPA`, `Benelux`. */
function matchesWordStarts(letters: string, words: readonly string[]): boolean {
  const [word, ...rest] = words
  if (word === undefined) return letters === ''
  for (let size = Math.min(word.length, letters.length); size > 0; size--)
    if (letters.startsWith(word.slice(0, size)) && matchesWordStarts(letters.slice(size), rest)) return true
  return false
}

const PLURAL_ENDINGS: readonly (readonly [RegExp, string])[] = [
  [/([^aeiou])ies$/u, '$1y'],
  [/(ss|x|ch|sh)es$/u, '$1'],
  [/([^suix])s$/u, '$1'],
]

const ARTICLE = /^(?:der|die|das|dem|den|des|le|la|les|el|los|las|il|lo|gli|het|een) (?=\S)/u

/** Keys that may denote the same entity: without the plural of the last word, or a leading article. */
export function listKeyVariants(key: string): string[] {
  const variants: string[] = []
  if (ARTICLE.test(key)) variants.push(key.replace(ARTICLE, ''))
  for (const [end, singular] of PLURAL_ENDINGS)
    if (end.test(key)) {
      variants.push(key.replace(end, singular))
      break
    }
  return variants
}
