import { type RstReferences, rstToText } from './rst-inline.js'

const REPLACEMENT = /^\s*\.\. +\|([^|]{1,300})\| +(replace|unicode|image):: *(.*)$/
const FOOTNOTE = /^\s*\.\. +\[(#[^\]\s]{0,100}|\*|\d{1,9})\](?: |$)/
/** Symbols of footnotes with `[*]`, repeated for further ones. */
const SYMBOLS = '*†‡§¶#♠♥♦♣'
const MAX_REPLACEMENT_LENGTH = 300
const MAX_SUBSTITUTED_LENGTH = 2_000_000

/** References of a document, and the labels of its footnotes where they are defined. */
export interface DocumentReferences extends RstReferences {
  resolveDefinition(label: string): string
}

/** Finds the substitutions of a document, and numbers its footnotes (docutils, "Auto-Numbered Footnotes"). */
export function collectReferences(lines: readonly string[]): DocumentReferences {
  const substitutions = new Map<string, string>()
  const labels: string[] = []
  for (const [index, line] of lines.entries()) {
    const label = FOOTNOTE.exec(line)?.[1]
    if (label !== undefined) labels.push(label)
    const [, name = '', kind, first = ''] = REPLACEMENT.exec(line) ?? []
    if (name === '') continue
    const words = [first]
    for (let next = index + 1; /^\s+\S/.test(lines[next] ?? '') && words.length < 10; next++)
      words.push((lines[next] ?? '').trim())
    const text = words.join(' ').trim().slice(0, MAX_REPLACEMENT_LENGTH)
    const key = name.replace(/\s+/g, ' ').toLowerCase()
    if (kind === 'image') substitutions.set(key, / :alt: (.*?)(?: :[\w-]+:|$)/.exec(text)?.[1] ?? name)
    else substitutions.set(key, kind === 'unicode' ? decodeCharacters(text) : text)
  }
  const { named, anonymous } = numberFootnotes(labels)
  const symbols = { definition: 0, reference: 0 }
  const numbers = { definition: 0, reference: 0 }
  const resolve = (label: string, use: 'definition' | 'reference'): string => {
    if (label === '#') return String(anonymous[numbers[use]++] ?? label)
    if (label !== '*') return label.startsWith('#') ? String(named.get(label) ?? label.slice(1)) : label
    const index = symbols[use]++
    return SYMBOLS.charAt(index % SYMBOLS.length).repeat(Math.min(5, 1 + Math.floor(index / SYMBOLS.length)))
  }
  const references: DocumentReferences = {
    substitutions: new Map(),
    budget: { remaining: MAX_SUBSTITUTED_LENGTH },
    resolveLabel: (label) => resolve(label, 'reference'),
    resolveDefinition: (label) => resolve(label, 'definition'),
  }
  const plain = new Map([...substitutions].map(([name, text]) => [name, rstToText(text, references)]))
  return { ...references, substitutions: plain }
}

function decodeCharacters(text: string): string {
  return text
    .replace(/\s*\.\..*$/, '')
    .split(/\s+/)
    .map((word) => {
      const code = /^(?:0x|x|\\x|U\+|u|\\u|&#x)([0-9A-Fa-f]{1,6});?$/.exec(word)?.[1]
      const point = code === undefined ? Number.NaN : Number.parseInt(code, 16)
      return point <= 0x10ffff ? String.fromCodePoint(point) : word
    })
    .join('')
}

/** Gives numbers to `#` and `#name`, without those that are used explicitly. */
function numberFootnotes(labels: readonly string[]): { named: Map<string, number>; anonymous: number[] } {
  const used = new Set(labels.filter((label) => /^\d/.test(label)).map(Number))
  const named = new Map<string, number>()
  const anonymous: number[] = []
  let number = 0
  for (const label of labels) {
    if (!label.startsWith('#') || named.has(label)) continue
    do number++
    while (used.has(number))
    if (label === '#') anonymous.push(number)
    else named.set(label, number)
  }
  return { named, anonymous }
}
