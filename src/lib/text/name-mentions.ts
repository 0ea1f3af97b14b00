/** Words of a company's name that documents rarely repeat. */
const LEGAL = new Set(
  'the inc incorporated corp corporation company co ltd limited plc llc llp gmbh ag sa nv spa com group holdings holding'.split(
    ' ',
  ),
)
/** A name with this many letters may be part of a longer word: `ULTABEAUTY_2023Q4`. */
const LONG_NAME = 4

/**
 * Whether a text mentions a name: all words of the name follow each other, or are joined as in file names. Case,
 * accents and a company's legal form are ignored.
 */
export function mentionsName(text: string, name: string): boolean {
  const wanted = wordsOf(name)
  if (wanted.length === 0) return false
  const told = wordsOf(text)
  const joined = wanted.join('')
  for (const [place, word] of told.entries()) {
    if (wanted.every((one, ahead) => isForm(told[place + ahead], one))) return true
    if (joined.length >= LONG_NAME && word.startsWith(joined) && !/^\p{L}/u.test(word.slice(joined.length))) return true
    if (joined.length > LONG_NAME && wanted.length > 1 && word.startsWith(joined)) return true
  }
  return false
}

/** Whether a text contains the longest word of a name: the last fallback for names of persons and products. */
export function mentionsLongestWord(text: string, name: string): boolean {
  const [longest = ''] = [...wordsOf(name)].sort((a, b) => b.length - a.length)
  return longest.length >= LONG_NAME && wordsOf(text).some((word) => isForm(word, longest))
}

/** The words of a name without its legal form, in lower case. */
function wordsOf(text: string): string[] {
  const words = plain(text).match(/[\p{L}\p{M}\p{N}]+/gu) ?? []
  const telling = words.filter((word) => !LEGAL.has(word))
  return telling.length > 0 ? telling : [...words]
}

function plain(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/['’]s\b/giu, '')
    .toLowerCase()
}

/** Whether a word equals another one, possibly in the plural. */
function isForm(told: string | undefined, wanted: string): boolean {
  return told === wanted || told === `${wanted}s`
}
