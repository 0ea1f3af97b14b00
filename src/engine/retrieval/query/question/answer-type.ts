/**
 * Kind of answer that a question asks for, from its words in English, German, French, Spanish and Chinese. `any` when
 * they do not show it. `name` is asked for by `which` or `what` with a noun; `truth` by yes-or-no questions.
 */
export type AnswerType =
  | 'person'
  | 'time'
  | 'money'
  | 'percent'
  | 'duration'
  | 'number'
  | 'place'
  | 'reason'
  | 'definition'
  | 'name'
  | 'truth'
  | 'any'

function joinPatterns(...patterns: readonly RegExp[]): RegExp {
  return new RegExp(patterns.map(({ source }) => source).join('|'), 'iu')
}

/** When several match at the same position, the first entry wins. Each language has its own lines. */
const QUESTIONS: readonly (readonly [AnswerType, RegExp])[] = [
  [
    'percent',
    joinPatterns(
      /\b(?:what|which) (?:percent(?:age)?|share|proportion|fraction)\b|\bhow many percent\b/,
      /\bwie ?viel prozent\b|\bwelche[rn]? (?:anteil|prozentsatz)\b/,
      /\bquel(?:le)? (?:pourcentage|part|proportion)\b|\bqué (?:porcentaje|parte|proporción)\b/,
      /百分之[几多]|[占佔].{0,8}多少|比例[是为為]?多少/,
    ),
  ],
  [
    'money',
    joinPatterns(
      /\bhow much (?:money|does|do|did|is|are|was|were|will|would|has|have|had|must|should|can|to pay)\b|\bhow expensive\b/,
      /\b(?:what|which)(?:'s| is| was| are| were| does| did)? .{0,40}\b(?:price|cost|fee|salary|revenue|budget|rent|fare)s?\b/,
      /\b(?:was|wie ?viel) (?:kostet|kosten|kostete|verdient|zahlt|bezahlt)\b|\bwie teuer\b|\bwie hoch (?:ist|sind|war|waren) .{0,30}(?:preis|kosten|gebühr|miete|gehalt|umsatz)/,
      /\bcombien (?:coûte|coûtent|coute|paie|gagne|vaut)|\bquel(?:le)?s? (?:est|était) .{0,20}(?:prix|coût|tarif|loyer)\b/,
      /\bcuánto (?:cuesta|cuestan|vale|costó|paga|gana)\b|\bcuál es el (?:precio|coste|costo)\b/,
      /多少[钱錢元]|价格|價格|票价/,
    ),
  ],
  [
    'duration',
    joinPatterns(
      /\bhow long (?:does|do|did|is|are|was|were|will|has|have|had|can|must|should|may|after|before|until)\b|\bhow (?:old|many (?:years|months|weeks|days|hours|minutes))\b/,
      /\bwie (?:lange|alt)\b|\bwie ?viele (?:jahre|monate|wochen|tage|stunden|minuten)\b/,
      /\bcombien de (?:temps|jours|mois|années|ans|semaines|heures|minutes)\b|\bquel âge\b/,
      /\bcuánto tiempo\b|\bcuántos (?:años|meses|días)\b|\bcuántas (?:semanas|horas)\b|\bqué edad\b/,
      /多久|多[长長]时[间間]|多长時間|[几幾多少]+[个個]?(?:小时|小時|分[钟鐘]|星期|月|天|年)(?!份)|多大年[纪紀]/,
    ),
  ],
  [
    'number',
    joinPatterns(
      /\bhow (?:many|much|long|far|tall|high|large|big|fast|deep|often|wide|heavy|hot|cold|close|small)\b|\b(?:what|which) (?:number|amount|temperature|speed|size|height|length|distance|population)\b/,
      /\bwie ?(?:viele?|hoch|groß|weit|schnell|tief|oft|häufig|breit|schwer|warm|kalt|lang)\b|\bwelche (?:anzahl|menge|temperatur|größe|höhe)\b/,
      /\bcombien\b|\bquelle est la (?:hauteur|taille|longueur|distance|vitesse|température|population|superficie)\b/,
      /\bcuánt[oa]s?\b|\bqué (?:número|cantidad|altura|tamaño|distancia|velocidad|temperatura)\b/,
      /多少|[几幾][个個名人次年天种種岁歲座部位届屆条條所层層张張家支只篇首卷集场場级級类類项項]|多[大高长長远遠久重深宽寬快]/,
    ),
  ],
  [
    'time',
    joinPatterns(
      /\bwhen\b|\b(?:what|which|in what|in which|on what) (?:year|date|day|month|century|decade|time|season|era|period)\b|\b(?:by|until|since) when\b/,
      /\bwann\b|\b(?:in )?welche[mnrs]? (?:jahr|tag|monat|jahrhundert|datum|zeit)\b/,
      /\bquand\b|\b(?:en )?quel(?:le)? (?:année|date|jour|mois|siècle|heure)\b/,
      /\bcuándo\b|\b(?:en )?qué (?:año|fecha|día|mes|siglo|hora)\b/,
      /哪一?[年天日月]|何[时時年]|什么时[候间]|什麼時[候間]|[哪什][个個么麼](?:年代|世纪|世紀|时期|時期|朝代)/,
    ),
  ],
  [
    'place',
    joinPatterns(
      /\bwhere\b|\b(?:what|which) (?:city|country|state|place|region|town|continent|river|county|province|area|district|location|island|street|building|room)s?\b/,
      /\b(?:wo|wohin|woher)\b|\b(?:in )?welche[mnrs]? (?:stadt|land|ort|region|gegend|straße|raum|gebäude|kontinent)\b/,
      /(?<!\p{L})où(?!\p{L})|\b(?:dans )?quel(?:le)?s? (?:ville|pays|lieu|région|endroit|rue|continent|salle)\b/u,
      /\bdónde\b|\b(?:en )?qué (?:ciudad|país|lugar|región|calle|continente|sala)\b/,
      /哪[里裡儿兒]|何[处處地]|什[么麼]地方|位[于於]哪|哪[个個](?:国家|國家|城市|地区|地區|省|市|县|縣|洲)|哪[国國]|出生地/,
    ),
  ],
  [
    'reason',
    joinPatterns(
      /\bwhy\b|\bhow come\b|\b(?:what|which) (?:is |was |are |were )?(?:the )?(?:main )?(?:reason|cause|purpose)s?\b|\bwhat (?:caused|causes|led|leads)\b/,
      /\b(?:warum|wieso|weshalb|weswegen|wozu)\b|\bpourquoi\b|\bpor qué(?!\p{L})|\bpara qué(?!\p{L})/u,
      /(?<![称稱成名作认認叫取译譯])[为為]什[么麼]|为何|為何|[原起]因|怎么会|缘故/,
    ),
  ],
  [
    'person',
    joinPatterns(
      /\bwho(?:m|se)?\b|\bwhat is the name of the (?:person|man|woman)\b|\b(?:what|which) (?:person|man|woman|king|queen|president|emperor|author|scientist|actor|leader|minister|general)\b/,
      /\bwe(?:r|n|m|ssen)\b(?=.{0,200}\?|\s+(?:hat|ist|war|wird|schrieb|leitet|muss|darf|kann|gründete|erfand))|\bqui\b(?=.{0,200}\?|\s+(?:est|a|sont|ont))|\bqui[eé]n(?:es)?\b/,
      /谁|誰|哪[位些]?人|何人|哪[位名](?!次)/,
    ),
  ],
  [
    'definition',
    joinPatterns(
      /^\s*what (?:is|are|was|were) (?:a |an |the )?[\p{L}\s-]{2,40}\??\s*$|\bwhat does .{1,60} (?:mean|stand for)\b|\bdefine\b|\bdefinition of\b/u,
      /^\s*was (?:ist|sind|bedeutet|heißt) (?:ein |eine |der |die |das )?[\p{L}\s-]{2,40}\??\s*$|\bwas versteht man unter\b/u,
      /\bqu['’]est-ce qu(?:e |['’])|\bqué (?:es|son|significa)\b|是什[么麼]|什[么麼]是|[指称稱]什[么麼]|什么意思|何谓/,
    ),
  ],
  [
    'truth',
    joinPatterns(
      /^\s*(?:is|are|was|were|do|does|did|has|have|had|can|could|may|must|should|will|would)\b/,
      /^\s*(?:ist|sind|war|waren|hat|haben|kann|können|darf|dürfen|muss|müssen|soll|wird|werden|gibt es)\b|^\s*est-ce que\b|^\s*¿?(?:es|son|está|están|hay|puede|pueden|tiene|debe)\b/,
      /[吗嗎][？?]?\s*$|是否|是不是|有没有|能不能|可不可以/,
    ),
  ],
  [
    'name',
    joinPatterns(
      /\b(?:which|what)\b/,
      /\bwelche[rsmn]?\b|\bquel(?:le)?s?\b|\bcuál(?:es)?\b|哪[些个個种種款本部支家]|什[么麼]/,
    ),
  ],
]

/** Returns the kind of answer that a question asks for. The earliest match in the question decides. */
export function answerType(query: string): AnswerType {
  let type: AnswerType = 'any'
  let first = Number.POSITIVE_INFINITY
  for (const [kind, pattern] of QUESTIONS) {
    const position = query.search(pattern)
    if (position < 0 || position >= first) continue
    type = kind
    first = position
  }
  return type
}

const joinAlternatives = (...alternatives: readonly string[]): string => `(?:${alternatives.join('|')})`
const joinWords = (list: string): string => joinAlternatives(...list.trim().split(/\s+/))
const BEFORE = String.raw`(?<![\p{L}\p{N}])`
const AFTER = String.raw`(?![\p{L}\p{N}])`
const wholeWord = (pattern: string): string => `${BEFORE}${pattern}${AFTER}`

const DIGITS = String.raw`\d+(?:[.,]\d+)*`
const NUMBER_WORDS = joinWords(`
  two three four five six seven eight nine ten eleven twelve dozen fifteen twenty thirty forty fifty sixty eighty ninety
  hundred thousand million billion half third quarter once twice zwei drei vier fünf sechs sieben acht neun zehn elf
  zwölf zwanzig dreißig vierzig fünfzig hundert tausend millionen milliarden hälfte deux trois quatre cinq sept huit neuf
  dix onze douze quinze vingt trente cent mille moitié dos tres cuatro cinco seis siete ocho nueve diez once doce veinte
  treinta cien mil millones mitad
`)
const HAN_DIGITS = '[一二三四五六七八九十百千万萬亿億两兩几幾半]+'
const HAN_UNITS = '[个個名人次年天种種岁歲座部位届屆米公里元%条條所层層家场場级級集只支項项]'
const NUMBER = joinAlternatives(DIGITS, wholeWord(NUMBER_WORDS), `${HAN_DIGITS}(?=${HAN_UNITS})`)
const COUNTED = joinAlternatives(
  DIGITS,
  `${BEFORE}${joinAlternatives(NUMBER_WORDS, 'one', 'eine?[mnr]?', 'une?', 'una?')}`,
)

const MONTHS = joinWords(`
  january february march april may june july august september october november december januar februar märz mai juni
  juli oktober dezember janvier février mars avril juin juillet août septembre octobre novembre décembre enero febrero
  marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre
`)
const DAYS = joinWords(`
  mondays? tuesdays? wednesdays? thursdays? fridays? saturdays? sundays? montags? dienstags? mittwochs? donnerstags?
  freitags? samstags? sonntags? lundi mardi mercredi jeudi vendredi samedi dimanche lunes martes miércoles jueves viernes
  sábado domingo
`)
const TIME_UNITS = joinWords(`
  seconds? minutes? hours? days? weeks? months? years? decades? centur(?:y|ies) sekunden? minuten? stunden? tage?n?
  wochen? monate?n? jahre?n? secondes? heures? jours? semaines? mois années? ans? segundos? minutos? horas? días?
  semanas? mes(?:es)? años?
`)
const CURRENCY = joinWords(`
  dollars? euros? eur usd gbp chf cents? pounds? pence yen yuan rmb franken francs? pesos? rupees? kronor? kroner
`)

type SignPattern = readonly [strength: number, pattern: RegExp]
const sign = (strength: number, ...alternatives: readonly string[]): SignPattern => [
  strength,
  new RegExp(joinAlternatives(...alternatives), 'giu'),
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
