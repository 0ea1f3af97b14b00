/** The named characters that real documents use outside HTML; HTML itself is decoded by its tokenizer. */
const NAMED: ReadonlyMap<string, string> = new Map(
  Object.entries({
    amp: '&',
    lt: '<',
    gt: '>',
    quot: '"',
    apos: "'",
    nbsp: '\u00a0',
    copy: '©',
    reg: '®',
    trade: '™',
    deg: '°',
    plusmn: '±',
    times: '×',
    divide: '÷',
    middot: '·',
    bull: '•',
    hellip: '…',
    ndash: '–',
    mdash: '—',
    lsquo: '‘',
    rsquo: '’',
    ldquo: '“',
    rdquo: '”',
    laquo: '«',
    raquo: '»',
    euro: '€',
    pound: '£',
    yen: '¥',
    cent: '¢',
    sect: '§',
    para: '¶',
    larr: '←',
    rarr: '→',
    uarr: '↑',
    darr: '↓',
    harr: '↔',
    le: '≤',
    ge: '≥',
    ne: '≠',
    asymp: '≈',
    infin: '∞',
    shy: '',
  }),
)

/** Character references in a text replaced by what they name; unknown ones stay. */
export function decodeEntities(text: string): string {
  return text.replace(/&(#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]{1,31});/g, (whole, name: string) => {
    if (!name.startsWith('#')) return NAMED.get(name) ?? whole
    const hex = name.charAt(1).toLowerCase() === 'x'
    const code = Number.parseInt(name.slice(hex ? 2 : 1), hex ? 16 : 10)
    if (code === 0 || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) return '\uFFFD'
    return String.fromCodePoint(code)
  })
}
