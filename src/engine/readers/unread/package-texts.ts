import { openZip } from '../archive/zip.js'
import { readXmlText } from '../office/office-package.js'
import type { FileText } from '../parsed.js'
import { type CountedFile, type ElementRule, findMarkupTexts, type MarkupRules } from './markup-texts.js'

/** The texts of a kind of part: where there is no construct, its texts are left out by design. */
interface PartRule extends Pick<FileText, 'isRepeated' | 'hasRawNumbers'> {
  construct?: string
}

const MARGINS = 'headers and footers'
/** A font, a colour, a size or a field in the header of a sheet (ISO/IEC 29500-1, 18.3.1.46). */
const MARGIN_CODE = /&(?:"[^"]*"|K[\da-f]{6}|K\d\d[+-]\d{3}|\d{1,3}|.)/gi

const SLIDE = /\/(?:slides|notesslides)\//i
/** The placeholder of a shape, and those for the number, the date, the header or the footer of a slide. */
const PLACEHOLDER = /<p:ph\b[^>]{0,300}>/g
const RUNNING_KIND = /\btype="(dt|sldNum|hdr|ftr)"/

/** Parts of Office Open XML with text, by their usual names; the first that matches counts. */
const OFFICE_PARTS: readonly (readonly [pattern: RegExp, rule: PartRule])[] = [
  [/_rels\/|^\[content_types\]|^docprops\/|^docmetadata\/|customxml\/|\/glossary\/|webextension/i, {}],
  [/\/(?:slide|notes|handout)masters?\/|\/slidelayouts?\/|\/masters\/|externallinks?\/|pivotcache\//i, {}],
  [/\/diagrams\/(?:layout|colors|quickstyle|drawing)|\/charts\/(?:style|colors)\d*\.xml|commentauthors/i, {}],
  [/\/theme|(?:styles|settings|fonttable|numbering|props)\w*\.xml$/i, {}],
  [/footnotes/i, { construct: 'footnotes' }],
  [/endnotes/i, { construct: 'endnotes' }],
  [/comment/i, { construct: 'comments' }],
  [/notesslide/i, { construct: 'speaker notes' }],
  [/header|footer/i, { construct: MARGINS, isRepeated: true }],
  [/chart/i, { construct: 'charts', isRepeated: true, hasRawNumbers: true }],
  [/diagrams\//i, { construct: 'diagrams' }],
  [/sharedstrings/i, { construct: 'cells', isRepeated: true, hasRawNumbers: true }],
  [/^xl\/drawings\//i, { construct: 'text boxes' }],
  [/^xl\//i, { construct: 'cells', hasRawNumbers: true }],
  [/./, { construct: 'text' }],
]
const OPENDOCUMENT_PARTS: typeof OFFICE_PARTS = [
  [/^content\.xml$/i, { construct: 'text' }],
  [/^styles\.xml$/i, { construct: MARGINS, isRepeated: true }],
  [/\/content\.xml$/i, { construct: 'objects', isRepeated: true, hasRawNumbers: true }],
  [/./, {}],
]

const OFFICE_RULES = createRules({
  skipped:
    'del moveFrom delText instrText delInstrText Fallback posOffset pctPosHOffset pctPosVOffset pctWidth pctHeight align f formula formula1 formula2 sqref formatCode definedName tableStyleId attrName from to rPh author authors binary',
  block: 'p tc tr si c is v pt text oMathPara',
  space: 'br cr tab ptab noBreakHyphen sym footnoteReference endnoteReference commentReference',
  join: 'document body r t hyperlink ins moveTo smartTag customXml sdt sdtContent tbl dir bdo ruby rubyBase rt drawing inline anchor graphic graphicData wsp wgp wpc grpSp txbx pict shape group textbox AlternateContent Choice hdr ftr footnotes endnotes comments comment footnote endnote sld cSld spTree sp txBody graphicFrame fld notes sst worksheet sheetData row rPr pPr',
  constructs: {
    oMath: 'equations',
    txbxContent: 'text boxes',
    fldSimple: 'fields',
    oddHeader: MARGINS,
    evenHeader: MARGINS,
    firstHeader: MARGINS,
    oddFooter: MARGINS,
    evenFooter: MARGINS,
    firstFooter: MARGINS,
  },
})
const OPENDOCUMENT_RULES = createRules({
  skipped:
    'tracked-changes scripts settings automatic-styles styles font-face-decls binary-data meta note-citation date time creator-initials sender-initials date-string page-number page-count table-of-content-source alphabetical-index-source illustration-index-source table-index-source object-index-source user-index-source bibliography-source index-title-template config-item-set annotation-xml placeholder',
  block: 'p h table-cell covered-table-cell title desc math semantics',
  space: 'tab s line-break note ruby-text annotation mtd mtr',
  join: 'document-content document body text span a list list-item table table-row table-rows table-header-rows frame text-box presentation drawing page spreadsheet custom-shape rect g shapes section note-body ruby ruby-base mrow mi mn mo creator',
  constructs: {
    note: 'notes',
    annotation: 'comments',
    math: 'equations',
    'text-box': 'text boxes',
    notes: 'speaker notes',
    chart: 'charts',
  },
})

/** Finds the texts of a package of Office Open XML or OpenDocument, and of an OpenDocument file without a package. */
export function findPackageTexts(input: CountedFile, visit: (text: FileText) => void): void {
  const isOpenDocument = input.mediaType.includes('opendocument')
  const rules = isOpenDocument ? OPENDOCUMENT_RULES : OFFICE_RULES
  if (input.mediaType.endsWith('-flat-xml')) {
    findMarkupTexts(input.text(), rules, visit)
    return
  }
  const zip = openZip(input.bytes, input.filename, input.limits)
  for (const name of zip.entries.keys()) {
    if (!name.endsWith('.xml')) continue
    const part = (isOpenDocument ? OPENDOCUMENT_PARTS : OFFICE_PARTS).find(([pattern]) => pattern.test(name))?.[1]
    if (part?.construct === undefined) continue
    const { construct, ...facts } = part
    const source = readXmlText(zip, name)
    const body = SLIDE.test(name) ? visitFooters(source, visit) : source
    findMarkupTexts(body, construct === 'text' ? rules : withoutNames(rules, construct), (found) => {
      const isMargin = found.construct === MARGINS
      const text = isMargin && construct === 'cells' ? found.text.replace(MARGIN_CODE, ' ') : found.text
      visit({ ...found, ...facts, text })
    })
  }
}

/** Visits the footers of a slide, which a document has once. @returns the slide without what repeats on every slide */
function visitFooters(xml: string, visit: (text: FileText) => void): string {
  let body = ''
  let end = 0
  for (const { 0: placeholder, index } of xml.matchAll(PLACEHOLDER)) {
    const [, kind] = RUNNING_KIND.exec(placeholder) ?? []
    if (kind === undefined || index < end) continue
    const close = xml.indexOf('</p:sp>', index)
    if (close === -1) break
    body += xml.slice(end, index)
    end = close
    if (kind === 'ftr')
      findMarkupTexts(xml.slice(index, close), { ...OFFICE_RULES, construct: MARGINS }, (text) =>
        visit({ ...text, isRepeated: true }),
      )
  }
  return body + xml.slice(end)
}

/** In a part with a construct, elements that are not listed are no constructs. */
function withoutNames(rules: MarkupRules, construct: string): MarkupRules {
  const getRule = (name: string, tag: string): ElementRule => {
    const rule = rules.getRule(name, tag)
    return rule.construct === tag ? { edge: 'join' } : rule
  }
  return { ...rules, construct, getRule }
}

interface RuleNames extends Record<'skipped' | 'block' | 'space' | 'join', string> {
  constructs: Readonly<Record<string, string>>
}

/** An element that is not listed is a construct with its own name. */
function createRules(names: RuleNames): MarkupRules {
  const rules = new Map<string, ElementRule>()
  for (const name of names.skipped.split(' ')) rules.set(name, { edge: 'join', isSkipped: true })
  for (const edge of ['join', 'space', 'block'] as const)
    for (const name of names[edge].split(' ')) rules.set(name, { edge })
  for (const [name, construct] of Object.entries(names.constructs))
    rules.set(name, { edge: rules.get(name)?.edge ?? 'join', construct })
  return {
    syntax: 'xml',
    construct: 'text',
    getRule: (name, tag) => rules.get(name) ?? { edge: 'join', construct: tag },
  }
}
