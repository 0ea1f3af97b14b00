import { isDeepStrictEqual } from 'node:util'
import type { ParseError } from 'jsonc-parser'
import { EXIT } from '../../contract/errors.js'
import { isRecord } from '../../lib/json/values.js'
import { CliError } from '../cli-error.js'

/** Location of an entry in a settings file; edits preserve its other content and comments. */
export interface ServerEntryLocation {
  path: string
  format: 'json' | 'toml'
  /** Key of the server table, and the server's name in it. */
  key: string
  name: string
}

type SettingsObject = Readonly<Record<string, unknown>>

/** The text with the entry; `undefined` if it exists already. @throws CliError if the file cannot be edited */
export async function addEntry(
  fileText: string,
  entry: ServerEntryLocation,
  value: SettingsObject,
): Promise<string | undefined> {
  const [bom, text] = splitBom(fileText)
  const original = await parseSettings(text, entry)
  if (isDeepStrictEqual(getServer(original, entry), value)) return undefined
  const edited = entry.format === 'json' ? await editJson(text, entry, value) : await editToml(text, entry, value)
  return bom + (await verifyEdit(edited, entry, { original, value }))
}

/** The text without the entry; `undefined` if it does not exist. @throws CliError if the file cannot be edited */
export async function removeEntry(fileText: string, entry: ServerEntryLocation): Promise<string | undefined> {
  const [bom, text] = splitBom(fileText)
  const original = await parseSettings(text, entry)
  if (getServer(original, entry) === undefined) return undefined
  const edited = entry.format === 'json' ? await editJson(text, entry, undefined) : removeTomlTables(text, entry)
  return bom + (await verifyEdit(edited, entry, { original, value: undefined }))
}

/** The entry's value in the file. @throws CliError if the file cannot be read */
export async function findEntry(fileText: string, entry: ServerEntryLocation): Promise<SettingsObject | undefined> {
  const value = getServer(await parseSettings(splitBom(fileText)[1], entry), entry)
  return isRecord(value) ? value : undefined
}

/** Splits the byte order mark, which some editors on Windows write, from the text. */
function splitBom(fileText: string): [mark: string, text: string] {
  return fileText.startsWith('\uFEFF') ? ['\uFEFF', fileText.slice(1)] : ['', fileText]
}

function getServer(settings: SettingsObject, { key, name }: ServerEntryLocation): unknown {
  const servers = settings[key]
  return isRecord(servers) ? servers[name] : undefined
}

async function editJson(
  text: string,
  { key, name }: ServerEntryLocation,
  value: SettingsObject | undefined,
): Promise<string> {
  const { modify, applyEdits } = await import('jsonc-parser')
  const indent = /^([ \t]+)\S/m.exec(text)?.[1] ?? '  '
  const formattingOptions = {
    insertSpaces: !indent.startsWith('\t'),
    tabSize: indent.startsWith('\t') ? 1 : indent.length,
    eol: text.includes('\r\n') ? '\r\n' : '\n',
  }
  const json = text.trim() === '' ? '{}\n' : text
  return applyEdits(json, modify(json, [key, name], value, { formattingOptions }))
}

/** Appends the entry as a separate table; the text before it is unchanged. */
async function editToml(text: string, entry: ServerEntryLocation, value: SettingsObject): Promise<string> {
  const { stringify } = await import('smol-toml')
  const others = removeTomlTables(text, entry)
  const gap = others.trim() === '' ? '' : `${others.replace(/\s*$/, '')}\n\n`
  return gap + stringify({ [entry.key]: { [entry.name]: value } })
}

/** Removes the tables of the entry, each from its header to the next header. */
function removeTomlTables(text: string, { key, name }: ServerEntryLocation): string {
  const headers = [name, `"${name}"`, `'${name}'`].flatMap((spelling) => [
    `[${key}.${spelling}]`,
    `[${key}.${spelling}.`,
  ])
  const lines = text.split(/(?<=\n)/)
  let isEntry = false
  const others = lines.filter((line) => {
    const header = line.trim()
    if (header.startsWith('[')) isEntry = headers.some((prefix) => header.replace(/\s/g, '').startsWith(prefix))
    return !isEntry
  })
  return others.join('')
}

/** Verifies an edited text by parsing it: the entry has the new value and everything else is unchanged. */
async function verifyEdit(
  text: string,
  entry: ServerEntryLocation,
  { original, value }: { original: SettingsObject; value: SettingsObject | undefined },
): Promise<string> {
  const edited = await parseSettings(text, entry)
  const omitEntry = (settings: SettingsObject) => {
    const { [entry.key]: servers, ...others } = settings
    const { [entry.name]: _, ...otherServers } = isRecord(servers) ? servers : {}
    return { ...others, [entry.key]: otherServers }
  }
  if (isDeepStrictEqual(getServer(edited, entry), value) && isDeepStrictEqual(omitEntry(edited), omitEntry(original)))
    return text
  throw toEditError(entry, `has ${entry.key}.${entry.name} written in a way that cannot be edited`)
}

async function parseSettings(text: string, entry: ServerEntryLocation): Promise<SettingsObject> {
  if (text.trim() === '') return {}
  const parsed = entry.format === 'json' ? await parseJson(text, entry) : await parseToml(text, entry)
  // Objects of the TOML parser are not plain objects.
  const value: unknown = JSON.parse(JSON.stringify(parsed))
  if (!isRecord(value)) throw toEditError(entry, 'does not contain a table of settings')
  const servers = value[entry.key]
  if (servers !== undefined && !isRecord(servers))
    throw toEditError(entry, `has a value other than a table at ${entry.key}`)
  return value
}

async function parseJson(text: string, entry: ServerEntryLocation): Promise<unknown> {
  const { parse, printParseErrorCode } = await import('jsonc-parser')
  const errors: ParseError[] = []
  const value: unknown = parse(text, errors, { allowTrailingComma: true })
  const [first] = errors
  if (first === undefined) return value
  throw toEditError(entry, `is not valid JSON: ${printParseErrorCode(first.error)} at ${first.offset}`)
}

async function parseToml(text: string, entry: ServerEntryLocation): Promise<unknown> {
  const { parse } = await import('smol-toml')
  try {
    return parse(text)
  } catch (error) {
    throw toEditError(
      entry,
      `is not valid TOML: ${error instanceof Error ? error.message.split('\n')[0] : String(error)}`,
    )
  }
}

function toEditError({ path }: ServerEntryLocation, problem: string): CliError {
  const hint = 'nothing was written: fix the file, or add the output of `--dry-run` by hand'
  return new CliError(`${path} ${problem}`, { code: 'invalid-request', exit: EXIT.usage, hint })
}
