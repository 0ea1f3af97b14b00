import type { Attributes } from './markup-events.js'

/** Content that is not for readers; of filings the facts that only machines are told. */
export const DROPPED = new Set(
  'script style template noscript svg iframe object select textarea canvas audio video datalist ix:header'.split(' '),
)
/** Tags that end a paragraph without being a container of their own. */
export const BREAKS = new Set(
  (
    'p div section article header footer main aside address blockquote figure figcaption form fieldset details summary ' +
    'dl dt dd hr center body html caption nav menu legend option thead tbody tfoot'
  ).split(' '),
)
export const HEADINGS = new Set('h1 h2 h3 h4 h5 h6'.split(' '))
/** Where navigation that was never closed surely ends. */
export const CONTENT_STARTS = new Set(['main', 'article', 'h1'])

/** A `<pre>` without `<code>` and longer than this is a text someone pasted, not a code block (in lines). */
export const LONG_PRE = 60

/** The language that an element says its code is in; empty where it says none. */
export function languageOf(attributes: Attributes): string {
  return /(?:^|\s)(?:language|lang|highlight-source)-([\w+#-]{1,30})/.exec(attributes.get('class') ?? '')?.[1] ?? ''
}

/** How many columns and rows a cell takes. */
export function spansOf(attributes: Attributes): { columns: number; rows: number } {
  return { columns: spanOf(attributes, 'colspan'), rows: spanOf(attributes, 'rowspan') }
}

/** Browsers know no more than a thousand. */
function spanOf(attributes: Attributes, name: 'colspan' | 'rowspan'): number {
  const count = Number.parseInt(attributes.get(name) ?? '1', 10)
  return count >= 1 && count <= 1000 ? count : 1
}
