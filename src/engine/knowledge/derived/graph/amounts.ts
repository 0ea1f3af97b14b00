import type { TokenizedSentence } from './phrases.js'

/** An amount of money as the end of a relation. */
export interface MoneyAmount {
  name: string
  /** its key among entities: `usd 5 a month` */
  key: string
  offset: number
}

const NUMBER =
  '(?:\\d[\\d,.]*\\d|\\d|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)'
const SCALE = '(?: ?(?:hundred|thousand|million|billion|k|m|bn))?'
const CURRENCY =
  '(?:dollars?|cents?|euros?|pounds?|pence|francs?|yen|yuan|rupees?|kronor|kroner|krona|krone|pesos?|won|roubles?|zloty|usd|eur|gbp|chf|jpy|cny|sek|nok|dkk)'
const UNIT = '(?: (?:an?|per|each|every) [\\p{Ll}]+(?: (?:per|a) [\\p{Ll}]+)?| each)?'
const AMOUNT = new RegExp(
  `(?:(?:US|CA|AU)?[$€£¥] ?${NUMBER}${SCALE}|${NUMBER}${SCALE} ${CURRENCY}|${CURRENCY} ${NUMBER}${SCALE})${UNIT}`,
  'iuy',
)
const CURRENCY_SIGNS: Readonly<Record<string, string>> = { $: 'usd ', '€': 'eur ', '£': 'gbp ', '¥': 'jpy ' }

/** The amount of money that starts at a token. */
export function findAmountAt({ text, tokens }: TokenizedSentence, index: number): MoneyAmount | undefined {
  const token = tokens[index]
  if (token === undefined) return undefined
  AMOUNT.lastIndex = token.start
  const name = AMOUNT.exec(text)?.[0]
  if (name === undefined) return undefined
  const key = name.toLowerCase().replace(/[$€£¥] ?/u, (sign) => CURRENCY_SIGNS[sign.trim()] ?? '')
  return { name, key, offset: token.start }
}
