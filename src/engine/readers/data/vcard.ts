import { omitUndefined } from '../../../lib/omit-undefined.js'
import { ReadError } from '../limits.js'
import type { Block, ParsedDocument, Parser, ParserInput } from '../parsed.js'
import {
  type ContentLine,
  hasWords,
  readContentLines,
  splitValue,
  toFieldWarnings,
  unescapeValue,
} from './content-lines.js'

const FIELD_LABELS = new Map([
  ['ORG', 'Organisation'],
  ['TITLE', 'Title'],
  ['ROLE', 'Role'],
  ['TEL', 'Phone'],
  ['EMAIL', 'E-mail'],
  ['ADR', 'Address'],
  ['LABEL', 'Address'],
  ['BDAY', 'Birthday'],
  ['ANNIVERSARY', 'Anniversary'],
  ['URL', 'URL'],
  ['IMPP', 'Chat'],
  ['NICKNAME', 'Nickname'],
  ['CATEGORIES', 'Categories'],
  ['LANG', 'Language'],
  ['TZ', 'Time zone'],
  ['GEO', 'Place'],
  ['RELATED', 'Related'],
  ['GENDER', 'Gender'],
  ['MEMBER', 'Member'],
  ['HOBBY', 'Hobby'],
  ['INTEREST', 'Interest'],
  ['EXPERTISE', 'Expertise'],
  ['BIRTHPLACE', 'Place of birth'],
  ['DEATHPLACE', 'Place of death'],
])
/** Kinds that distinguish numbers or addresses of a card. */
const DISTINCTIVE_KINDS = new Set(['work', 'home', 'cell', 'mobile', 'fax', 'main', 'pager'])
const MAX_CARDS = 100_000
/** Fields that describe the card, not the person, and pictures, sounds and keys. */
const TECHNICAL_FIELDS = new Set(
  'BEGIN END VERSION PRODID UID REV CLASS KIND SOURCE PROFILE MAILER SORT-STRING CLIENTPIDMAP XML PHOTO LOGO SOUND KEY CALURI CALADRURI FBURL N FN NOTE'.split(
    ' ',
  ),
)

/** Reads cards of people (vCard 2.1 to 4.0): each is a section with its fields. Photos, sounds and keys are omitted. */
export const vcardParser: Parser = {
  parse: parseCards,
}

interface ContactCard {
  name: string
  parts: string
  fields: string[]
  note: string
}

function parseCards(input: ParserInput): ParsedDocument {
  const { blocks, entryCount, warnings } = readCards(input.bytes)
  if (entryCount === 0) throw new ReadError('empty', `${input.filename} has no cards`)
  return {
    parser: 'native-structured',
    contentType: 'structured',
    blocks,
    metadata: { entryCount, ...omitUndefined({ warnings }) },
  }
}

/** Reads cards. @param charset declared by the mail that they are a part of */
export function readCards(
  bytes: Buffer,
  charset?: string,
): { blocks: Block[]; entryCount: number; warnings?: string[] } {
  const unread = new Set<string>()
  const cards: ContactCard[] = []
  let card: ContactCard | undefined
  for (const line of readContentLines(bytes, charset)) {
    if (line.name === 'BEGIN' && /^vcard$/i.test(line.value.trim()))
      card = { name: '', parts: '', fields: [], note: '' }
    else if (line.name === 'END' && card !== undefined) {
      if (cards.length < MAX_CARDS) cards.push(card)
      card = undefined
    } else if (card !== undefined && !addLine(card, line) && hasWords(line)) unread.add(line.name)
  }
  return { blocks: cards.flatMap(toCardBlocks), entryCount: cards.length, ...toFieldWarnings(unread) }
}

/** Adds a field to a card. @returns whether the field is known */
function addLine(card: ContactCard, line: ContentLine): boolean {
  const { name, value, parameters } = line
  if (name === 'FN') card.name = unescapeValue(value).replace(/\s+/g, ' ')
  else if (name === 'N') {
    const [family = '', given = '', middle = '', before = ''] = value.split(/(?<!\\);/).map(unescapeValue)
    card.parts = [before, given, middle, family].filter((part) => part !== '').join(' ')
  } else if (name === 'NOTE') card.note = unescapeValue(value)
  const label = FIELD_LABELS.get(name)
  if (label === undefined) return TECHNICAL_FIELDS.has(name)
  if (/^b(?:ase64)?$/i.test(parameters.get('ENCODING') ?? '')) return true
  const text = splitValue(value)
    .join(', ')
    .replace(/\s*\n\s*/g, ', ')
    .replace(/^(?:tel|mailto):/i, '')
  const kind = (parameters.get('TYPE') ?? '')
    .toLowerCase()
    .split(',')
    .filter((type) => DISTINCTIVE_KINDS.has(type))
  if (text !== '') card.fields.push(`${label}${kind.length > 0 ? ` (${kind.join(', ')})` : ''}: ${text}`)
  return true
}

function toCardBlocks({ name, parts, fields, note }: ContactCard): Block[] {
  const displayName = name === '' ? parts : name
  const blocks: Block[] = [
    { type: 'heading', text: displayName === '' ? 'Card without a name' : displayName, level: 1, tocSource: 'entry' },
  ]
  const names = parts !== '' && parts !== displayName ? [`Name: ${parts}`] : []
  const rows = [...names, ...new Set(fields)]
  if (rows.length > 0) blocks.push({ type: 'list', text: rows.join('\n') })
  if (note !== '') blocks.push({ type: 'paragraph', text: note })
  return blocks
}
