/**
 * Manual pages as roff.
 *
 * @typedef {{ title: string, text?: string, terms?: [string, string][], examples?: string[] }} Section
 * @typedef {{ name: string, version: string, summary: string, synopsis: string[], sections: Section[], seeAlso: string[] }} Page
 */

/** @param {Page} page @returns {string} */
export function formatManPage({ name, version, summary, synopsis, sections, seeAlso }) {
  const lines = [
    `.TH ${quote(name.toUpperCase())} 1 "" ${quote(`knowledge-spaces ${version}`)} "Knowledge Spaces"`,
    // no hyphenation: users copy command lines
    '.nh',
    '.ad l',
    ...formatSection({ title: 'NAME' }),
    `${escapeLine(name)} \\- ${escapeLine(summary)}`,
    ...formatSection({ title: 'SYNOPSIS' }),
    ...synopsis.flatMap((line, index) => [...(index === 0 ? [] : ['.br']), `.B ${quote(line)}`]),
    ...sections.flatMap(formatSection),
    ...(seeAlso.length === 0 ? [] : formatSection({ title: 'SEE ALSO' })),
    ...(seeAlso.length === 0 ? [] : [seeAlso.map((page) => `${escapeLine(page)}(1)`).join(', ')]),
  ]
  return `${lines.join('\n')}\n`
}

function formatSection({ title, text = '', terms = [], examples = [] }) {
  return [
    `.SH ${quote(title)}`,
    ...formatParagraphs(text),
    ...terms.flatMap(([term, description]) => [
      '.TP',
      `.B ${quote(term)}`,
      ...formatParagraphs(description || '\u00a0'),
    ]),
    ...(examples.length === 0 ? [] : ['.nf', ...examples.map(escapeLine), '.fi']),
  ]
}

function formatParagraphs(text) {
  if (text === '') return []
  const paragraphs = text.split(/\n\s*\n/).map((paragraph) => paragraph.trim().split('\n').map(escapeLine))
  return paragraphs.flatMap((lines, index) => [...(index === 0 ? [] : ['.PP']), ...lines])
}

/** Quotes the argument of a roff request, in which a space separates arguments. */
function quote(text) {
  return `"${escapeLine(text).replaceAll('"', '\\(dq')}"`
}

/** Escapes a line. Its hyphens stay hyphens when they are copied, and it is no request, whatever its start. */
function escapeLine(text) {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll('\u00a0', '\\ ')
    .replace(/^\s*(?=[.'])/, '\\&')
}
