/** Words of a company's name that documents rarely repeat. */
const LEGAL_FORMS = new Set(
  'the inc incorporated corp corporation company co ltd limited plc llc llp gmbh ag sa nv spa com group holdings holding'.split(
    ' ',
  ),
)
/** A name with this many letters may be part of a longer word: `ULTABEAUTY_2023Q4`. */
const MIN_LONG_NAME_LETTERS = 4

/**
 * Whether a text mentions a name: all words of the name follow each other, or are joined as in file names. Case,
 * accents and a company's legal form are ignored.
 */
export function mentionsName(text: string, name: string): boolean {
  const nameWords = splitWords(name)
  if (nameWords.length === 0) return false
  const textWords = splitWords(text)
  const joined = nameWords.join('')
  for (const [index, word] of textWords.entries()) {
    if (nameWords.every((nameWord, offset) => isSameWord(textWords[index + offset], nameWord))) return true
    if (joined.length >= MIN_LONG_NAME_LETTERS && word.startsWith(joined) && !/^\p{L}/u.test(word.slice(joined.length)))
      return true
    if (joined.length > MIN_LONG_NAME_LETTERS && nameWords.length > 1 && word.startsWith(joined)) return true
  }
  return false
}

/** Whether a text contains the longest word of a name: the last fallback for names of persons and products. */
export function mentionsLongestWord(text: string, name: string): boolean {
  const [longest = ''] = [...splitWords(name)].sort((a, b) => b.length - a.length)
  return longest.length >= MIN_LONG_NAME_LETTERS && splitWords(text).some((word) => isSameWord(word, longest))
}

/** The words of a name without its legal form, in lower case. */
function splitWords(text: string): string[] {
  const words = foldCase(text).match(/[\p{L}\p{M}\p{N}]+/gu) ?? []
  const distinctive = words.filter((word) => !LEGAL_FORMS.has(word))
  return distinctive.length > 0 ? distinctive : [...words]
}

function foldCase(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/['’]s\b/giu, '')
    .toLowerCase()
}

/** Whether a word equals another one, possibly in the plural. */
function isSameWord(textWords: string | undefined, nameWords: string): boolean {
  return textWords === nameWords || textWords === `${nameWords}s`
}
