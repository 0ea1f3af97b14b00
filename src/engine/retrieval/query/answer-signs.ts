import type { AnswerType } from './answer-type.js'

const any = (...alternatives: readonly string[]): string => `(?:${alternatives.join('|')})`
const words = (list: string): string => any(...list.split(/\s+/).filter((word) => word !== ''))
const BEFORE = String.raw`(?<![\p{L}\p{N}])`
const AFTER = String.raw`(?![\p{L}\p{N}])`
const wholeWord = (pattern: string): string => `${BEFORE}${pattern}${AFTER}`

const DIGITS = String.raw`\d+(?:[.,]\d+)*`
const NUMBER_WORDS = words(`
  two three four five six seven eight nine ten eleven twelve dozen fifteen twenty thirty forty fifty sixty eighty ninety
  hundred thousand million billion half third quarter once twice zwei drei vier fünf sechs sieben acht neun zehn elf
  zwölf zwanzig dreißig vierzig fünfzig hundert tausend millionen milliarden hälfte deux trois quatre cinq sept huit neuf
  dix onze douze quinze vingt trente cent mille moitié dos tres cuatro cinco seis siete ocho nueve diez once doce veinte
  treinta cien mil millones mitad
`)
const HAN_DIGITS = '[一二三四五六七八九十百千万萬亿億两兩几幾半]+'
const HAN_UNITS = '[个個名人次年天种種岁歲座部位届屆米公里元%条條所层層家场場级級集只支項项]'
const NUMBER = any(DIGITS, wholeWord(NUMBER_WORDS), `${HAN_DIGITS}(?=${HAN_UNITS})`)
const COUNTED = any(DIGITS, `${BEFORE}${any(NUMBER_WORDS, 'one', 'eine?[mnr]?', 'une?', 'una?')}`)

const MONTHS = words(`
  january february march april may june july august september october november december januar februar märz mai juni
  juli oktober dezember janvier février mars avril juin juillet août septembre octobre novembre décembre enero febrero
  marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre
`)
const DAYS = words(`
  mondays? tuesdays? wednesdays? thursdays? fridays? saturdays? sundays? montags? dienstags? mittwochs? donnerstags?
  freitags? samstags? sonntags? lundi mardi mercredi jeudi vendredi samedi dimanche lunes martes miércoles jueves viernes
  sábado domingo
`)
const TIME_UNITS = words(`
  seconds? minutes? hours? days? weeks? months? years? decades? centur(?:y|ies) sekunden? minuten? stunden? tage?n?
  wochen? monate?n? jahre?n? secondes? heures? jours? semaines? mois années? ans? segundos? minutos? horas? días?
  semanas? mes(?:es)? años?
`)
const CURRENCY = words(`
  dollars? euros? eur usd gbp chf cents? pounds? pence yen yuan rmb franken francs? pesos? rupees? kronor? kroner
`)

type SignPattern = readonly [strength: number, pattern: RegExp]
const sign = (strength: number, ...alternatives: readonly string[]): SignPattern => [
  strength,
  new RegExp(any(...alternatives), 'giu'),
]

/** A capitalised word that does not merely begin the sentence. */
const NAME = /(?<=[\p{Ll}\p{N},;:)”"'’]\s+(?:["“(]\s*)?)\p{Lu}[\p{L}'’.-]+/gu
const TITLE = /《[^》]+》|“[^”]+”|「[^」]+」|"[^"]{2,60}"/gu
const PLACE_PHRASE =
  /(?<!\p{L})(?:in|at|near|from|to|of|between|along|into|across|im|am|an|auf|bei|nach|aus|à|au|aux|en|dans|vers|desde|hacia)\s+(?:the\s+|der\s+|dem\s+|den\s+|la\s+|le\s+|el\s+|los\s+|l['’])?\p{Lu}\p{L}+|[在于於至往][\p{Script=Han}]{2,}|[\p{Script=Han}]{2}[省市县縣区區州国國镇鎮村岛島]/gu
const NUMBERS = sign(1, NUMBER)

/**
 * Patterns that show that a sentence contains something of a kind, each with its strength. Reasons are recognized by
 * connectives, places by prepositions, names by capitals within the sentence.
 */
const SIGNS: Record<AnswerType, readonly SignPattern[]> = {
  person: [
    [1, NAME],
    [1, /[\p{Script=Han}]{1,6}[·・][\p{Script=Han}]{1,6}/gu],
    [0.6, /(?:[由是叫]|名为)[\p{Script=Han}]{2,4}/gu],
    sign(
      0.6,
      wholeWord(
        String.raw`(?:the|a|an|our|your|by|der|die|le|la|el) (?:\p{L}+ )?\p{L}{2,}(?:er|or|ist|ian|ant|team|staff|board|department|committee|eur|euse|ung)s?`,
      ),
    ),
  ],
  time: [
    sign(
      1,
      wholeWord(MONTHS),
      wholeWord(String.raw`(?:1\d|20)\d\ds?`),
      wholeWord(String.raw`\d{1,2}(?:st|nd|rd|th) century`),
      String.raw`\d+\s*[年月日世]|[一二三四五六七八九十]+月|${HAN_DIGITS}世[纪紀]`,
    ),
    sign(
      0.8,
      wholeWord(DAYS),
      wholeWord(String.raw`\d{1,2}(?::\d\d)?\s?(?:[ap]\.?m\.?|uhr|o'clock|h)`),
      String.raw`\d{1,2}:\d\d`,
      wholeWord('(?:century|siècle|siglo|jahrhundert|noon|midnight|mittag|mitternacht|midi|minuit)'),
    ),
    sign(
      0.5,
      `${COUNTED}[ -]${TIME_UNITS}${AFTER}`,
      wholeWord('(?:after|before|until|since|every|during|when|by the end of)'),
    ),
  ],
  money: [
    sign(
      1,
      String.raw`[$€£¥]\s?\d`,
      `${COUNTED}\\s?(?:${wholeWord(CURRENCY)}|[€$£%]|[元円])`,
      wholeWord('(?:free|kostenlos|gratuite?|gratis)'),
    ),
    sign(0.4, NUMBER),
  ],
  percent: [
    sign(1, String.raw`\d\s?[%％]|百分之`, wholeWord('(?:percent|per cent|prozent|pour cent|por ciento)')),
    sign(0.5, NUMBER, wholeWord('(?:majority|most|mehrheit|plupart|mayoría)')),
  ],
  duration: [
    sign(
      1,
      `${COUNTED}(?:[ -]\\p{L}+)?[ -]${TIME_UNITS}${AFTER}`,
      String.raw`(?:\d+|${HAN_DIGITS})\s*[个個]?(?:年|月|天|日|小时|小時|分[钟鐘]|星期|周|岁|歲)`,
    ),
    sign(0.4, NUMBER),
  ],
  number: [NUMBERS],
  place: [
    [1, PLACE_PHRASE],
    sign(
      0.5,
      wholeWord(
        String.raw`(?:in|on|at|under|behind|beside|inside|near|im|am|auf|unter|hinter|neben|dans|sur|sous|en|sobre|bajo) (?:the |a |an |der |dem |den |le |la |el |los )?\p{L}{3,}`,
      ),
    ),
  ],
  reason: [
    sign(
      1,
      wholeWord('(?:because|due to|owing to|as a result|so that|in order to|caused by|the reason|thanks to)'),
      wholeWord(
        '(?:weil|denn|wegen|aufgrund|damit|deshalb|daher|parce que?|car|afin|en raison|grâce|à cause|porque|debido|ya que|a causa)',
      ),
      '因[为為此]?|由[于於]|所以|[为為]了|[导導]致|使得|以便',
    ),
    sign(0.5, wholeWord('(?:since|therefore|thus|for|to|as|so|led|leads?|results?|resulted|um|da|pour|para)')),
  ],
  definition: [
    sign(
      1,
      wholeWord('(?:is|are|was|were|means?|refers? to|defined as|known as|called)'),
      wholeWord('(?:ist|sind|bezeichnet|bedeutet|heißt|est|sont|désigne|signifie|es|son|significa)'),
      '是|指|即|[称稱]',
    ),
  ],
  name: [
    [1, NAME],
    [1, TITLE],
  ],
  truth: [],
  any: [],
}

/** A part of a text that is of the kind that a question asks for. */
export interface AnswerSign {
  /** confidence, 0 to 1 */
  strength: number
  start: number
  end: number
}

/**
 * Finds the first match of the strongest pattern for the kind asked for. Text that the question contains does not
 * count.
 *
 * @param lowerQuestion the question in lower case
 */
export function findSign(type: AnswerType, text: string, lowerQuestion: string): AnswerSign | undefined {
  for (const [strength, pattern] of SIGNS[type])
    for (const { 0: found, index } of text.matchAll(pattern))
      if (type === 'definition' || type === 'reason' || !lowerQuestion.includes(found.toLowerCase()))
        return { strength, start: index, end: index + found.length }
  return undefined
}

/**
 * Confidence, 0 to 1, that a sentence contains something of the kind asked for that the question does not already name.
 *
 * @param lowerQuestion the question in lower case
 */
export function computeSignStrength(type: AnswerType, sentence: string, lowerQuestion: string): number {
  return findSign(type, sentence, lowerQuestion)?.strength ?? 0
}

/** Whether a sentence contains something of the kind asked for that the question does not already name. */
export function hasAnswerSign(type: AnswerType, sentence: string, query: string): boolean {
  return computeSignStrength(type, sentence, query.toLowerCase()) > 0
}
