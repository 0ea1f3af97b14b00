import type { Block } from '../parsed.js'

/** A page without comments, references and templates; content that must not change is kept separately. */
export interface WikiSource {
  text: string
  /** fields of infoboxes, `name: value` */
  fields: string[]
  categories: string[]
  /** The kept block for the line that is its placeholder. */
  keptIn(line: string): Block | undefined
}

const MAX_FIELDS = 200
const MAX_FIELD = 500
const MAX_CATEGORIES = 100
/** Marks a placeholder in the text. */
const KEPT = '\u0001'

const OPEN = 123
const BAR = 124
const CLOSE = 125

/** Elements whose content is not markup: code, formulas, displayed markup. */
const RAW = /<(syntaxhighlight|source|pre|math|nowiki)(\s[^<>]{0,200})?>/gi

export function wikiSource(source: string): WikiSource {
  const kept: Block[] = []
  const categories: string[] = []
  const plain = withoutElements(withoutComments(source.replaceAll(KEPT, '')), 'ref')
  const { text, fields } = withoutTemplates(takeRaw(plain, kept))
  const linked = text.replace(
    /\[\[(?:Category|Kategorie|Catégorie|Categoría):([^[\]|\n]{1,200})(?:\|[^[\]\n]{0,200})?\]\]/gi,
    (_all, name: string) => {
      if (categories.length < MAX_CATEGORIES) categories.push(name.trim())
      return ''
    },
  )
  return {
    text: linked,
    fields,
    categories,
    keptIn(line) {
      const number = new RegExp(`^\\s*${KEPT}(\\d+)${KEPT}\\s*$`).exec(line)?.[1]
      return number === undefined ? undefined : kept[Number(number)]
    },
  }
}

function withoutComments(source: string): string {
  const parts: string[] = []
  let from = 0
  for (let at = source.indexOf('<!--'); at !== -1; at = source.indexOf('<!--', from)) {
    parts.push(source.slice(from, at))
    const end = source.indexOf('-->', at)
    if (end === -1) return parts.join('')
    from = end + 3
  }
  parts.push(source.slice(from))
  return parts.join('')
}

/** Removes the elements of a name with their content. */
function withoutElements(text: string, name: string): string {
  const parts: string[] = []
  const start = new RegExp(`<${name}(?:\\s[^<>]{0,500})?>`, 'gi')
  let from = 0
  for (let found = start.exec(text); found !== null; found = start.exec(text)) {
    parts.push(text.slice(from, found.index))
    from = found.index + found[0].length
    if (!found[0].endsWith('/>')) {
      const end = text.indexOf(`</${name}`, from)
      // Never closed: keep its text.
      if (end === -1) break
      from = text.indexOf('>', end) + 1 || text.length
    }
    start.lastIndex = from
  }
  parts.push(text.slice(from))
  return parts.join('')
}

/** Takes out code and formulas; short ones stay in their line. */
function takeRaw(text: string, kept: Block[]): string {
  const parts: string[] = []
  const lost = new Set<string>()
  let from = 0
  RAW.lastIndex = 0
  for (let found = RAW.exec(text); found !== null; found = RAW.exec(text)) {
    const name = (found[1] ?? '').toLowerCase()
    const start = found.index + found[0].length
    const end = lost.has(name) || found[0].endsWith('/>') ? -1 : text.indexOf(`</${found[1]}>`, start)
    if (end === -1) {
      lost.add(name)
      continue
    }
    parts.push(text.slice(from, found.index))
    const body = text.slice(start, end)
    from = end + name.length + 3
    RAW.lastIndex = from
    if (name === 'math' || name === 'nowiki' || !body.includes('\n')) {
      parts.push(name === 'math' ? `$${body.trim()}$` : body.replace(/[[\]{}|'<>=*#]/g, (char) => ` ${char} `))
      continue
    }
    const language = /lang\s*=\s*["']?([\w+#-]{1,30})/i.exec(found[2] ?? '')?.[1]
    kept.push({ type: 'code', text: body, ...(language === undefined ? {} : { metadata: { language } }) })
    parts.push(`\n${KEPT}${kept.length - 1}${KEPT}\n`)
  }
  parts.push(text.slice(from))
  return parts.join('')
}

/** Removes templates in one pass, whatever their nesting; collects the fields of infoboxes. */
function withoutTemplates(text: string): { text: string; fields: string[] } {
  const parts: string[] = []
  const fields: string[] = []
  let depth = 0
  let from = 0
  let start = 0
  for (let at = 0; at < text.length - 1; at++) {
    const code = text.charCodeAt(at)
    if (code !== OPEN && code !== BAR && code !== CLOSE) continue
    const pair = text.slice(at, at + 2)
    if (pair === '{{' || (pair === '{|' && depth > 0)) {
      if (depth === 0) {
        parts.push(text.slice(from, at))
        start = at
      }
      depth++
      at++
    } else if (depth > 0 && (pair === '}}' || pair === '|}')) {
      // A table within a template ends with its own mark.
      if (pair === '|}' && text.charAt(at + 2) === '}') continue
      depth--
      at++
      from = at + 1
      if (depth === 0) parts.push(templateText(text.slice(start + 2, at - 1), fields))
    }
  }
  // Never closed: keep its text.
  parts.push(text.slice(depth > 0 ? start + 2 : from))
  return { text: parts.join(''), fields }
}

/** The text that replaces a template: that of foreign words and quotes; most have none. */
function templateText(body: string, fields: string[]): string {
  const name = /^[^|\n]{0,100}/.exec(body)?.[0].trim().toLowerCase() ?? ''
  if (name.startsWith('infobox') || name.startsWith('taxobox')) {
    for (const line of body.split(/\n\s*\|/).slice(1, MAX_FIELDS)) {
      const equals = line.indexOf('=')
      const value = inlineWiki(line.slice(equals + 1).replace(/\{\{[^{}|]{0,60}\|?|\}\}/g, ' ')).slice(0, MAX_FIELD)
      if (equals > 0 && value !== '') fields.push(`${line.slice(0, equals).trim().replaceAll('_', ' ')}: ${value}`)
    }
    return ''
  }
  const words = body.split('|').map((part) => part.trim())
  if (/^(?:lang|langx?|quote|cquote|blockquote|nowrap|nobr|small|em|strong|code|main|see also)(?:-\w+)?$/.test(name))
    return ` ${(name === 'lang' ? words.slice(2) : words.slice(1)).filter((word) => !word.includes('=')).join(' ')} `
  if (/^(?:convert|cvt)$/.test(name)) return ` ${words[1] ?? ''} ${words[2] ?? ''} `
  return ''
}

/** Converts a line of markup to text: link text without marks of bold and italics and without tags. */
export function inlineWiki(source: string): string {
  let text = source
  if (text.includes('[')) {
    text = text
      .replace(/\[\[(?:File|Image|Datei|Bild|Fichier|Archivo|Media):([^[\]\n]{0,800})\]\]/gi, (_all, words: string) => {
        const last = words.split('|').at(-1)?.trim() ?? ''
        return !words.includes('|') || /^(?:thumb|left|right|center|none|frame|\d+px|upright|alt=)/.test(last)
          ? ''
          : last
      })
      .replace(/\[\[(?:[^[\]|\n]{1,300}\|)?([^[\]|\n]{0,300})\]\]/g, '$1')
      .replace(
        /\[(?:https?|ftp|mailto):[^\s[\]]{1,500}(?:\s([^[\]\n]{0,300}))?\]/g,
        (_all, words?: string) => words ?? '',
      )
  }
  return text
    .replace(/'{2,5}/g, '')
    .replace(/<br\s{0,5}\/?>/gi, ' ')
    .replace(/<\/?[a-zA-Z][^<>]{0,300}>/g, '')
    .replace(/__[A-Z]{3,20}__/g, '')
    .replace(/&(?:nbsp|#160|thinsp);/g, ' ')
    .replaceAll('&ndash;', '–')
    .replaceAll('&mdash;', '—')
    .replaceAll('&quot;', '"')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')
    .replaceAll(KEPT, '')
    .replace(/\s+/g, ' ')
    .trim()
}
