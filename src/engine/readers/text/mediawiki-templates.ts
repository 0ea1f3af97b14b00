const MAX_FIELDS = 200
const MAX_FIELD_LENGTH = 500
/** Names of files and sizes of pictures are no facts. */
const PICTURE_VALUE = /^(?:\d{0,4}x?\d{1,4}px|[^\n]{1,200}\.(?:jpe?g|png|svg|gif|tiff?|webp))$/i
/** Boxes of facts, by the first word of their names in several languages. */
const INFOBOX =
  /^(?:infobox|infoboks|infokasten|infotaula|info\/|taxobox|automatic taxobox|speciesbox|chembox|drugbox|starbox|geobox|ficha de|karta|карточка|картка|kutija|bilgi kutusu|基礎情報)/i
/** Templates that display their parameters as text, and the number of parameters before it. */
const SHOWN = new Map<string, number>([
  ...'quote,cquote,blockquote,quotation,nowrap,nobr,small,smaller,big,em,strong,code,kbd,samp,var,main,main article,see also,further,hatnote,center,term,defn,abbr,tooltip,sfrac,frac,convert,cvt'
    .split(',')
    .map((name): [string, number] => [name, 0]),
  ['lang', 1],
  ['langx', 1],
  ['color', 1],
])
/** Templates whose first parameters are the text, and their number. */
const LIMITED = new Map([
  ['convert', 2],
  ['cvt', 2],
  ['abbr', 1],
  ['tooltip', 1],
])
/** Templates that display a sign. */
const SIGNS = new Map([
  ['!', '|'],
  ['=', '='],
  ['!!', '||'],
  ['ndash', '–'],
  ['spaced ndash', ' – '],
  ['snd', ' – '],
  ['mdash', '—'],
  ['nbsp', ' '],
  ['·', ' · '],
  ['*', ' • '],
  ['-', ' '],
])
/** Templates without words for readers: they mark places, order and sources. */
const SILENT =
  /^(?:reflist|references|defaultsort|displaytitle|toc|clear|-|use \w+ dates|use \w+ english|short description|good article|featured article|coord|authority control|portal|commons|sfn|efn|refn|refbegin|refend|cite|citation|#)/i

export interface WikiTemplate {
  text: string
  /** fields of an infobox, `name: value` */
  fields: string[]
  /** another page defines its text */
  isOmitted: boolean
}

/** The text of a template. @param parts its name and its parameters, already without markup of links and templates */
export function readWikiTemplate(parts: readonly string[]): WikiTemplate {
  const name = (parts[0] ?? '')
    .replace(/[\s_]+/g, ' ')
    .trim()
    .toLowerCase()
  const parameters = parts.slice(1)
  if (INFOBOX.test(name)) return { text: '', fields: readFields(parameters), isOmitted: false }
  const sign = SIGNS.get(name)
  if (sign !== undefined) return { text: sign, fields: [], isOmitted: false }
  const skipped = /^lang-[\w-]+$/.test(name) ? 0 : SHOWN.get(name)
  if (skipped === undefined) {
    const hasWords = parameters.some((parameter) => /\p{L}/u.test(parameter))
    return { text: '', fields: [], isOmitted: hasWords && !SILENT.test(name) }
  }
  return toShown(parameters.slice(0, LIMITED.get(name)), skipped)
}

function toShown(parameters: readonly string[], skipped: number): WikiTemplate {
  const words = parameters.flatMap((parameter) => {
    const numbered = /^\s*(?:\d|text|quote)\s*=([\s\S]*)$/i.exec(parameter)?.[1]
    return /^\s*[\w -]{1,40}=/.test(parameter) && numbered === undefined ? [] : [(numbered ?? parameter).trim()]
  })
  return { text: words.slice(skipped).join(' '), fields: [], isOmitted: false }
}

function readFields(parameters: readonly string[]): string[] {
  return parameters.slice(0, MAX_FIELDS).flatMap((parameter) => {
    const equals = parameter.indexOf('=')
    const name = parameter.slice(0, equals).trim().replaceAll('_', ' ')
    const value = parameter
      .slice(equals + 1)
      .trim()
      .slice(0, MAX_FIELD_LENGTH)
    return equals <= 0 || value === '' || PICTURE_VALUE.test(value) ? [] : [`${name}: ${value}`]
  })
}
