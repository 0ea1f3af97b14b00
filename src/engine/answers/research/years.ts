/** Maximum years of a range that are all requested; of a longer range, only its two ends are. */
const MAX_RANGE_YEARS = 5
const YEAR = '(?:(?:FY|fiscal(?:\\s+years?)?|years?)\\s*)?(?:19|20)\\d\\d'
const SHORT_YEAR = 'FY\\s?\\d\\d'
const ANY_YEAR = `(?:${YEAR}|${SHORT_YEAR})`
/** Years with the words around them: `between 2021 and 2022`, `in FY2020, FY2021 and FY2022`. */
const PHRASE = new RegExp(
  `(?:\\b(?:between|from|in|during|for|over|as of|at the end of|of|since|the)\\s+){0,2}(?:the\\s+)?(?:fiscal\\s+)?(?:years?\\s+)?(?<!\\p{L})${ANY_YEAR}(?!\\d)(?:(?:\\s*(?:,|-|–)\\s*|\\s*,?\\s*(?:and|to|or|through|versus|vs\\.?|with|und|bis|et|y|compared (?:to|with))\\s+(?:in\\s+)?)${ANY_YEAR}(?!\\d))*`,
  'giu',
)
const SINGLE = new RegExp(`${ANY_YEAR}(?!\\d)`, 'giu')
const RANGE = /(?:between|from)\s.*\b(?:and|to)\b|\d\s*[-–]\s*(?:FY)?\d|\d\s+(?:to|through|bis)\s/iu

/** Returns the years in a question, in order, and the question without them. */
export function extractYears(text: string): { years: string[]; rest: string } {
  const years = new Set<string>()
  const rest = text.replace(PHRASE, (phrase) => {
    const found = [...phrase.matchAll(SINGLE)].map(([one]) => Number(toFourDigits(one)))
    const [first = 0, last = first] = [Math.min(...found), Math.max(...found)]
    const isRange = found.length === 2 && RANGE.test(phrase) && last - first < MAX_RANGE_YEARS
    const all = isRange ? Array.from({ length: last - first + 1 }, (_, offset) => first + offset) : found
    for (const year of all) years.add(String(year))
    return ' '
  })
  return { years: [...years].sort(), rest: rest.replace(/\s+/g, ' ').trim() }
}

function toFourDigits(text: string): string {
  const digits = text.replace(/\D/g, '')
  return digits.length === 2 ? `20${digits}` : digits
}
