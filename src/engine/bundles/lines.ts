import { KsError } from '../../contract/errors.js'
import { hasMoreValuesThan, nestsDeeperThan } from '../../lib/json/depth.js'
import { TABLE_FORMATS } from '../storage/format-tables.js'
import type { BundleChecks } from './checks.js'
import { invalid } from './format.js'
import { BUNDLE_LIMITS } from './limits.js'
import { type BundleTable, isLine, type Line, wrongLine } from './rows.js'

const LINE_FEED = 0x0a
const decoder = new TextDecoder('utf-8', { fatal: true })

/** Parses and checks the lines of a file of a bundle. @throws KsError `invalid-bundle` */
export function readLines(table: BundleTable, file: Buffer, checks: BundleChecks): Line[] {
  if (file.at(-1) !== LINE_FEED) throw invalid(`has a file of ${table} that does not end with a line`)
  const lines: Line[] = []
  for (let from = 0; from < file.length; ) {
    const end = file.indexOf(LINE_FEED, from)
    if (end - from > BUNDLE_LIMITS.lineBytes)
      throw invalid(`has a line of ${table} of more than ${BUNDLE_LIMITS.lineBytes} bytes`)
    const line = parse(table, file.subarray(from, end))
    const wrong = wrongLine(table, line) ?? (isLine(line) ? wrongCells(table, line, checks) : undefined)
    if (wrong !== undefined || !isLine(line)) throw invalid(`has a row of ${table} that ${wrong ?? 'is none'}`)
    lines.push(line)
    from = end + 1
  }
  return lines
}

function parse(table: BundleTable, bytes: Buffer): unknown {
  try {
    return parseBounded(`line of ${table}`, decoder.decode(bytes))
  } catch (cause) {
    throw cause instanceof KsError ? cause : invalid(`has a line of ${table} that is not JSON`, cause)
  }
}

/** @throws KsError `invalid-bundle` for more values or levels than the limits, SyntaxError where it is not JSON */
export function parseBounded(what: string, json: string): unknown {
  const { depth, values } = BUNDLE_LIMITS
  if (nestsDeeperThan(json, depth)) throw invalid(`has a ${what} that is nested deeper than ${depth} levels`)
  if (hasMoreValuesThan(json, values)) throw invalid(`has a ${what} that has more than ${values} values`)
  return JSON.parse(json)
}

function wrongCells(table: BundleTable, line: Line, checks: BundleChecks): string | undefined {
  for (const column of Object.keys(line)) {
    const cell = `${table}.${column}`
    const value = line[column]
    if (!checks.cells.has(cell) || value === undefined) continue
    const kind = TABLE_FORMATS[table]?.columns[column]?.kind
    const isJson = typeof kind === 'string' && kind.startsWith('json')
    const wrong = checks.cell(cell, isJson ? JSON.parse(String(value)) : value)
    if (wrong !== undefined) return `has a ${column} that ${wrong}`
  }
  return undefined
}
