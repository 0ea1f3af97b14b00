import { filesBelow, readFile } from '../../repo/tree.js'

/** A command line of the documentation. */
export interface DocumentedLine {
  /** its first file */
  file: string
  /** its text without the comment */
  text: string
  /** assignments of the same block that it uses */
  preamble: string
}

const FENCE = /^```(\w*)\n(.*?)^```$/gms
const ASSIGNMENT = /^[A-Z_]+=/

/** Every command line of README.md and docs/*.md, in order and without duplicates. */
export function documentedLines(): DocumentedLine[] {
  const pages = ['README.md', ...filesBelow('docs').filter((path) => /^docs\/[^/]+\.md$/.test(path))]
  const found = new Map<string, DocumentedLine>()
  for (const file of pages) {
    for (const [, language = '', body = ''] of readFile(file).matchAll(FENCE)) {
      for (const line of linesOf(file, language, body)) if (!found.has(line.text)) found.set(line.text, line)
    }
  }
  return [...found.values()]
}

function linesOf(file: string, language: string, body: string): DocumentedLine[] {
  const whole = body.replaceAll(/ *\\\n */g, ' ').split('\n')
  const commands =
    language === 'sh' ? whole : whole.flatMap((line) => (line.startsWith('$ ') ? [line.slice('$ '.length)] : []))
  const lines: DocumentedLine[] = []
  let preamble = ''
  for (const command of commands) {
    const text = command.replace(/\s+# .*$/, '').trim()
    if (ASSIGNMENT.test(text)) preamble += `${text}; `
    else if (text !== '') lines.push({ file, text, preamble })
  }
  return lines
}
