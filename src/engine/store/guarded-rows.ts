import { TABLE_FORMATS } from './format-tables.js'
import { type Damage, damagedRowError, findFormatProblem, hasFormat, type Kind } from './formats.js'

interface GuardedColumn {
  /** name in the row of the result */
  name: string
  table: string
  column: string
  kind: Kind
  /** columns of the result that identify its row, best first */
  names: string[]
}

/** A column of a result and the table column behind it. */
export interface ResultColumn {
  name: string
  table: string | null
  column: string | null
}

/** Checks the rows of one statement. */
export type RowGuard = (row: unknown) => void

const damagedRows = new WeakSet<object>()

/** Whether a row of the database has a cell that throws when it is read. */
export function isDamaged(row: object): boolean {
  return damagedRows.has(row)
}

/** Columns that identify a row, best first. */
const ROW_NAME_COLUMNS = ['id', 'key']

/**
 * Makes a guard for the rows of a statement; none where no column has a format. A cell without the format of its column
 * throws `data-damaged` when it is read; the other cells of the row can be used.
 *
 * @param onDamage called for each damaged cell
 */
export function createRowGuard(
  columns: readonly ResultColumn[],
  onDamage: (damage: Damage) => void,
): RowGuard | undefined {
  const guarded = columns.flatMap(({ name, table, column }): GuardedColumn[] => {
    const format = table === null || column === null ? undefined : TABLE_FORMATS[table]?.columns[column]
    if (table === null || column === null || format === undefined || !isGuarded(format.kind)) return []
    const names = ROW_NAME_COLUMNS.flatMap((id) =>
      columns.filter((other) => other.table === table && other.column === id),
    )
    return [{ name, table, column, kind: format.kind, names: names.map((other) => other.name) }]
  })
  if (guarded.length === 0) return undefined
  return (row) => {
    // `get` found no row
    if (!isRow(row)) return
    for (const { name, table, column, kind, names } of guarded) {
      const value = row[name]
      // an outer join gives NULL for every column
      if (value === null) continue
      const what = findFormatProblem(kind, value)
      if (what === undefined) continue
      const damage = { table, column, row: getRowName(row, names), what }
      damagedRows.add(row)
      onDamage(damage)
      Object.defineProperty(row, name, {
        configurable: true,
        enumerable: true,
        get: () => {
          throw damagedRowError(damage)
        },
      })
    }
  }
}

/** The object store itself rejects and reports invalid keys. */
function isGuarded(kind: Kind): boolean {
  return kind !== 'object-key' && hasFormat(kind)
}

function isRow(row: unknown): row is Record<string, unknown> {
  return typeof row === 'object' && row !== null
}

function getRowName(row: Record<string, unknown>, names: readonly string[]): string {
  for (const name of names) {
    const value = Object.getOwnPropertyDescriptor(row, name)?.value
    if (typeof value === 'string' || typeof value === 'number') return String(value)
  }
  return '?'
}
