/** Names of the namespace of categories in languages of wikis. */
const CATEGORY =
  /^(?:categor(?:y|ie|ia|ía|iae)|catégorie|kategor(?:ie|i|ia|ija|iija|io|ya|iya|iye|í|ía|ie)|kategória|kategooria|catagóir|categori|luokka|flokkur|bólkur|rummet|klokka|jamii|thể loại|категор(?:ия|ія|ија|ии)|катэгорыя|санат|κατηγορία|קטגוריה|تصنيف|رده|زمرہ|श्रेणी|वर्ग|বিষয়শ্রেণী|பகுப்பு|వర్గం|ವರ್ಗ|വർഗ്ഗം|หมวดหมู่|կատեգորիա|კატეგორია|分类|分類|カテゴリ|분류)$/iu
/** A target with a namespace and the ending of a file of pictures, sound or video, in any language. */
const FILE =
  /^[^:[\]|]{2,30}:[^|]{0,400}\.(?:jpe?g|jpe|png|gif|svgz?|tiff?|webp|avif|xcf|pdf|djvu|ogg|oga|ogv|opus|webm|mp3|mp4|mpe?g|wav|flac|midi?|stl|map|tab)\s*$/iu
const FILE_NAMESPACE =
  /^(?:file|image|media|datei|bild|fichier|archivo|imagen|immagine|bestand|plik|ficheiro|файл|ファイル|文件|檔案)\s*:/iu
/** Options of a picture: sizes, named values, and the words of a language for its alignment. */
const FILE_OPTION =
  /^(?:\d*x?\d+\s*px|[\p{L}-]{2,20}\s*=|(?:thumb|thumbnail|frame|framed|frameless|border|left|right|center|centre|none|upright|baseline|sub|super|top|text-top|middle|bottom|text-bottom)$)/iu
/** Other languages have their own words for these options, which are single words in lower case. */
const FOREIGN_OPTION = /^\p{Ll}[\p{Ll}-]{1,24}$/u
/** A link to the same page in another language, which is alone on its line. */
const LANGUAGE = /^(?:[a-z]{2,3}|[a-z]{2,3}-[a-z-]{2,12}|simple):[^|]+$/

export interface WikiLink {
  text: string
  category?: string
  /** the text is the caption of a picture, which is a separate paragraph */
  isCaption?: true
}

/**
 * The text that a link displays.
 *
 * @param parts the target and what follows it after bars, already without markup of links and templates
 * @param context `isAlone`: nothing else is on the line of the link
 */
export function readWikiLink(parts: readonly string[], context: { isAlone: boolean }): WikiLink {
  const target = (parts[0] ?? '').trim()
  const rest = parts.slice(1)
  const isEscaped = target.startsWith(':')
  const colon = target.indexOf(':')
  if (!isEscaped && colon > 0) {
    if (CATEGORY.test(target.slice(0, colon).trim())) return { text: '', category: target.slice(colon + 1).trim() }
    if (FILE.test(target) || FILE_NAMESPACE.test(target)) return { text: findCaption(rest), isCaption: true }
    if (context.isAlone && rest.length === 0 && LANGUAGE.test(target)) return { text: '' }
  }
  const label = rest.join('|').trim()
  if (rest.length > 0 && label !== '') return { text: label }
  const name = isEscaped ? target.slice(1) : target
  // The pipe trick: `[[Help:Links (editing)|]]` is displayed as `Links`.
  return { text: rest.length > 0 ? name.replace(/^[^:]{1,30}:|\s*\([^)]{0,100}\)$/g, '') : name }
}

/** The caption is the last part that is no option; a description of the picture is used where there is none. */
function findCaption(parts: readonly string[]): string {
  const options = parts.map((part) => part.trim()).filter((part) => part !== '')
  const captions = options.filter((part) => !FILE_OPTION.test(part) && !FOREIGN_OPTION.test(part))
  return captions.at(-1) ?? options.find((part) => /^alt\s*=/i.test(part))?.replace(/^alt\s*=\s*/i, '') ?? ''
}
