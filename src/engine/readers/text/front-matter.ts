import { parse as parseYaml } from 'yaml'
import { isRecord } from '../../../lib/json/values.js'

/** Front matter is a header: a `---` further down than this is a horizontal rule. */
const MAX_FRONT_MATTER_LENGTH = 64 * 1024

export interface FrontMatter {
  /** length of the front matter at the start of the text in UTF-16 units, 0 without any */
  length: number
  data?: Record<string, unknown>
}

/**
 * Parses YAML front matter at the start of a text: `---`, keys, `---`. Values are plain JSON data. A block that is no
 * YAML mapping is no front matter, so its text stays in the document.
 */
export function readFrontMatter(text: string): FrontMatter {
  if (!text.startsWith('---')) return { length: 0 }
  const opening = /^---[ \t]*\n/.exec(text.slice(0, 200))
  if (opening === null) return { length: 0 }
  const head = text.slice(0, MAX_FRONT_MATTER_LENGTH)
  const closing = /^(?:---|\.\.\.)[ \t]*$/m.exec(head.slice(opening[0].length))
  if (closing === null) return { length: 0 }
  const start = opening[0].length
  const body = head.slice(start, start + closing.index)
  const data = body.trim() === '' ? {} : (parseSimpleMapping(body) ?? parseYamlMapping(body))
  if (data === undefined) return { length: 0 }
  return { length: start + closing.index + closing[0].length, data }
}

/** Parses lines of `key: plain words` only, which most notes have; a YAML parser costs more than the rest of a note. */
function parseSimpleMapping(body: string): Record<string, unknown> | undefined {
  const data: Record<string, unknown> = {}
  for (const line of body.split('\n')) {
    if (line.trim() === '') continue
    const pair = /^([A-Za-z_][\w-]*):[ \t]+([A-Za-z][^:#{}[\]&*!|>'"%@`,\\]*)$/.exec(line)
    const key = pair?.[1]
    const value = pair?.[2]?.trim()
    if (key === undefined || value === undefined || /^(?:true|false|null|yes|no|on|off)$/i.test(value)) return undefined
    if (key === '__proto__' || Object.hasOwn(data, key)) return undefined
    data[key] = value
  }
  return data
}

function parseYamlMapping(body: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = parseYaml(body, { logLevel: 'silent', maxAliasCount: 100 })
    const plain: unknown = JSON.parse(JSON.stringify(value ?? {}))
    return isRecord(plain) ? plain : undefined
  } catch {
    return undefined
  }
}
