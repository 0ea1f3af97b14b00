import { isDeepStrictEqual } from 'node:util'
import type { ParseError } from 'jsonc-parser'
import { EXIT } from '../../contract/errors.js'
import { isRecord } from '../../lib/json/values.js'
import { CliError } from '../cli-error.js'

/** Location of an entry in a settings file; edits preserve its other content and comments. */
export interface Entry {
  path: string
  format: 'json' | 'toml'
  /** Key of the server table, and the server's name in it. */
  key: string
  name: string
}

type Value = Readonly<Record<string, unknown>>

/** The text with the entry; `undefined` if it exists already. @throws CliError if the file cannot be edited */
export async function withEntry(whole: string, entry: Entry, value: Value): Promise<string | undefined> {
  const [mark, text] = parted(whole)
  const before = await settingsIn(text, entry)
  if (isDeepStrictEqual(serverIn(before, entry), value)) return undefined
  const edited = entry.format === 'json' ? await editJson(text, entry, value) : await editToml(text, entry, value)
  return mark + (await checked(edited, entry, { before, value }))
}

/** The text without the entry; `undefined` if it does not exist. @throws CliError if the file cannot be edited */
export async function withoutEntry(whole: string, entry: Entry): Promise<string | undefined> {
  const [mark, text] = parted(whole)
  const before = await settingsIn(text, entry)
  if (serverIn(before, entry) === undefined) return undefined
  const edited = entry.format === 'json' ? await editJson(text, entry, undefined) : cutToml(text, entry)
  return mark + (await checked(edited, entry, { before, value: undefined }))
}

/** The entry's value in the file. @throws CliError if the file cannot be read */
export async function entryIn(whole: string, entry: Entry): Promise<Value | undefined> {
  const value = serverIn(await settingsIn(parted(whole)[1], entry), entry)
  return isRecord(value) ? value : undefined
}

/** Splits the byte order mark, which some editors on Windows write, from the text. */
function parted(whole: string): [mark: string, text: string] {
  return whole.startsWith('\uFEFF') ? ['\uFEFF', whole.slice(1)] : ['', whole]
}

function serverIn(whole: Value, { key, name }: Entry): unknown {
  const servers = whole[key]
  return isRecord(servers) ? servers[name] : undefined
}

async function editJson(text: string, { key, name }: Entry, value: Value | undefined): Promise<string> {
  const { modify, applyEdits } = await import('jsonc-parser')
  const indent = /^([ \t]+)\S/m.exec(text)?.[1] ?? '  '
  const formattingOptions = {
    insertSpaces: !indent.startsWith('\t'),
    tabSize: indent.startsWith('\t') ? 1 : indent.length,
    eol: text.includes('\r\n') ? '\r\n' : '\n',
  }
  const start = text.trim() === '' ? '{}\n' : text
  return applyEdits(start, modify(start, [key, name], value, { formattingOptions }))
}

/** Appends the entry as a separate table; the text before it is unchanged. */
async function editToml(text: string, entry: Entry, value: Value): Promise<string> {
  const { stringify } = await import('smol-toml')
  const kept = cutToml(text, entry)
  const gap = kept.trim() === '' ? '' : `${kept.replace(/\s*$/, '')}\n\n`
  return gap + stringify({ [entry.key]: { [entry.name]: value } })
}

/** Removes the tables of the entry, each from its header to the next header. */
function cutToml(text: string, { key, name }: Entry): string {
  const heads = [name, `"${name}"`, `'${name}'`].flatMap((spelt) => [`[${key}.${spelt}]`, `[${key}.${spelt}.`])
  const lines = text.split(/(?<=\n)/)
  let isOurs = false
  const kept = lines.filter((line) => {
    const head = line.trim()
    if (head.startsWith('[')) isOurs = heads.some((one) => head.replace(/\s/g, '').startsWith(one))
    return !isOurs
  })
  return kept.join('')
}

/** Verifies an edited text by parsing it: the entry has the new value and everything else is unchanged. */
async function checked(
  text: string,
  entry: Entry,
  { before, value }: { before: Value; value: Value | undefined },
): Promise<string> {
  const after = await settingsIn(text, entry)
  const others = (whole: Value) => {
    const { [entry.key]: servers, ...rest } = whole
    const { [entry.name]: _, ...kept } = isRecord(servers) ? servers : {}
    return { ...rest, [entry.key]: kept }
  }
  if (isDeepStrictEqual(serverIn(after, entry), value) && isDeepStrictEqual(others(after), others(before))) return text
  throw unreadable(entry, `has ${entry.key}.${entry.name} written in a way that cannot be edited`)
}

async function settingsIn(text: string, entry: Entry): Promise<Value> {
  if (text.trim() === '') return {}
  const parsed = entry.format === 'json' ? await parseJson(text, entry) : await parseToml(text, entry)
  // Objects of the TOML parser are not plain objects.
  const value: unknown = JSON.parse(JSON.stringify(parsed))
  if (!isRecord(value)) throw unreadable(entry, 'does not contain a table of settings')
  const servers = value[entry.key]
  if (servers !== undefined && !isRecord(servers)) throw unreadable(entry, `has a value other than a table at ${entry.key}`)
  return value
}

async function parseJson(text: string, entry: Entry): Promise<unknown> {
  const { parse, printParseErrorCode } = await import('jsonc-parser')
  const errors: ParseError[] = []
  const value: unknown = parse(text, errors, { allowTrailingComma: true })
  const [first] = errors
  if (first === undefined) return value
  throw unreadable(entry, `is not valid JSON: ${printParseErrorCode(first.error)} at ${first.offset}`)
}

async function parseToml(text: string, entry: Entry): Promise<unknown> {
  const { parse } = await import('smol-toml')
  try {
    return parse(text)
  } catch (error) {
    throw unreadable(entry, `is not valid TOML: ${error instanceof Error ? error.message.split('\n')[0] : String(error)}`)
  }
}

function unreadable({ path }: Entry, what: string): CliError {
  const hint = 'nothing was written: fix the file, or add the output of `--dry-run` by hand'
  return new CliError(`${path} ${what}`, { code: 'invalid-request', exit: EXIT.usage, hint })
}
