import type { Block } from '../parsed.js'

/** A page without comments, references and templates; content that must not change is kept separately. */
export interface WikiSource {
  text: string
  /** fields of infoboxes, `name: value` */
  fields: string[]
  categories: string[]
  /** The kept block for the line that is its placeholder. */
  findKeptBlock(line: string): Block | undefined
}

const MAX_FIELDS = 200
const MAX_FIELD_LENGTH = 500
const MAX_CATEGORIES = 100
/** Marks a placeholder in the text. */
const PLACEHOLDER_MARK = '\u0001'

const OPENING_BRACE = 123
const BAR = 124
const CLOSING_BRACE = 125

/** Elements whose content is not markup: code, formulas, displayed markup. */
const RAW_ELEMENT = /<(syntaxhighlight|source|pre|math|nowiki)(\s[^<>]{0,200})?>/gi

export function prepareWikiSource(source: string): WikiSource {
  const keptBlocks: Block[] = []
  const categories: string[] = []
  const plain = removeElements(removeComments(source.replaceAll(PLACEHOLDER_MARK, '')), 'ref')
  const { text, fields } = removeTemplates(extractRaw(plain, keptBlocks))
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
    findKeptBlock(line) {
      const number = new RegExp(`^\\s*${PLACEHOLDER_MARK}(\\d+)${PLACEHOLDER_MARK}\\s*$`).exec(line)?.[1]
      return number === undefined ? undefined : keptBlocks[Number(number)]
    },
  }
}

function removeComments(source: string): string {
  const parts: string[] = []
  let from = 0
  for (let index = source.indexOf('<!--'); index !== -1; index = source.indexOf('<!--', from)) {
    parts.push(source.slice(from, index))
    const end = source.indexOf('-->', index)
    if (end === -1) return parts.join('')
    from = end + 3
  }
  parts.push(source.slice(from))
  return parts.join('')
}

/** Removes the elements of a name with their content. */
function removeElements(text: string, name: string): string {
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
function extractRaw(text: string, keptBlocks: Block[]): string {
  const parts: string[] = []
  const unclosed = new Set<string>()
  let from = 0
  RAW_ELEMENT.lastIndex = 0
  for (let found = RAW_ELEMENT.exec(text); found !== null; found = RAW_ELEMENT.exec(text)) {
    const name = (found[1] ?? '').toLowerCase()
    const start = found.index + found[0].length
    const end = unclosed.has(name) || found[0].endsWith('/>') ? -1 : text.indexOf(`</${found[1]}>`, start)
    if (end === -1) {
      unclosed.add(name)
      continue
    }
    parts.push(text.slice(from, found.index))
    const body = text.slice(start, end)
    from = end + name.length + 3
    RAW_ELEMENT.lastIndex = from
    if (name === 'math' || name === 'nowiki' || !body.includes('\n')) {
      parts.push(name === 'math' ? `$${body.trim()}$` : body.replace(/[[\]{}|'<>=*#]/g, (char) => ` ${char} `))
      continue
    }
    const language = /lang\s*=\s*["']?([\w+#-]{1,30})/i.exec(found[2] ?? '')?.[1]
    keptBlocks.push({ type: 'code', text: body, ...(language === undefined ? {} : { metadata: { language } }) })
    parts.push(`\n${PLACEHOLDER_MARK}${keptBlocks.length - 1}${PLACEHOLDER_MARK}\n`)
  }
  parts.push(text.slice(from))
  return parts.join('')
}

/** Removes templates in one pass, whatever their nesting; collects the fields of infoboxes. */
function removeTemplates(text: string): { text: string; fields: string[] } {
  const parts: string[] = []
  const fields: string[] = []
  let depth = 0
  let from = 0
  let start = 0
  for (let index = 0; index < text.length - 1; index++) {
    const code = text.charCodeAt(index)
    if (code !== OPENING_BRACE && code !== BAR && code !== CLOSING_BRACE) continue
    const pair = text.slice(index, index + 2)
    if (pair === '{{' || (pair === '{|' && depth > 0)) {
      if (depth === 0) {
        parts.push(text.slice(from, index))
        start = index
      }
      depth++
      index++
    } else if (depth > 0 && (pair === '}}' || pair === '|}')) {
      // A table within a template ends with its own mark.
      if (pair === '|}' && text.charAt(index + 2) === '}') continue
      depth--
      index++
      from = index + 1
      if (depth === 0) parts.push(replaceTemplate(text.slice(start + 2, index - 1), fields))
    }
  }
  // Never closed: keep its text.
  parts.push(text.slice(depth > 0 ? start + 2 : from))
  return { text: parts.join(''), fields }
}

/** The text that replaces a template: that of foreign words and quotes; most have none. */
function replaceTemplate(body: string, fields: string[]): string {
  const name = /^[^|\n]{0,100}/.exec(body)?.[0].trim().toLowerCase() ?? ''
  if (name.startsWith('infobox') || name.startsWith('taxobox')) {
    for (const line of body.split(/\n\s*\|/).slice(1, MAX_FIELDS)) {
      const equals = line.indexOf('=')
      const value = wikiToText(line.slice(equals + 1).replace(/\{\{[^{}|]{0,60}\|?|\}\}/g, ' ')).slice(
        0,
        MAX_FIELD_LENGTH,
      )
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
export function wikiToText(source: string): string {
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
    .replaceAll(PLACEHOLDER_MARK, '')
    .replace(/\s+/g, ' ')
    .trim()
}
