import type { Block, Parser } from './parsed.js'
import { lines } from './text.js'

/**
 * Reads YAML as it is written, comments and all: each top-level key opens a section.
 *
 * No YAML parser is involved, because comments are half of what people write there, and aliases can expand a file
 * a million times.
 */
export const yamlParser: Parser = {
  accepts: (mediaType) => mediaType === 'application/yaml',
  parse: (input) => ({
    parser: 'native-structured',
    contentType: 'structured',
    blocks: yamlBlocks(input.text()),
    metadata: {},
  }),
}

function yamlBlocks(text: string): Block[] {
  const blocks: Block[] = []
  let held: string[] = []
  let comments: string[] = []
  const flush = (): void => {
    if (held.length > 0) blocks.push({ type: 'list', text: held.join('\n') })
    held = []
  }
  for (const line of lines(text)) {
    if (line.startsWith('#')) {
      comments.push(line)
      continue
    }
    const key = /^(?:"([^"]{1,200})"|'([^']{1,200})'|([^\s#'"{}[\],&*!|>%@`-][^#:]{0,200})):(?:\s|$)/.exec(line)
    const name = key?.[1] ?? key?.[2] ?? key?.[3]
    if (name !== undefined) {
      flush()
      blocks.push({ type: 'heading', text: name, level: 1, tocSource: 'key', silent: true })
    } else if (/^(?:---|\.\.\.)\s*$/.test(line)) {
      held.push(...comments)
      comments = []
      continue
    }
    held.push(...comments, line.trimEnd())
    comments = []
  }
  held.push(...comments)
  flush()
  return blocks
}
