import { doFacetsAgree, type Facet, findFacets } from '../query/question/facets.js'
import { hasEnglishWord } from './same-language.js'

/**
 * Facets of phrasings whose first words mislead: `how many o'clock` is a time, a headcount is not a number of days. In
 * English, German, French, Spanish and Chinese; the first match counts.
 */
const FACET_PATTERNS: readonly (readonly [readonly Facet[], RegExp])[] = [
  [
    ['price'],
    /\bwhat (?:does|do|did|will|would)\b.{1,60}\bcost\b|\bhow much\b.{1,60}\b(?:costs?|pay|owe|charged?)\b|\bpenalty\b|\bfines?\b/iu,
  ],
  [
    ['frequency', 'duration'],
    /\bhow (?:often|frequently)\b|\bevery how (?:many|much)\b|\bintervals?\b|\bcycle\b|(?<!\p{L})(?:wie oft|wie häufig|alle wie viele|\p{L}*intervall|tous les combien|à quelle fréquence|cada cuánto|con qué frecuencia)(?!\p{L})|多久.{0,4}(?:一次|换|更换)|周期|隔多/iu,
  ],
  // What ends or is due has an instant and a period, and people ask for either.
  [
    ['time', 'duration', 'frequency'],
    /\b(?:by|until|before) (?:what|which|when)\b|\bat the latest\b|\blatest (?:moment|date|day|time)\b|\bhow (?:soon|quickly)\b|\bwithin (?:what|which|how)\b|\bfrom when\b|\bafter how (?:many|long)\b|\bhow (?:long|far|many \w+|old)\b.{0,30}\b(?:before|prior|in advance|vorher)\b|\bfor what time\b|\bnotice\b|\bdeadlines?\b|\bwhen\b.{1,60}\b(?:ahead of|before|prior)\b|\b(?:expires?|run out|lapse|replaced|valid|due|retention)\b/iu,
  ],
  [
    ['time', 'duration', 'frequency'],
    /(?<!\p{L})(?:bis (?:wann|zu)|wie ?viele? (?:monate|tage|wochen) (?:vorher|zuvor)|\p{L}*frist|mit welcher frist|spätestens)(?!\p{L})|(?<!\p{L})(?:jusqu['’]|avant|après|au bout de|à partir de)\s?(?:à )?(?:quand|quel|combien)|(?<!\p{L})(?:hasta|antes de|después de) (?:cuándo|qué)|(?<!\p{L})(?:délai|plazo|date limite|fecha límite)(?!\p{L})|combien de temps .{0,12}avance|提前|截止|期限|之内|几天内|以内/iu,
  ],
  [
    ['time'],
    /\b(?:at|from) (?:what|which) (?:time|hour|date|day)\b|\bsince when\b|(?<!\p{L})(?:um|ab|gegen) (?:wie ?viel|welche[rnms]?)(?: \p{L}+)?(?!\p{L})|(?<!\p{L})(?:wie spät|seit wann|\p{L}*termin|\p{L}*uhrzeit)(?!\p{L})|(?<!\p{L})(?:desde|a) (?:cuándo|qué (?:día|hora|fecha))|de quand date|几点/iu,
  ],
  [['permission'], /\b(?:do|does|must|would|will) (?:i|we|you) have to pay (?:extra|more)\b/iu],
  [
    ['count'],
    /\bheadcount\b|\bnumbers\b|\bnumber of\b|\bhow many (?!(?:minutes|hours|days|weeks|months|years|met|kilo|litr|liter|feet|miles)\p{L}*)/iu,
  ],
  [
    ['measure', 'count', 'length'],
    /\bhow (?:much .{1,30}\bfits?|many (?:lit|met|kilo)\p{L}*)\b|\bvolume of\b|\bcapacity\b/iu,
  ],
  [['person'], /(?<!\p{L})(?:jefe|directora?|leiter(?:in)?|chef|fondat\p{L}+|fundador\p{L}*)(?!\p{L})/iu],
  [
    ['price'],
    /(?<!\p{L})(?:zahle|bezahle|zahlt|bezahlen|zahlen|kostet|kosten|\p{L}*preise?|\p{L}*gebühr(?:en)?|teuer|payer|paie|coûte|coûtent|prix|tarifs?|pagar|pagan?|cobran?|cuestan?|precios?|tarifas?|vale|multa)(?!\p{L})|多少[钱錢]|[费費](?:用|$)|多少元|租金|收费|价格/iu,
  ],
  [['price', 'count'], /(?<!\p{L})(?:importe|montant|betrag|a cuánto|asciende)(?!\p{L})|金额/iu],
  [
    ['duration'],
    /(?<!\p{L})(?:combien de (?:temps|minutes|heures|jours|mois)|cuánto (?:tiempo|dura|tarda)|cuántos (?:días|meses)|wie lange|\p{L}*dauer|durée|duración)(?!\p{L})|多[久长](?:时间)?|时长/iu,
  ],
  [
    ['count'],
    /\p{L}*zahl(?!\p{L})|(?<!\p{L})(?:anzahl|número de|cuántos|cuántas|nombre)(?!\p{L})(?! (?:del?|d)? ?(?:jefe))|人数|容量|容纳|多少人|几[本个场位]|多少[场本]/iu,
  ],
  [
    ['measure', 'length', 'count', 'duration'],
    /(?<!\p{L})(?:wie ?viele? (?:grad|meter|liter|kilo\p{L}*)|wie (?:lang|tief|breit|warm|kalt|schwer|groß) (?:ist|sind|war)|länge|tiefe|breite|\p{L}*temperatur|longueur|largeur|hauteur|taille|combien de mètres|long de combien|longitud|altura|cuántos metros)(?!\p{L})/iu,
  ],
  [['place'], /(?<!\p{L})(?:\p{L}{4,}ort|in welcher stadt)(?!\p{L})|在哪|哪儿|怎么走/iu],
  [['permission'], /(?<!\p{L})(?:darf|dürfen|faut-il|obligatoire|obligatori[oa]|permitid[oa]s?|permis)(?!\p{L})/iu],
]

/** German questions may begin with a word that English has, too. */
const GERMAN_WHAT = /^\s*was\b/iu

/** Facets that a question asks for; empty when its words do not show it. */
export function findWantedFacets(question: string): readonly Facet[] {
  const facets = FACET_PATTERNS.find(([, pattern]) => pattern.test(question))?.[0]
  if (facets !== undefined) return facets
  return GERMAN_WHAT.test(question) && !hasEnglishWord(question.replace(GERMAN_WHAT, ''))
    ? []
    : narrowFacets(findFacets(question))
}

/** `When` does not ask for a frequency; the facets of search are wider. */
function narrowFacets(facets: readonly Facet[]): readonly Facet[] {
  return facets.length === 2 && facets[0] === 'time' ? ['time'] : facets
}

/**
 * Whether two questions may ask for the same facet; undefined when unknown. A question about permission may ask for the
 * same as a question for a value.
 */
export function haveSameFacets(one: readonly Facet[], other: readonly Facet[]): boolean | undefined {
  if (one.length === 0 || other.length === 0) return undefined
  if (one.includes('permission') !== other.includes('permission')) return undefined
  return doFacetsAgree(one, other)
}
