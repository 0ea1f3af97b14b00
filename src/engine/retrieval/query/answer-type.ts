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
    const at = query.search(pattern)
    if (at < 0 || at >= first) continue
    type = kind
    first = at
  }
  return type
}
