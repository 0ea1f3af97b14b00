/** Text that costs what real text costs: words of a Zipf-like frequency, the same on every machine. */

const VOCABULARY = 40_000
const CONSONANTS = 'bcdfghjklmnprstvwz'
const VOWELS = 'aeiou'

/** Numbers in [0, 1) that depend on the seed alone (a 32-bit linear congruential generator, Numerical Recipes). */
export function numbers(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
}

const vocabulary = Array.from({ length: VOCABULARY }, (_, place) => {
  let word = ''
  for (let rest = place + 40; rest > 0; rest = Math.floor(rest / 90)) {
    word += CONSONANTS[rest % 18]! + VOWELS[Math.floor(rest / 18) % 5]!
  }
  return word
})

/** A word by Zipf's law with exponent 1 over the vocabulary, by inversion of the harmonic sum's logarithm. */
export function zipfWord(random: () => number): string {
  const rank = Math.floor(Math.exp(random() * Math.log(VOCABULARY + 1))) - 1
  return vocabulary[Math.min(VOCABULARY - 1, rank)]!
}

/** Sentences of 8 to 20 words until `characters` are reached. */
export function prose(random: () => number, characters: number): string {
  let text = ''
  while (text.length < characters) {
    const words = Array.from({ length: 8 + Math.floor(random() * 13) }, () => zipfWord(random))
    text += `${words.join(' ')}. `
  }
  return `${text.slice(0, characters - 1).trimEnd()}\n`
}

/** A query of 3 to 5 distinct words that stand in a text, as people remember what they read. */
export function queryFrom(random: () => number, text: string): string {
  const words = [...new Set(text.match(/\p{L}{4,}/gu) ?? [])]
  const wanted = 3 + Math.floor(random() * 3)
  const chosen = new Set<string>()
  while (chosen.size < Math.min(wanted, words.length)) chosen.add(words[Math.floor(random() * words.length)]!)
  return [...chosen].join(' ')
}
