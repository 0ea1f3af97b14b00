import { openZip } from '../archive/zip.js'
import type { MarkupSyntax } from '../markup/markup-events.js'
import { readXmlText } from '../office/office-package.js'
import type { FileText } from '../parsed.js'
import { type CountedFile, type ElementRule, findMarkupTexts, type MarkupRules } from './markup-texts.js'

/** Elements of HTML whose text is not for readers, or is an attribute of the document. */
const SKIPPED =
  'script style template noscript svg iframe object select textarea canvas audio video datalist noembed noframes annotation annotation-xml title rp'
/** Elements of HTML within which a word goes on (phrasing content). */
const INLINE =
  'a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd label mark nobr q ruby rb s samp small span strike strong sub sup time tt u var wbr'
const SPACES = 'br img input button rt td th mtd mi mn mo mtext ms'
/** Formulas twice in a page: for programs, and as they are shown. */
const MATH_COPIES = /katex-html|MathJax/

const rules = new Map<string, ElementRule>([
  ...SKIPPED.split(' ').map((name): [string, ElementRule] => [name, { edge: 'space', isSkipped: true }]),
  ...INLINE.split(' ').map((name): [string, ElementRule] => [name, { edge: 'join' }]),
  ...SPACES.split(' ').map((name): [string, ElementRule] => [name, { edge: 'space' }]),
  ['math', { edge: 'space', construct: 'equations' }],
])
const BLOCK: ElementRule = { edge: 'block' }
const SKIPPED_BLOCK: ElementRule = { edge: 'block', isSkipped: true }

/** @param options `withNavigation`: whether the reader returns the navigation of a page as left out */
function createHtmlRules(syntax: MarkupSyntax, { withNavigation }: { withNavigation: boolean }): MarkupRules {
  const getRule = (name: string, tag: string): ElementRule =>
    (name === 'nav' && !withNavigation) || /^ix:header$/i.test(tag) ? SKIPPED_BLOCK : (rules.get(name) ?? BLOCK)
  return { syntax, construct: 'text', getRule }
}

const PAGE_RULES = createHtmlRules('html', { withNavigation: true })
const MESSAGE_RULES = createHtmlRules('html', { withNavigation: false })
const CHAPTER_RULES = createHtmlRules('xhtml', { withNavigation: false })

/** Finds the texts of a page. */
export function findPageTexts(input: CountedFile, visit: (text: FileText) => void): void {
  const source = input.text()
  const isRepeated = MATH_COPIES.test(source)
  findMarkupTexts(source, PAGE_RULES, (text) => visit({ ...text, isRepeated }))
}

/** Finds the texts of HTML in a mail. */
export function findMessageTexts(html: string, visit: (text: FileText) => void): void {
  findMarkupTexts(html, MESSAGE_RULES, visit)
}

/** Finds the texts of the pages of an e-book. */
export function findBookTexts(input: CountedFile, visit: (text: FileText) => void): void {
  const zip = openZip(input.bytes, input.filename, input.limits)
  for (const name of zip.entries.keys())
    if (/\.x?html?$/i.test(name)) findMarkupTexts(readXmlText(zip, name), CHAPTER_RULES, visit)
}
