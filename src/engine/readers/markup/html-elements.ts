import type { Attributes } from './markup-events.js'

/** Elements whose content is not for readers; in filings, the facts for machines only. */
export const DROPPED_ELEMENTS = new Set(
  (
    'script style template noscript svg iframe object select textarea canvas audio video datalist ix:header ' +
    'noembed noframes annotation annotation-xml'
  ).split(' '),
)
/** Tags that end a paragraph without being a separate container. */
export const BREAKING_ELEMENTS = new Set(
  (
    'p div section article header footer main aside address blockquote figure figcaption form fieldset details summary ' +
    'dl dt dd hr center body html caption nav menu legend option thead tbody tfoot'
  ).split(' '),
)
export const HEADING_ELEMENTS = new Set('h1 h2 h3 h4 h5 h6'.split(' '))
/** Elements at which unclosed navigation ends. */
export const CONTENT_START_ELEMENTS = new Set(['main', 'article', 'h1'])

/** A `<pre>` without `<code>` and with more lines than this is pasted text, not a code block. */
export const MAX_PRE_CODE_LINES = 60

/** The language of code that an element declares; empty without one. */
export function getCodeLanguage(attributes: Attributes): string {
  return /(?:^|\s)(?:language|lang|highlight-source)-([\w+#-]{1,30})/.exec(attributes.get('class') ?? '')?.[1] ?? ''
}

/** Number of columns and rows of a cell. */
export function getSpans(attributes: Attributes): { columns: number; rows: number } {
  return { columns: getSpan(attributes, 'colspan'), rows: getSpan(attributes, 'rowspan') }
}

/** Browsers support at most a thousand. */
function getSpan(attributes: Attributes, name: 'colspan' | 'rowspan'): number {
  const count = Number.parseInt(attributes.get(name) ?? '1', 10)
  return count >= 1 && count <= 1000 ? count : 1
}

/** Whether a table is marked as layout (ARIA). */
export function isLayoutTable(attributes: Attributes): boolean {
  return /^(?:presentation|none)$/i.test(attributes.get('role') ?? '')
}

/**
 * Whether an element shows a formula that is also MathML: KaTeX adds it after the MathML, MathJax hides it from
 * screen readers.
 *
 * @param context `isAfterMath`: no text is between MathML and the element
 */
export function isMathCopy(name: string, attributes: Attributes, context: { isAfterMath: boolean }): boolean {
  if (name === 'nobr') return attributes.get('aria-hidden') === 'true'
  return name === 'span' && context.isAfterMath && attributes.get('class') === 'katex-html'
}
