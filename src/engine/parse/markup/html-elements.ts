/** Content that is not for readers. */
export const DROPPED = new Set(
  'script style template noscript svg iframe object select textarea canvas audio video datalist'.split(' '),
)
/** Tags that end a paragraph without being a container of their own. */
export const BREAKS = new Set(
  (
    'p div section article header footer main aside address blockquote figure figcaption form fieldset details summary ' +
    'dl dt dd hr center body html caption nav menu legend option thead tbody tfoot'
  ).split(' '),
)
/** Where navigation that was never closed surely ends. */
export const CONTENT_STARTS = new Set(['main', 'article', 'h1'])

/** A `<pre>` without `<code>` and longer than this is a text someone pasted, not a code block (in lines). */
export const LONG_PRE = 60
