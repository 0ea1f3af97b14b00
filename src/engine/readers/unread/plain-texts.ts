import type { FileText } from '../parsed.js'
import { type CountedFile, type ElementRule, findMarkupTexts } from './markup-texts.js'
import { SEAM } from './word-counts.js'

/** What is no text of a format, and what is in its place: a space, or a seam within a word. */
interface TextRules {
  marks: readonly (readonly [pattern: RegExp, replacement: string])[]
  /** only words next to three others on a line are counted: the names and values of its marks are no prose */
  isProse?: boolean
}

const COMMENT = /<!--[\s\S]*?(?:-->|$)/g
const MARKDOWN: TextRules = {
  marks: [
    [COMMENT, ' '],
    [/<(script|style|template|noscript|svg|iframe)\b[\s\S]*?(?:<\/\1\s*>|$)/gi, ' '],
    [/%%[\s\S]*?(?:%%|$)/g, ' '],
    [/^ {0,3}(?:```|~~~)[^\n]*/gm, ' '],
    [/\]\([^()\n]{0,2000}\)|^ {0,3}\[[^\]\n]{1,1000}\]:[^\n]*/gm, ' '],
    [/<\/?[a-z][^<>]{0,5000}>/gi, SEAM],
    [/&#?\w{2,32};/g, ' '],
    [/[*_~`\\]+/g, SEAM],
  ],
}
/** Formats by their media types; any other is read as it is. */
const RULES: readonly (readonly [type: RegExp, rules: TextRules])[] = [
  [/^text\/markdown$/, MARKDOWN],
  [
    /x-rst$/,
    {
      isProse: true,
      marks: [
        [/^[ \t]*\.\.(?:[ \t](?!\S+::|[_[|])|$)[^\n]*(?:\n(?:[ \t]*\n)*[ \t]+\S[^\n]*)*/gm, ' '],
        [/^[ \t]+:[\w-]+:[^\n]*|\.\.[ \t][^\n:]{0,200}::/gm, '\n'],
      ],
    },
  ],
  [/x-org$/, { isProse: true, marks: [[/^[ \t]*#[ \t][^\n]*/gm, ' ']] }],
  [/x-tex$/, { isProse: true, marks: [[/(?<!\\)%[^\n]*|\\[a-z]+\*?/gi, '\n']] }],
  [/x-asciidoc$/, { isProse: true, marks: [[/^\/{4,}\n[\s\S]*?\n\/{4,}$|^\/\/[^\n]*/gm, ' ']] }],
  [
    /x-mediawiki$/,
    {
      isProse: true,
      marks: [
        [COMMENT, ' '],
        [/\{\{[^{}]{0,20000}\}\}|<ref[^<>]{0,500}>[^<]{0,5000}<\/ref>/g, ' '],
      ],
    },
  ],
  [
    /troff$/,
    {
      isProse: true,
      marks: [
        [/^[.']\\"[^\n]*|^[.'][ \t]*[a-z]{1,3}\b|\\\*?\(..|\\\*?\[[^\]\n]{0,40}\]/gim, ' '],
        [/\\f(?:\[[^\]\n]{0,20}\]|\(..|.)|\\[&%:|^]/g, SEAM],
      ],
    },
  ],
  [/^text\/vtt$/, { isProse: true, marks: [[/^(?:NOTE|STYLE|REGION)\b[^\n]*(?:\n[^\n]+)*/gm, ' ']] }],
  [/^text\/(?:calendar|vcard|x-sql|x-bibtex)$|ipynb|subrip/, { isProse: true, marks: [] }],
]
/** Four words in a row. */
const PROSE =
  /(?<![\p{L}\p{M}\p{N}'’\u0001-])(?:[\p{L}\p{M}\p{N}'’\u0001-]+[,;:.!?)]{0,2}[ \t]+[(]?){3,}[\p{L}\p{M}\p{N}'’\u0001-]+/gu

/** Finds the texts of a text file. */
export function findPlainTexts(input: CountedFile, visit: (text: FileText) => void): void {
  const { marks, isProse }: TextRules = RULES.find(([type]) => type.test(input.mediaType))?.[1] ?? { marks: [] }
  let source = input.text()
  for (const [pattern, replacement] of marks) source = source.replace(pattern, replacement)
  if (isProse === true) for (const [text] of source.matchAll(PROSE)) visit({ text, construct: 'text' })
  else for (const text of source.split('\n\n')) visit({ text, construct: 'text' })
}

/** Elements that papers, books and outlines have for programs and libraries, and pictures. */
const UNREAD_ELEMENTS = new Set(
  'binary document-info publish-info journal-meta article-id article-categories contrib-id role aff author-notes email elocation-id permissions funding-group custom-meta-group object-id history pub-date fpage lpage volume issue counts publicationStmt encodingDesc revisionDesc indexterm legalnotice'.split(
    ' ',
  ),
)

/** Finds the texts of XML of any vocabulary; a text is named by its element. */
export function findXmlTexts(input: CountedFile, visit: (text: FileText) => void): void {
  const getRule = (name: string, tag: string): ElementRule =>
    UNREAD_ELEMENTS.has(name) ? { edge: 'space', isSkipped: true } : { edge: 'join', construct: tag }
  findMarkupTexts(input.text(), { syntax: 'xml', construct: 'text', getRule }, visit)
}
