import { KsError } from '../../../contract/errors.js'
import { hasMoreValuesThan, nestsDeeperThan } from '../../../lib/json/depth.js'
import { TABLE_FORMATS } from '../../store/format-tables.js'
import type { BundleChecks } from './checks.js'
import { invalidBundle } from './format.js'
import { BUNDLE_LIMITS } from './limits.js'
import { type BundleLine, type BundleTable, findLineProblem, isLine } from './rows.js'

const LINE_FEED = 0x0a
const decoder = new TextDecoder('utf-8', { fatal: true })

/** Parses and checks the lines of a file of a bundle. @throws KsError `invalid-bundle` */
export function readLines(table: BundleTable, file: Buffer, checks: BundleChecks): BundleLine[] {
  if (file.at(-1) !== LINE_FEED) throw invalidBundle(`has a file of ${table} that does not end with a line`)
  const lines: BundleLine[] = []
  for (let start = 0; start < file.length; ) {
    const end = file.indexOf(LINE_FEED, start)
    if (end - start > BUNDLE_LIMITS.lineBytes)
      throw invalidBundle(`has a line of ${table} of more than ${BUNDLE_LIMITS.lineBytes} bytes`)
    const line = parseLine(table, file.subarray(start, end))
    const problem = findLineProblem(table, line) ?? (isLine(line) ? findCellProblem(table, line, checks) : undefined)
    if (problem !== undefined || !isLine(line))
      throw invalidBundle(`has a row of ${table} that ${problem ?? 'is none'}`)
    lines.push(line)
    start = end + 1
  }
  return lines
}

function parseLine(table: BundleTable, bytes: Buffer): unknown {
  try {
    return parseBounded(`line of ${table}`, decoder.decode(bytes))
  } catch (cause) {
    throw cause instanceof KsError ? cause : invalidBundle(`has a line of ${table} that is not JSON`, cause)
  }
}

/** @throws KsError `invalid-bundle` for more values or levels than the limits, SyntaxError where it is not JSON */
export function parseBounded(what: string, json: string): unknown {
  const { depth, values } = BUNDLE_LIMITS
  if (nestsDeeperThan(json, depth)) throw invalidBundle(`has a ${what} that is nested deeper than ${depth} levels`)
  if (hasMoreValuesThan(json, values)) throw invalidBundle(`has a ${what} that has more than ${values} values`)
  return JSON.parse(json)
}

function findCellProblem(table: BundleTable, line: BundleLine, checks: BundleChecks): string | undefined {
  for (const column of Object.keys(line)) {
    const cell = `${table}.${column}`
    const value = line[column]
    if (!checks.cells.has(cell) || value === undefined) continue
    const kind = TABLE_FORMATS[table]?.columns[column]?.kind
    const isJson = typeof kind === 'string' && kind.startsWith('json')
    const problem = checks.cell(cell, isJson ? JSON.parse(String(value)) : value)
    if (problem !== undefined) return `has a ${column} that ${problem}`
  }
  return undefined
}
