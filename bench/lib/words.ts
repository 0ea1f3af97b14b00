/** Random text with the word frequencies of real text (Zipf's law), the same on every machine. */

const VOCABULARY = 40_000
const CONSONANTS = 'bcdfghjklmnprstvwz'
const VOWELS = 'aeiou'

/** Numbers in [0, 1) that depend on the seed alone (a 32-bit linear congruential generator, Numerical Recipes). */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
}

const vocabulary = Array.from({ length: VOCABULARY }, (_, index) => {
  let word = ''
  for (let rest = index + 40; rest > 0; rest = Math.floor(rest / 90)) {
    word += CONSONANTS[rest % 18]! + VOWELS[Math.floor(rest / 18) % 5]!
  }
  return word
})

/** Draws a word by Zipf's law with exponent 1, by inversion of the harmonic sum's logarithm. */
export function drawWord(random: () => number): string {
  const rank = Math.floor(Math.exp(random() * Math.log(VOCABULARY + 1))) - 1
  return vocabulary[Math.min(VOCABULARY - 1, rank)]!
}

/** Makes sentences of 8 to 20 words. */
export function makeProse(random: () => number, characters: number): string {
  let text = ''
  while (text.length < characters) {
    const words = Array.from({ length: 8 + Math.floor(random() * 13) }, () => drawWord(random))
    text += `${words.join(' ')}. `
  }
  return `${text.slice(0, characters - 1).trimEnd()}\n`
}

/** Makes a query of 3 to 5 distinct words of a text. */
export function makeQuery(random: () => number, text: string): string {
  const words = [...new Set(text.match(/\p{L}{4,}/gu) ?? [])]
  const count = 3 + Math.floor(random() * 3)
  const selected = new Set<string>()
  while (selected.size < Math.min(count, words.length)) selected.add(words[Math.floor(random() * words.length)]!)
  return [...selected].join(' ')
}
