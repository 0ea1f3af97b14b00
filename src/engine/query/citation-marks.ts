/** `[1, 3]`, `[2-4]`, `[passage 2]`, `【1】`: what models write where they were asked for `[1]`. */
const OTHER_MARK = /^[[【]\s*(?:passages?\s+)?\d{1,3}(?:\s*[-–,;、，]\s*\d{1,3})*\s*[\]】]$/i
/** The beginning of such a mark. */
const BEGUN = /^[[【]\s*(?:p[a-z]*\s*)?[\d\s\-–,;、，]*$/i
const OPENING = /[[【]/
const MOST_CHARACTERS = 40
/** A range of more passages than this is no citation. */
const LONGEST_RANGE = 20

/**
 * Writes the citations of an answer that comes in pieces as `[1][3]`, which is what every reader of answers looks for.
 * Code is left as it is: there `[1, 2]` is a list.
 *
 * @param given how many passages the model has; a mark with another number is no citation
 */
export function citationWriter(given: number) {
  let held = ''
  let ticks = 0

  const written = (text: string): string => {
    for (const character of text) if (character === '`') ticks++
    return text
  }

  /** Lets out what is decided; `isEnd` lets out everything. */
  const flush = (isEnd: boolean): string => {
    let out = ''
    for (;;) {
      const at = held.search(OPENING)
      if (at < 0) {
        out += written(held)
        held = ''
        return out
      }
      out += written(held.slice(0, at))
      held = held.slice(at)
      const end = held.search(/[\]】]/)
      if (end < 0 && !isEnd && held.length < MOST_CHARACTERS && BEGUN.test(held)) return out
      // another opening may stand right behind this one
      const taken = end < 0 || end >= MOST_CHARACTERS ? 1 : end + 1
      const mark = held.slice(0, taken)
      const numbers = ticks % 2 === 0 && OTHER_MARK.test(mark) ? numbersOf(mark, given) : undefined
      const length = numbers === undefined ? 1 : taken
      out += numbers === undefined ? written(held.slice(0, 1)) : numbers.map((number) => `[${number}]`).join('')
      held = held.slice(length)
    }
  }

  return {
    take(text: string): string {
      held += text
      return flush(false)
    },
    /** What was held back when the answer ended. */
    rest: (): string => flush(true),
  }
}

/** The passages that a mark names; undefined where one of them is none. */
function numbersOf(mark: string, given: number): number[] | undefined {
  const numbers: number[] = []
  for (const part of mark.split(/[,;、，]/)) {
    const [from = 0, to = from] = (part.match(/\d+/g) ?? []).map(Number)
    if (from < 1 || to > given || to < from || to - from >= LONGEST_RANGE) return undefined
    for (let number = from; number <= to; number++) numbers.push(number)
  }
  return numbers
}
