import { forEachTerm } from '../../lib/text/analyze.js'
import { splitSentences } from '../../lib/text/sentences.js'
import { isNumeric } from '../parse/tables/figures.js'
import { looksLikeHeader } from '../parse/tables.js'
import { entriesAsked, segmentsOf, toldList } from './extractive/lists.js'

/** What can be quoted of a passage: a sentence, a row of a table told as `column: value` pairs, a list or its entry. */
export interface Piece {
  text: string
  /** of a table or a list: its neighbours do not speak of it */
  isRow: boolean
  /** a whole list */
  isList?: true
}

/** Share of a block's lines that have several cells, for it to be a table. */
const TABLE_SHARE = 0.6
/** Cells of a wide row that are told; those that the question asks about go before the others. */
const MOST_CELLS = 8
/** A cell that is longer is text of its own. */
const CELL_CHARACTERS = 300
const BAR = /(?<=^|\s)\|(?=\s|$)/
const RULE = /^[\s|:+=-]+$/

/**
 * @param asked terms of the question
 * @param wantsList whether it asks for several things, so that lists are told whole; else their entries are pieces, each
 *   with the line before the list, as far as they hold more of the question than that line
 */
export function piecesOf(text: string, asked: ReadonlySet<string>, wantsList = false): Piece[] {
  return segmentsOf(text).flatMap((segment): Piece[] => {
    if (typeof segment === 'string') return segment.split(/\n[ \t]*\n/).flatMap((block) => blockPieces(block, asked))
    const entries = wantsList ? [] : entriesAsked(segment, (entry) => countAsked(entry, asked))
    if (entries.length === 0) return [{ text: toldList(segment), isRow: true, isList: true }]
    return entries.map((entry) => ({ text: entry, isRow: true }))
  })
}

function blockPieces(block: string, asked: ReadonlySet<string>): Piece[] {
  const rows = tableIn(block)
  if (rows !== undefined) return rowsOf(rows, asked).map((told) => ({ text: told, isRow: true }))
  return splitSentences(block).map(({ start, end }) => ({
    text: block.slice(start, end).replace(/\s+/g, ' '),
    isRow: false,
  }))
}

function countAsked(text: string, asked: ReadonlySet<string>): number {
  const held = new Set<string>()
  forEachTerm(text, (term) => {
    if (asked.has(term)) held.add(term)
  })
  return held.size
}

/** Cells of a block of lines that is a table, as parsers write tables and as people do in plain text. */
function tableIn(block: string): string[][] | undefined {
  const lines = block.split('\n').filter((line) => line.trim() !== '' && !RULE.test(line))
  const rows = lines.map(cellsOf)
  const wide = rows.filter((cells) => cells.length > 1)
  if (rows.length < 2 || wide.length < TABLE_SHARE * rows.length || (rows[0]?.length ?? 0) < 2) return undefined
  return rows
}

function cellsOf(line: string): string[] {
  const trimmed = line.trim()
  const isFramed = trimmed.startsWith('|') && trimmed.endsWith('|') && trimmed.length > 1
  return (isFramed ? trimmed.slice(1, -1) : line).split(BAR).map((cell) => cell.trim())
}

function rowsOf(rows: string[][], asked: ReadonlySet<string>): string[] {
  const [first = [], ...rest] = rows
  const names = namesColumns(rows) ? first : undefined
  const told = (names === undefined ? rows : rest).map((cells) => rowText(cells, names, asked))
  return told.filter((text) => text !== '')
}

/** Whether the first row names the columns, of which some may be years. */
function namesColumns(rows: string[][]): boolean {
  const [first = [], ...rest] = rows
  const isYear = (cell: string): boolean => /^(?:1[5-9]|20)\d\d$/.test(cell)
  if (looksLikeHeader([first.map((cell) => (isYear(cell) ? 'year' : cell)), ...rest])) {
    // rows of nothing but years and words name columns only where figures stand below
    return !first.some(isYear) || rest.some((cells) => cells.some((cell) => isNumeric(cell) && !isYear(cell)))
  }
  return false
}

function rowText(cells: readonly string[], names: readonly string[] | undefined, asked: ReadonlySet<string>): string {
  const filled = cells.flatMap((cell, column) => {
    const name = names?.[column] ?? ''
    return cell === '' ? [] : [{ column, name, text: name === '' ? short(cell) : `${name}: ${short(cell)}` }]
  })
  const told = filled.length > MOST_CELLS ? mostAsked(filled, asked) : filled
  const [head, ...others] = told.map(({ text }) => text)
  if (head === undefined) return ''
  if (names !== undefined || others.length === 0) return told.map(({ text }) => text).join('; ')
  return `${head}: ${others.join('; ')}`
}

/** The first cell, which says what the row is about, and those that the question speaks of. */
function mostAsked<T extends { text: string }>(filled: readonly T[], asked: ReadonlySet<string>): T[] {
  const isAsked = ({ text }: T): boolean => countAsked(text, asked) > 0
  const [head, ...others] = filled
  const first = others.filter(isAsked)
  const chosen = new Set([...first, ...others.filter((cell) => !first.includes(cell))].slice(0, MOST_CELLS - 1))
  return filled.filter((cell) => cell === head || chosen.has(cell))
}

function short(cell: string): string {
  return cell.length <= CELL_CHARACTERS ? cell : `${cell.slice(0, CELL_CHARACTERS).trimEnd()}…`
}
