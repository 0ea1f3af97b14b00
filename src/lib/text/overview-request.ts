/** A message about the collection of documents, instead of a question that a passage answers. */
export type OverviewRequest =
  /** what the application is made of */
  | { kind: 'contents' }
  /** a summary of the documents on a subject */
  | { kind: 'summary'; subject: string }

/** Words of a language, separated by spaces. A question about the collection consists of these words alone. */
interface OverviewWords {
  /** how such a question begins; "where" or "when" ask for a fact */
  openings: string
  /** the application, addressed or pointed at */
  addresses: string
  /** what it consists of */
  parts: string
  /** words that say nothing about a subject of the documents */
  others: string
  /** matches a request for a summary up to its subject */
  summary: RegExp
}

const LANGUAGES: readonly OverviewWords[] = [
  {
    openings: 'what whats which who whos how can could do list show tell help give describe explain',
    addresses: 'you your yourself here help inside',
    parts: 'documents document files file topics topic subject subjects themes spaces space contents content',
    others:
      'a an and the of in on at it its is are am be do does did can could would will may i we me us my our to for with about there have has all any many much kind kinds sort sorts type types please hello hi hey this that these those know knows contain contains cover covers covered include includes included available answer answers answering ask asked asking questions question find stored collection knowledge base library application app assistant bot exactly able help capable talk things thing information data list show tell give describe explain overview really actually so then what which who how does tasks',
    summary:
      /^(?:(?:please|can you|could you|would you)[ ,]+)*(?:summari[sz]e|sum up|give (?:me |us )?(?:a |an )?(?:short |brief |quick )?(?:summary|overview) (?:of|on|about)|(?:a )?(?:short |brief )?summary (?:of|on|about))\s+/iu,
  },
  {
    openings: 'was wer welche welches welcher wie womit worüber kannst können zeig zeige liste hilfe hilf',
    addresses: 'du dir dich ihnen hier hilfe helfen hilf drin',
    parts: 'dokumente dokumenten dateien themen inhalte inhalt bereiche',
    others:
      'sie enthalten was wer welche welches welcher wie viele viel worüber womit kannst können könnt kann ist sind bist gibt es stehen steht alles denn eigentlich bitte mir uns mich ich wir so zu in im den die der das dem ein eine von und an auf mit über dabei weißt wissen weiß bescheid antworten beantworten fragen frage hast haben tun machen finden finde liegen alle zeig zeige auflisten mal',
    summary:
      /^(?:bitte\s+)?(?:fasse?|fass)\s+(?=.*\bzusammen\b)|^(?:eine?\s+)?(?:kurze\s+)?(?:zusammenfassung|übersicht)\s+(?:von|vom|zu|zum|zur|über|des|der)\s+/iu,
  },
  {
    openings: 'que qu quoi quels quelles quel quelle qui comment combien peux pouvez liste montre aide',
    addresses: 'tu te toi vous ici aide aider',
    parts: 'documents document fichiers sujets thèmes contenu espaces',
    others:
      'que qu quoi quels quelles quel quelle qui comment combien est ce c y a il sont es êtes peux pouvez peut faire fais faites sais savez de d des du la le les l un une à au aux en dans et moi me m nous je puis on trouve trouver demander poser question questions répondre contient contiennent cette cet collection bibliothèque application assistant sur liste montre disponibles avez as quoi',
    summary:
      /^(?:(?:peux-tu|pouvez-vous)\s+)?(?:résume[rz]?|(?:fais|faites)(?:-moi)? un résumé (?:de|du|des)|résumé (?:de|du|des))\s+/iu,
  },
  {
    openings: 'qué que quién cuáles cuál cuántos cómo puedes puede lista muestra ayuda',
    addresses: 'tú te usted ustedes aquí ayuda ayudar eres sabes puedes',
    parts: 'documentos documento archivos temas contenido espacios',
    others:
      'qué que quién cuáles cuál cuántos cómo puedes puede hacer hace es eres son hay sabes sabe de del la el los las un una a al en y me nos yo puedo se encuentra encontrar preguntar pregunta preguntas responder contiene esta este colección biblioteca aplicación asistente sobre lista muestra disponibles tienes tiene',
    summary: /^(?:puedes\s+)?(?:resume|resumir|resumen (?:de|del)|haz(?:me)? un resumen (?:de|del))\s+/iu,
  },
]

/** A question about one part or about using them, such as "What is a document?", asks for a fact. */
const FACT_WORDS =
  /(?<!\p{L})(?:an?|i|we|my|eine?|ich|wir|je|nous|une?|yo|una|how(?! many)|wie(?! viele)|comment|cómo)(?!\p{L})/iu

const VOCABULARIES = LANGUAGES.map(({ openings, addresses, parts, others, summary }) => {
  const toSet = (list: string) => new Set(list.split(' '))
  const known = toSet([openings, addresses, parts, others].join(' '))
  return { openings: toSet(openings), addresses: toSet(addresses), parts: toSet(parts), known, summary }
})

const MAX_WORDS = 14
const MAX_SUBJECT_CHARACTERS = 120

/**
 * Recognizes a message about the collection itself: "What can you do?", "What is in here?", "Summarise project Atlas".
 * Undefined for every other message: a word outside the vocabulary is a subject that documents may contain.
 */
export function parseOverviewRequest(message: string): OverviewRequest | undefined {
  const text = message.normalize('NFC').replace(/^[\s¿¡]+|[\s.!?…]+$/gu, '')
  if (isAboutCollection(text, { withOpening: true })) return { kind: 'contents' }
  const summary = VOCABULARIES.find((vocabulary) => vocabulary.summary.test(text))?.summary
  if (summary === undefined) return undefined
  const subject = text
    .replace(summary, '')
    .replace(/\s+zusammen$/iu, '')
    .trim()
  if (subject === '' || subject.length > MAX_SUBJECT_CHARACTERS || subject.includes('\n')) return undefined
  return isAboutCollection(subject, { withOpening: false }) ? { kind: 'contents' } : { kind: 'summary', subject }
}

/** Whether a text consists of words about the collection alone. */
function isAboutCollection(text: string, { withOpening }: { withOpening: boolean }): boolean {
  const words = text.toLowerCase().match(/[\p{L}\p{M}\p{N}]+/gu) ?? []
  if (words.length > MAX_WORDS) return false
  return VOCABULARIES.some(
    ({ openings, addresses, parts, known }) =>
      words.every((word) => known.has(word)) &&
      (!withOpening || openings.has(words[0] ?? '')) &&
      (words.some((word) => addresses.has(word)) || (words.some((word) => parts.has(word)) && !FACT_WORDS.test(text))),
  )
}
