/** Text formats whose first lines are unmistakable, whatever the name of the file. */
const TEXT_FORMATS: readonly (readonly [RegExp, string])[] = [
  [/^WEBVTT(?:[ \t\n]|$)/, 'text/vtt'],
  [/^BEGIN:VCALENDAR\s/i, 'text/calendar'],
  [/^BEGIN:VCARD\s/i, 'text/vcard'],
  [/^\d{1,6}\s{0,3}\n\d{1,2}:\d{2}:\d{2}[,.]\d{1,3} --> /, 'application/x-subrip'],
  [/^(?:[.'][^\n]{0,500}\n|[ \t]*\n){0,80}\.(?:TH \S|Dd )/, 'text/troff'],
  [/^(?:%[^\n]{0,500}\n|[ \t]*\n){0,40}\\documentclass\b/, 'text/x-tex'],
  [/^\{[\s\S]{0,900}"(?:nbformat|cell_type)"\s*:/, 'application/x-ipynb+json'],
]

/** The format of a text whose beginning is unmistakable, if it has one. */
export function detectTextFormat(head: string): string | undefined {
  const plain = head.includes('\r') ? head.replace(/\r\n?/g, '\n') : head
  return TEXT_FORMATS.find(([pattern]) => pattern.test(plain))?.[1]
}

/** File endings of these formats; the others are in `sniff.ts`. */
export const TEXT_FORMAT_ENDINGS: Record<string, string> = {
  ipynb: 'application/x-ipynb+json',
  tex: 'text/x-tex',
  latex: 'text/x-tex',
  ltx: 'text/x-tex',
  bib: 'text/x-bibtex',
  adoc: 'text/x-asciidoc',
  asciidoc: 'text/x-asciidoc',
  asc: 'text/x-asciidoc',
  mediawiki: 'text/x-mediawiki',
  wiki: 'text/x-mediawiki',
  wikitext: 'text/x-mediawiki',
  vtt: 'text/vtt',
  srt: 'application/x-subrip',
  vcf: 'text/vcard',
  vcard: 'text/vcard',
  ics: 'text/calendar',
  ical: 'text/calendar',
  ifb: 'text/calendar',
  opml: 'application/x-opml+xml',
  dbk: 'application/docbook+xml',
  docbook: 'application/docbook+xml',
  nxml: 'application/jats+xml',
  jats: 'application/jats+xml',
  tei: 'application/tei+xml',
  fodt: 'application/vnd.oasis.opendocument.text-flat-xml',
  fods: 'application/vnd.oasis.opendocument.spreadsheet-flat-xml',
  fodp: 'application/vnd.oasis.opendocument.presentation-flat-xml',
  fodg: 'application/vnd.oasis.opendocument.graphics-flat-xml',
  roff: 'text/troff',
  man: 'text/troff',
}
