import { parse as parseToml } from 'smol-toml'
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
 * Parses front matter at the start of a text: YAML between lines of `---`, TOML between lines of `+++`. Values are plain
 * JSON data, numbers and dates as they are written. A block that is no mapping is no front matter, so its text stays in
 * the document.
 */
export function readFrontMatter(text: string): FrontMatter {
  if (!text.startsWith('---') && !text.startsWith('+++')) return { length: 0 }
  const opening = /^(?:---|\+\+\+)[ \t]*\n/.exec(text.slice(0, 200))
  if (opening === null) return { length: 0 }
  const isToml = text.startsWith('+')
  const head = text.slice(0, MAX_FRONT_MATTER_LENGTH)
  const closing = (isToml ? /^\+\+\+[ \t]*$/m : /^(?:---|\.\.\.)[ \t]*$/m).exec(head.slice(opening[0].length))
  if (closing === null) return { length: 0 }
  const start = opening[0].length
  const body = head.slice(start, start + closing.index)
  const parse = isToml ? parseTomlMapping : (source: string) => parseSimpleMapping(source) ?? parseYamlMapping(source)
  const data = body.trim() === '' ? {} : parse(body)
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
    // Without the tags for numbers, a number is a text.
    const value: unknown = parseYaml(body, {
      logLevel: 'silent',
      maxAliasCount: 100,
      schema: 'failsafe',
      customTags: ['null', 'bool'],
    })
    return toPlainMapping(value ?? {})
  } catch {
    return undefined
  }
}

/** Numbers and dates at the end of a line become texts before the library reads them as values. */
function parseTomlMapping(body: string): Record<string, unknown> | undefined {
  const quoted = body.replace(
    /^(\s*[\w."-]{1,200}\s*=\s*)([+-]?\d[\w.:+-]{0,60}(?: \d\d:[\w.:+-]{1,30})?)(?=\s*(?:#|$))/gm,
    '$1"$2"',
  )
  try {
    return toPlainMapping(parseToml(quoted))
  } catch {
    return undefined
  }
}

function toPlainMapping(value: unknown): Record<string, unknown> | undefined {
  const plain: unknown = JSON.parse(JSON.stringify(value))
  return isRecord(plain) ? plain : undefined
}
