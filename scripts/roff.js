/**
 * Manual pages as roff.
 *
 * @typedef {{ title: string, text?: string, terms?: [string, string][], examples?: string[] }} Section
 * @typedef {{ name: string, version: string, summary: string, synopsis: string[], sections: Section[], seeAlso: string[] }} Page
 */

/** @param {Page} page @returns {string} */
export function manPage({ name, version, summary, synopsis, sections, seeAlso }) {
  const lines = [
    `.TH ${argument(name.toUpperCase())} 1 "" ${argument(`knowledge-spaces ${version}`)} "Knowledge Spaces"`,
    // no hyphens of the formatter's own: words of a command line are copied
    '.nh',
    '.ad l',
    ...section({ title: 'NAME' }),
    `${escaped(name)} \\- ${escaped(summary)}`,
    ...section({ title: 'SYNOPSIS' }),
    ...synopsis.flatMap((line, at) => [...(at === 0 ? [] : ['.br']), `.B ${argument(line)}`]),
    ...sections.flatMap(section),
    ...(seeAlso.length === 0 ? [] : section({ title: 'SEE ALSO' })),
    ...(seeAlso.length === 0 ? [] : [seeAlso.map((page) => `${escaped(page)}(1)`).join(', ')]),
  ]
  return `${lines.join('\n')}\n`
}

function section({ title, text = '', terms = [], examples = [] }) {
  return [
    `.SH ${argument(title)}`,
    ...paragraphs(text),
    ...terms.flatMap(([term, said]) => ['.TP', `.B ${argument(term)}`, ...paragraphs(said || '\u00a0')]),
    ...(examples.length === 0 ? [] : ['.nf', ...examples.map(escaped), '.fi']),
  ]
}

function paragraphs(text) {
  const parts = text.split(/\n\s*\n/).map((one) => one.trim().split('\n').map(escaped))
  return text === '' ? [] : parts.flatMap((lines, at) => [...(at === 0 ? [] : ['.PP']), ...lines])
}

/** Words of a request are parted by blanks, so it stands in quotes. */
function argument(text) {
  return `"${escaped(text).replaceAll('"', '\\(dq')}"`
}

/** Hyphens are those that can be copied; a line that begins like a request is none. */
function escaped(text) {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll('\u00a0', '\\ ')
    .replace(/^\s*(?=[.'])/, '\\&')
}
